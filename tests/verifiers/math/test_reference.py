"""References with a tolerance of their own, and numbers that are near enough."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.math.verifier import Graded, MathVerifier, Tolerance, option_tolerance, read_graded
from genbench.verifiers.notation.numbers import Number
from tests.table import each_row

NONE = Tolerance()


def verify(text: str, reference: Any, **options: Any) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(f"\\boxed{{{text}}}", "absent", "", False),), reference)
    return MathVerifier(**options).verify(case)


def test_a_reference_is_a_text_a_list_or_an_object_with_a_tolerance() -> None:
    assert read_graded("5", NONE) == Graded(["5"], NONE)
    assert read_graded(["5", 6], NONE) == Graded(["5", "6"], NONE)
    own = read_graded({"answer": "4.2", "tolerance": 0.1}, NONE)
    assert own == Graded(["4.2"], Tolerance(Fraction(1, 10), Fraction(0)))
    default = Tolerance.of(1e-8, 0)
    assert read_graded({"answer": "4.2", "tolerance": None}, default).tolerance == default


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"answer": "1", "tolerence": 1}, "did you mean 'tolerance'"),
        ({"tolerance": 1}, "it has no 'answer'"),
        ({"answer": "1", "tolerance": "0.1"}, "wanted a number from 0 on"),
        ({"answer": "1", "tolerance": -1}, "wanted a number from 0 on"),
        ({"answer": None}, "want text, a number, or a list"),
    ],
)
def test_a_malformed_object_is_refused(reference: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        MathVerifier().check(reference)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), True, "1"])
def test_a_tolerance_that_is_no_distance_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match="math verifier: tolerance"):
        option_tolerance(value, 0)


def test_the_bound_itself_is_accepted_and_more_is_not() -> None:
    near = Tolerance.of(0.1, 0)
    assert near.accepts(Number(Fraction("4.2")), Number(Fraction("4.3")))
    assert not near.accepts(Number(Fraction("4.2")), Number(Fraction("4.3001")))
    relative = Tolerance.of(0, 0.01)
    assert relative.accepts(Number(Fraction(-100)), Number(Fraction(-99)))
    assert not relative.accepts(Number(Fraction(-100)), Number(Fraction(99)))
    assert not relative.accepts(Number(Fraction(0)), Number(Fraction(1, 1000)))
    assert not relative.accepts(None, Number(Fraction(1)))


@each_row(
    "text, score",
    [
        ("4.5e33", 1.0),
        ("4.53 \\times 10^{33}", 1.0),
        ("4.5 × 10³³ erg/s", 1.0),
        ("4.5 \\times 10^{33} \\frac{\\mathrm{erg}}{\\mathrm{s}}", 1.0),
        ("4.5e33 \\text{ ergs per second}", 1.0),
        ("4.6e33", 0.0),
        ("4.5e34", 0.0),
        ("4.5e33 x", 0.0),
    ],
)
def test_a_number_of_physics_may_be_rounded_and_have_a_unit(text: str, score: float) -> None:
    assert verify(text, "4.5e33", relative_tolerance=0.01, units=True).score == score


def test_without_the_options_nothing_is_near() -> None:
    assert verify("4.53e33", "4.5e33").score == 0.0
    assert verify("3 \\times 10^8 \\frac{m}{s}", "3e8x").score == 0.0


def test_a_tolerance_of_the_row_holds_for_that_row() -> None:
    reference = {"answer": "4.2", "tolerance": 0.1}
    assert verify("4.28", reference).detail["compared"] == "tolerance"
    assert verify("4.4", reference).score == 0.0
    assert verify("1, 5", {"answer": "5,1"}).score == 1.0


def test_formulas_are_compared_as_before() -> None:
    assert verify("\\frac{37x}{4}", "\\frac{37}{4} x", relative_tolerance=0.01, units=True).score == 1.0
    assert verify("m", "m", units=True).score == 1.0
    assert verify("\\frac{37}{4}", "\\frac{37}{4} x", relative_tolerance=0.01, units=True).score == 0.0
