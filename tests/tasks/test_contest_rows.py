"""References of MATH, Minerva and OlympiadBench."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.tasks.rows import boxed_answer, minerva_answer, olympiad_answer


def test_the_answer_of_math_is_the_last_box_of_its_solution() -> None:
    row = {"solution": "First \\boxed{3}.\n\nThen it is $\\boxed{\\frac{1}{2}}$."}
    assert boxed_answer(row, 0)["answer"] == "\\frac{1}{2}"
    assert boxed_answer({"solution": "so \\fbox{a \\{b\\}}, \\boxed 7."}, 0)["answer"] == "7"
    assert boxed_answer({"solution": "so \\fbox{a \\{b\\}}."}, 0)["answer"] == "a \\{b\\}"


@pytest.mark.parametrize("solution", ["so 5", "so \\boxed{5", "so \\boxed{}"])
def test_a_solution_without_a_closed_box_has_no_answer(solution: str) -> None:
    with pytest.raises(DataError, match=r"no \\boxed"):
        boxed_answer({"solution": solution}, 0)


@pytest.mark.parametrize(
    ("box", "answer"),
    [
        ("4.5e33", "4.5e33"),
        ("np.arcsin(10/13)", "\\arcsin(10/13)"),
        ("\\frac{37}{4} m", ["\\frac{37}{4} m", "m \\cdot \\frac{37}{4}"]),
        ("\\frac{1}{2}(\\exp{a*t} + \\exp{-a*t})", "\\frac{1}{2}(e^{a t} + e^{-a t})"),
    ],
)
def test_answers_of_minerva_become_latex_that_can_be_compared(box: str, answer: Any) -> None:
    row = minerva_answer({"solution": f"so \\boxed{{{box}}} cm", "type": "Course"}, 0)
    assert (row["answer"], row["course"]) == (answer, "Course")


def olympiad(**changes: Any) -> dict[str, Any]:
    row = {"context": None, "question": " Find x. ", "final_answer": ["$5$"], "is_multiple_answer": False}
    return row | {"unit": None, "answer_type": "Numerical", "error": None} | changes


def test_a_problem_of_olympiadbench_says_what_its_answer_looks_like() -> None:
    plain = dict(olympiad_answer(olympiad(), 0))
    assert (plain["asked"], plain["note"], plain["reference"]) == ("Find x.", "", {"answer": "$5$"})
    several = olympiad(is_multiple_answer=True, answer_type="Tuple", unit="$cm^2$")
    note = olympiad_answer(several, 0)
    assert isinstance(note, dict)
    assert "several answers" in note["note"] and "brackets" in note["note"] and "cm^2" in note["note"]


def test_a_tolerance_and_a_context_of_the_row_are_kept() -> None:
    row = dict(olympiad_answer(olympiad(error="1e-1", context="Let x = 5."), 0))
    assert row["reference"] == {"answer": "$5$", "tolerance": 0.1}
    assert row["asked"] == "Let x = 5.\n\nFind x."


@pytest.mark.parametrize("changes", [{"final_answer": []}, {"final_answer": "5"}, {"error": "small"}])
def test_a_row_without_an_answer_or_with_a_strange_tolerance_cannot_be_asked(changes: Any) -> None:
    with pytest.raises(DataError, match=r"final_answer|error"):
        olympiad_answer(olympiad(**changes), 0)
