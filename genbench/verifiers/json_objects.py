"""Finds the last complete JSON object of a text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_BRACES = re.compile(r"[{}]")
_BEGINNING = re.compile(r"\{\s*+[\"}]")
_DEEPEST = 8
"""Levels of braces around an object that are no JSON themselves, as in a set of LaTeX around it."""


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A JSON object and where it ends in the text."""

    value: dict[str, Any]
    end: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """A pair of braces and the pairs directly inside it."""

    start: int
    end: int
    inner: list[_Pair]


def last_json_object(text: str) -> FoundObject | None:
    """Return the last complete JSON object of a text, or None. Objects inside it are part of it.

    Takes linear time: braces are paired once, and a pair is decoded only if no pair around it is an object. A
    brace inside a JSON string that has no partner hides the object.
    """
    return _last_of(text, _pairs(text), _DEEPEST)


def _last_of(text: str, pairs: list[_Pair], levels: int) -> FoundObject | None:
    for pair in reversed(pairs):
        try:
            # Decoding what cannot be an object costs an exception each time.
            value = json.loads(text[pair.start : pair.end]) if _BEGINNING.match(text, pair.start) else None
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return FoundObject(value, pair.end)
        if levels and (found := _last_of(text, pair.inner, levels - 1)) is not None:
            return found
    return None


def _pairs(text: str) -> list[_Pair]:
    """Return the outermost pairs of braces, in order. A brace that is never closed encloses nothing."""
    opened: list[tuple[int, list[_Pair]]] = [(0, [])]
    for match in _BRACES.finditer(text):
        if match[0] == "{":
            opened.append((match.start(), []))
        elif len(opened) > 1:
            start, inner = opened.pop()
            opened[-1][1].append(_Pair(start, match.end(), inner))
    return [pair for _, pairs in opened for pair in pairs]
