"""Mistakes in a suite as messages: the file and line, the key, what was found and what is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from genbench.errors import nearest
from genbench.suite.config import SuiteConfig
from genbench.suite.engine import DEFAULT_KIND, KIND_ERROR, EngineConfig, config_class
from genbench.suite.yamllines import Loc


def is_within(loc: Loc, outer: Loc) -> bool:
    """Tell whether one error is inside another. An item that is wrong also makes its list too short."""
    return len(loc) > len(outer) and loc[: len(outer)] == outer


def message(
    item: Mapping[str, Any], raw: Mapping[str, Any], path: Path, lines: Mapping[Loc, int | str]
) -> str:
    """Return one validation error as `file:line: key: what is wrong, found VALUE`.

    Args:
        item: the error, as pydantic reports it.
        raw: the content of the suite.
        lines: the line of each key, or the option that set it.
    """
    loc: Loc = tuple(part for part in item["loc"] if not (isinstance(part, str) and part in _UNION_PARTS))
    key = ".".join(str(part) for part in loc)
    where = place(path, loc, lines)
    if item["type"] == "extra_forbidden":
        return f"{where}: unknown key '{key}'{nearest(str(loc[-1]), _keys_at(loc[:-1], raw))}"
    if item["type"] == "missing":
        return f"{where}: '{key}' is missing"
    message = re.sub(r"^(Value|Assertion) error, ", "", item["msg"])
    told = item["type"] == KIND_ERROR or isinstance(item["input"], dict | list | BaseModel)
    found = "" if told else f", found {item['input']!r}"
    return f"{where}: {key}: {message[0].lower() + message[1:]}{found}"


_UNION_PARTS = frozenset({"str", "TraceTags", "constrained-str"})
"""Parts of an error's place that name a type instead of a key."""


def place(path: Path, loc: Loc, lines: Mapping[Loc, int | str]) -> str:
    """Return `file:line` of the nearest written ancestor of `loc`, or the option that set it."""
    for end in range(len(loc), 0, -1):
        found = lines.get(loc[:end])
        if found is not None:
            return found if isinstance(found, str) else f"{path}:{found}"
    return f"{path}:1"


def _keys_at(loc: Loc, raw: Any) -> Iterable[str]:
    """Return the valid keys of the block at `loc`, found by walking the configuration's types."""
    kind: type[BaseModel] = SuiteConfig
    for part in loc:
        raw = _below(raw, part)
        if isinstance(part, int) or part not in kind.model_fields:
            continue
        kind = _model_in(kind.model_fields[part].annotation)
        if kind is EngineConfig:
            kind = config_class(str(raw.get("kind", DEFAULT_KIND)) if isinstance(raw, dict) else DEFAULT_KIND)
    return tuple(kind.model_fields)


def _below(node: Any, part: str | int) -> Any:
    if isinstance(node, dict):
        return node.get(part)
    return node[part] if isinstance(node, list) and isinstance(part, int) else None


def _model_in(annotation: Any) -> type[BaseModel]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in get_args(annotation):
        found = _model_in(inner)
        if found is not SuiteConfig:
            return found
    return SuiteConfig
