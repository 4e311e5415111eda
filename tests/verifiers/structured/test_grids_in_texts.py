"""Grids in texts: JSON or lines of digits, the last one counts."""

from __future__ import annotations

from genbench.verifiers.structured.arc_grid import Grid, last_grid
from tests.table import each_row

TWO = ((1, 2), (3, 4))


def cells(text: str) -> Grid | None:
    found = last_grid(text)
    return None if found is None else found.cells


@each_row(
    "text",
    [
        "[[1,2],[3,4]]",
        "```json\n[[1, 2],\n [3, 4]]\n```",
        "[[1, 2], [3, 4],]",
        "[[[1,2],[3,4]]]",
        "first [[9, 9], [9, 9]] and then [[1,2],[3,4]] is it",
        "The output:\n1 2\n3 4",
        "12\n34\n",
        "| 1 | 2 |\n| 3 | 4 |",
        "1, 2\r\n3, 4",
        "[[9]]\n\n1 2\n3 4",
        "9 9\n9 9\n\nNo: [[1,2],[3,4]]",
    ],
)
def test_the_last_grid_is_read_in_every_form(text: str) -> None:
    assert cells(text) == TWO


@each_row("text", ["", "no grid", "12", "1 2 3", "[1, 2]", "[[]]", "[[1, 2], [3", "[[1.5]]", "[[a]]"])
def test_other_texts_have_no_grid(text: str) -> None:
    assert cells(text) is None


def test_rows_of_different_lengths_stay_as_they_are() -> None:
    assert cells("[[1,2],[3]]") == ((1, 2), (3,))


def test_the_end_is_where_the_grid_ends() -> None:
    text = "so [[1]] ok"
    found = last_grid(text)
    assert found is not None and text[found.end :] == " ok"
    lines = "x\n1 2\n3 4\nok"
    found = last_grid(lines)
    assert found is not None and lines[found.end :] == "\nok"
