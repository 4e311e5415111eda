"""Neighbours of the crafted answers: the same classes with other numbers, letters and words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import DataError
from genbench.types import OURS, Answer, Case, SampleId
from genbench.verifiers.math.verifier import MathVerifier
from tests.table import each_row

VERIFIER = MathVerifier()
Rows = list[tuple[str, str]]
"""(response, reference)"""

FOLDER = Path(__file__).with_name("neighbours")


def rows_of(name: str) -> Rows:
    """Read a file whose lines are JSON arrays of a response and a reference."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [(response, reference) for response, reference in map(json.loads, lines)]


ACCEPTED = rows_of("accepted")
REFUSED = rows_of("refused")


def score(text: str, reference: str) -> float:
    finding = VERIFIER.verify(Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference))
    assert finding.reason not in OURS
    return finding.score


@pytest.mark.slow
@each_row("place", range(0, len(ACCEPTED), 20))
def test_answers_that_commit_clearly_are_accepted(place: int) -> None:
    rows = ACCEPTED[place : place + 20]
    assert [row for row in rows if score(*row) != 1] == []


@each_row("place", range(0, len(REFUSED), 20))
def test_answers_that_commit_to_something_else_or_nothing_are_refused(place: int) -> None:
    rows = REFUSED[place : place + 20]
    assert [row for row in rows if score(*row) != 0] == []


def test_the_set_has_seventy_five_of_each_and_more() -> None:
    assert min(len(ACCEPTED), len(REFUSED)) >= 75


@pytest.mark.parametrize("reference", ["1/0", "\\frac{3}{0}", "5/(2-2)", "0^{-1}/0"])
def test_a_reference_without_a_value_is_refused(reference: str) -> None:
    with pytest.raises(DataError, match="divides by zero"):
        VERIFIER.check(reference)


def test_two_values_that_are_both_too_large_are_no_wrong_answer() -> None:
    case = Case(
        SampleId("t", "p", 0), (Answer("\\boxed{9^{9^{9^{2}}}}", "absent", "", False),), "9^{9^{9^{3}}}"
    )
    assert VERIFIER.verify(case).reason == "verifier_error"


def test_prose_around_formulas_is_equal_to_itself() -> None:
    reference = "concave up when $x<0$ or $x>2$, concave down when $0<x<2$"
    assert score(f"\\boxed{{{reference}}}", reference) == 1
