"""YAML as plain values, with the line of every key and item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from genbench.errors import ConfigError

Loc = tuple[str | int, ...]
"""The place of a value: the keys and indices that lead to it."""


def read_yaml(path: Path) -> tuple[dict[str, Any], dict[Loc, int | str]]:
    """Read a file. Return its values, and the line of each key and item by its place.

    Raises:
        ConfigError: the file cannot be read, is not YAML, or is no mapping. Names the line.
    """
    from ruamel.yaml import YAML  # noqa: PLC0415  0.15 s that `--help` need not pay
    from ruamel.yaml.error import MarkedYAMLError  # noqa: PLC0415

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    try:
        tree = YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}:{line}: not valid YAML: {error.problem}") from error
    if not isinstance(tree, dict):
        raise ConfigError(f"{path}: a suite is a mapping with 'models' and 'tasks'; see `genbench init`")
    lines: dict[Loc, int | str] = {}
    return _plain(tree, (), lines), lines


def _plain(node: Any, loc: Loc, lines: dict[Loc, int | str]) -> Any:
    """Return the node as plain dicts, lists and scalars. Record the line of every key and item in `lines`."""
    marks: Any = getattr(node, "lc", None)
    if isinstance(node, dict):
        for key in node:
            lines[(*loc, key)] = marks.key(key)[0] + 1
        return {key: _plain(value, (*loc, key), lines) for key, value in node.items()}
    if isinstance(node, list):
        for index in range(len(node)):
            lines[(*loc, index)] = marks.item(index)[0] + 1
        return [_plain(value, (*loc, index), lines) for index, value in enumerate(node)]
    if isinstance(node, bool | int | float) or node is None:
        return _scalar(node)
    return str(node)


def _scalar(node: Any) -> Any:
    for kind in (bool, int, float):
        if isinstance(node, kind):
            return kind(node)
    return None
