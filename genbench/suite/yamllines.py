"""The YAML of a suite: a mapping, with the line of every key and item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from genbench.errors import ConfigError
from genbench.suite.yamlfile import Loc, read_yaml_file

__all__ = ["Loc", "read_yaml"]


def read_yaml(path: Path) -> tuple[dict[str, Any], dict[Loc, int | str]]:
    """Read a file. Return its values, and the line of each key and item by its place.

    Raises:
        ConfigError: the file cannot be read, is not YAML, is too large, or is no mapping. Names the line.
    """
    tree, lines = read_yaml_file(path)
    if not isinstance(tree, dict):
        raise ConfigError(f"{path}: a suite is a mapping with 'models' and 'tasks'; see `genbench init`")
    return tree, lines
