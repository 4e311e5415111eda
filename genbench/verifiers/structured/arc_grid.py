"""Verifies grids of whole numbers, the answers of ARC-AGI: every cell must be right.

The last grid of the text counts, written as JSON or as lines of digits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.extraction.protocol import is_denied, is_retracted, prepared

Grid = tuple[tuple[int, ...], ...]
"""Rows of cells. Rows may differ in length: then it is not a rectangle and equals none."""

_ROW = r"\[\s*+\d{1,3}+(?:\s*+,\s*+\d{1,3}+)*+\s*+,?+\s*+\]"
_JSON_GRID = re.compile(rf"\[\s*+{_ROW}(?:\s*+,\s*+{_ROW})*+\s*+,?+\s*+\]")
"""A list of lists of numbers. Every repetition is possessive, so that no text takes more than linear time."""
# "1 2 3", "| 1 | 2 |", "123".
_TEXT_ROW = re.compile(r"[ \t|]*+(\d++(?:[ \t,|]++\d{1,3}+)*+)[ \t,|]*+")
_SEPARATED = re.compile(r"[ \t,|]")
_FEWEST_LINES = 2
"""A single line of digits is a number, not a grid."""


@dataclass(frozen=True, slots=True)
class FoundGrid:
    """A grid and where it is in the text."""

    cells: Grid
    start: int
    end: int


def last_grid(text: str) -> FoundGrid | None:
    """Return the last grid of a text, or None.

    A grid is a JSON list of lists of whole numbers, or at least two lines in a row of digits, which blanks,
    commas or bars may separate. Without separators every digit is a cell.
    """
    found = [grid for grid in (_last_json(text), _last_lines(text)) if grid is not None]
    return max(found, key=lambda grid: grid.end, default=None)


def _last_json(text: str) -> FoundGrid | None:
    last: re.Match[str] | None = None
    for match in _JSON_GRID.finditer(text):
        last = match
    if last is None:
        return None
    rows = re.findall(r"\[([^\[\]]*)\]", last[0])
    return FoundGrid(
        tuple(tuple(map(int, re.findall(r"\d+", row))) for row in rows), last.start(), last.end()
    )


def _last_lines(text: str) -> FoundGrid | None:
    """Return the last stretch of lines of digits."""
    rows: list[tuple[int, ...]] = []
    start, end, at = 0, 0, len(text)
    for line in reversed(text.split("\n")):
        cells = _cells(line)
        if cells is not None:
            end = end if rows else at
            start = at - len(line)
            rows.append(cells)
        elif len(rows) >= _FEWEST_LINES:
            break
        else:
            rows = []
        at -= len(line) + 1
    return FoundGrid(tuple(reversed(rows)), start, end) if len(rows) >= _FEWEST_LINES else None


def _cells(line: str) -> tuple[int, ...] | None:
    """Return the cells of a line that has nothing but digits and separators, or None."""
    match = _TEXT_ROW.fullmatch(line.rstrip("\r"))
    if match is None:
        return None
    row = match[1]
    tokens = re.findall(r"\d+", row) if _SEPARATED.search(row) else list(row)
    return tuple(map(int, tokens))


_AFTER = 3_000
"""Characters after a grid that may take it back."""
_BEFORE = 100
"""Characters before a grid that may deny it."""
_VOTE_CHARS = 4_000


class GridVerifier(BaseVerifier):
    """Tells whether the last grid of an answer is the reference's.

    A reference is a list of rows of whole numbers. The score is 1 if shape and all cells are equal. The part
    `cells` is the share of right cells, which is 0 if the shape is another one. An answer without a grid is a
    `format_error`.
    """

    name = "grid"
    rules = "4"

    def read(self, reference: Any) -> Grid:
        """Return the grid of a reference.

        Raises:
            DataError: it is not a rectangle of whole numbers from 0 on.
        """
        rows = reference if isinstance(reference, list | tuple) else ()
        lengths = {len(row) if isinstance(row, list | tuple) else 0 for row in rows}
        if len(lengths) != 1 or 0 in lengths or not all(_is_cell(cell) for row in rows for cell in row):
            raise DataError(
                f"grid reference {str(reference)[:200]}: want a list of rows of equal length, of whole"
                " numbers from 0 on"
            )
        return tuple(tuple(row) for row in rows)

    def verify(self, case: Case) -> Finding:
        """Return 1 if the last grid of the answer is the reference, else 0."""
        wanted = self.read(case.reference)
        text = prepared(case.answer.text)
        if not text.strip():
            return Finding(0.0, "no_answer", parts={"cells": 0.0})
        found = last_grid(text)
        if found is None:
            return Finding(0.0, "format_error", detail={"why": "no grid"}, parts={"cells": 0.0})
        vote = "\n".join(" ".join(map(str, row)) for row in found.cells)[:_VOTE_CHARS]
        withheld = _withheld(text, found)
        if withheld:
            detail = {"withheld": withheld}
            return Finding(0.0, "no_answer", extracted=vote, detail=detail, parts={"cells": 0.0})
        shapes = {"shape": _shape(found.cells), "wanted_shape": _shape(wanted)}
        share = right_cells(wanted, found.cells)
        return Finding(float(found.cells == wanted), extracted=vote, detail=shapes, parts={"cells": share})


def _withheld(text: str, found: FoundGrid) -> str | None:
    """Return why a grid is not given as the answer: it is denied, or taken back. None if it is given."""
    before = text[max(0, found.start - _BEFORE) : found.start]
    if is_denied(before):
        return "negated"
    return "retracted" if is_retracted(text[found.end : found.end + _AFTER]) else None


def right_cells(wanted: Grid, found: Grid) -> float:
    """Return the share of cells that are right, or 0 if the shapes differ."""
    if [len(row) for row in wanted] != [len(row) for row in found]:
        return 0.0
    cells = [
        one == two
        for left, right in zip(wanted, found, strict=True)
        for one, two in zip(left, right, strict=True)
    ]
    return sum(cells) / len(cells)


def _shape(grid: Grid) -> str:
    """Return ROWSxCOLUMNS, with every length that a row has."""
    return f"{len(grid)}x{'/'.join(map(str, sorted({len(row) for row in grid})))}"


def _is_cell(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
