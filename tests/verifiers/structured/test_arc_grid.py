"""Answers of ARC-AGI: every cell must be right, and the share of right cells is kept."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.structured.arc_grid import GridVerifier, right_cells
from tests.table import each_row

WANTED = [[1, 2], [3, 4]]


def verify(text: str, reference: Any = WANTED) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return GridVerifier().verify(case)


def test_a_grid_with_every_cell_right_is_correct() -> None:
    finding = verify("The rule … so [[1, 2], [3, 4]]")
    assert (finding.score, finding.parts) == (1.0, {"cells": 1.0})
    assert finding.extracted == "1 2\n3 4"


def test_one_wrong_cell_is_wrong_and_counted() -> None:
    finding = verify("[[1, 2], [3, 5]]")
    assert (finding.score, finding.reason, finding.parts) == (0.0, "wrong", {"cells": 0.75})


@pytest.mark.parametrize("text", ["[[1, 2]]", "[[1, 2, 3], [3, 4, 5]]", "[[1, 2], [3]]"])
def test_another_shape_has_no_right_cell(text: str) -> None:
    finding = verify(text)
    assert (finding.score, finding.parts, finding.detail["wanted_shape"]) == (0.0, {"cells": 0.0}, "2x2")


def test_only_the_last_grid_counts() -> None:
    assert verify("[[1, 2], [3, 4]] or rather [[0, 0], [0, 0]]").score == 0.0


def test_without_a_grid_the_form_is_wrong_and_an_empty_answer_is_none() -> None:
    assert verify("I cannot tell.").reason == "format_error"
    assert verify("  ").reason == "no_answer"


def test_a_grid_that_is_taken_back_is_no_answer() -> None:
    finding = verify("[[1, 2], [3, 4]]\nThat is wrong.")
    assert (finding.score, finding.reason) == (0.0, "no_answer")


@pytest.mark.parametrize("before", ["not ", "The output is not ", "It can't be ", "Anything rather than:\n"])
def test_a_grid_that_is_denied_is_no_answer(before: str) -> None:
    finding = verify(f"{before}[[1, 2], [3, 4]]")
    assert (finding.score, finding.detail) == (0.0, {"withheld": "negated"})
    assert verify(f"{before}[[0, 0], [0, 0]], so it is [[1, 2], [3, 4]]").score == 1.0


def test_lines_of_digits_are_denied_too() -> None:
    assert verify("It is not\n1 2\n3 4").score == 0.0
    assert verify("Do not stop there.\n1 2\n3 4").score == 1.0


def test_right_cells_counts_over_all_rows() -> None:
    assert right_cells(((1, 2), (3, 4)), ((1, 0), (3, 0))) == 0.5


@each_row("reference", [None, [], [[]], [[1], [2, 3]], [[1.5]], [[True]], [[-1]], "[[1]]"])
def test_a_reference_that_is_no_rectangle_of_numbers_is_refused(reference: Any) -> None:
    with pytest.raises(DataError, match="grid reference"):
        GridVerifier().check(reference)
