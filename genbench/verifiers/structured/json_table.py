"""Verifies tables given as JSON, the answers of ZebraLogic: every cell of the last object must be right."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.extraction.protocol import is_retracted, prepared

_BRACES = re.compile(r"[{}]")
_BEGINNING = re.compile(r"\{\s*+[\"}]")
_DEEPEST = 8
"""Levels of braces around an object that are not JSON themselves, as in a set of LaTeX around it."""


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


_AFTER = 3_000
"""Characters after the object that may take it back."""
_KEY = "solution"
_VOTE_CHARS = 4_000
_CELL_CHARS = 1_000
_SEPARATORS = re.compile(r"[\s_\-]+")

Cells = Mapping[tuple[str, str], str]
"""Values by row and column, in one spelling."""


class TableVerifier(BaseVerifier):
    """Tells whether the table in the last JSON object of an answer is the reference's.

    A reference is ``{row: {column: value}}``. The object must have the rows under the key "solution" or be
    the table itself. Names and values are compared without case, and with blanks, underscores and hyphens
    alike. Columns that the reference lacks do not count. The score is 1 if every cell is right. The part
    `cells` is the share of right cells. An answer without a complete JSON object, or whose object has none of
    the rows, is a `format_error`.
    """

    name = "table"
    rules = "2"

    def read(self, reference: Any) -> Cells:
        """Return the cells of a reference.

        Raises:
            DataError: it is not an object of rows with values, or two names are one after normalisation.
        """
        want = "want {row: {column: value}} with a text or a number in every cell"
        if not isinstance(reference, dict) or not reference:
            raise DataError(f"table reference {str(reference)[:200]}: {want}")
        cells = _cells(reference)
        if any(not isinstance(row, dict) or not row for row in reference.values()) or len(cells) != sum(
            len(row) for row in reference.values()
        ):
            raise DataError(f"table reference {str(reference)[:200]}: {want}, and no name twice")
        return cells

    def verify(self, case: Case) -> Finding:
        """Return 1 if every cell of the reference is right, else 0."""
        wanted = self.read(case.reference)
        text = prepared(case.answer.text)
        if not text.strip():
            return Finding(0.0, "no_answer", parts={"cells": 0.0})
        found = last_json_object(text)
        if found is None:
            return _format_error("no complete JSON object")
        given = _cells(found.value.get(_KEY, found.value))
        if not {row for row, _ in wanted} & {row for row, _ in given}:
            return _format_error("the last JSON object has none of the rows")
        vote = "; ".join(
            f"{row} {column}={given[row, column]}" for row, column in sorted(given) if (row, column) in wanted
        )
        right = sum(given.get(cell) == value for cell, value in wanted.items())
        if is_retracted(text[found.end : found.end + _AFTER]):
            return Finding(0.0, "no_answer", detail={"withheld": "retracted"}, parts={"cells": 0.0})
        return Finding(
            float(right == len(wanted)),
            extracted=vote[:_VOTE_CHARS],
            detail={"right": right, "cells": len(wanted)},
            parts={"cells": right / len(wanted)},
        )


def _format_error(why: str) -> Finding:
    return Finding(0.0, "format_error", detail={"why": why}, parts={"cells": 0.0})


def _cells(table: Any) -> dict[tuple[str, str], str]:
    """Return the cells of a table. What is not a row or not a single value is left out."""
    rows = table.items() if isinstance(table, dict) else ()
    return {
        (_spelling(str(row)), _spelling(str(column))): _spelling(str(value)[:_CELL_CHARS])
        for row, values in rows
        if isinstance(values, dict)
        for column, value in values.items()
        if isinstance(value, str | int | float) and not isinstance(value, bool)
    }


def _spelling(text: str) -> str:
    return _SEPARATORS.sub(" ", text).strip().casefold()
