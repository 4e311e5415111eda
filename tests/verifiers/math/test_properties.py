"""A value equals itself in every spelling, and never one that differs by a thousandth.

The environment variable GENBENCH_EXAMPLES multiplies the number of examples.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.types import OURS, Answer, Case, Finding, SampleId
from genbench.verifiers.math.verifier import MathVerifier

VERIFIER = MathVerifier()
TIMES = int(os.environ.get("GENBENCH_EXAMPLES", "1"))

SPELLINGS: dict[str, Callable[[int, int], str]] = {
    "fraction": lambda a, b: f"\\frac{{{a}}}{{{b}}}",
    "display fraction": lambda a, b: f"\\dfrac{{{a}}}{{{b}}}",
    "slash": lambda a, b: f"{a}/{b}",
    "expanded": lambda a, b: f"\\frac{{{3 * a}}}{{{3 * b}}}",
    "named": lambda a, b: f"x = \\frac{{{a}}}{{{b}}}",
    "named on the right": lambda a, b: f"\\frac{{{a}}}{{{b}}} = x",
    "with a unit": lambda a, b: f"\\frac{{{a}}}{{{b}}}\\text{{ cm}}",
    "product": lambda a, b: f"{a} \\cdot \\frac{{1}}{{{b}}}",
    "plain": lambda a, b: f"({a})/({b})",
    "bracketed": lambda a, b: f"\\left(\\frac{{{a}}}{{{b}}}\\right)",
    "sentence": lambda a, b: f"\\text{{The answer is }} \\frac{{{a}}}{{{b}}}",
    "sum": lambda a, b: f"\\frac{{{a - 1}}}{{{b}}} + \\frac{{1}}{{{b}}}",
}
ROOTS: dict[str, Callable[[int, int], str]] = {
    "latex": lambda a, n: f"{a}\\sqrt{{{n}}}",
    "short": lambda a, n: f"{a}\\sqrt {{{n}}}",
    "plain": lambda a, n: f"{a}*sqrt({n})",
    "unicode": lambda a, n: f"{a}√({n})",
    "power": lambda a, n: f"{a} \\cdot {n}^{{1/2}}",
    "code": lambda a, n: f"{a}*{n}**(1/2)",
    "under one root": lambda a, n: f"\\sqrt{{{a * a * n}}}",
    "reversed": lambda a, n: f"\\sqrt{{{n}}} \\cdot {a}",
    "named": lambda a, n: f"y = {a}\\sqrt{{{n}}}",
    "fraction": lambda a, n: f"\\frac{{{a * n}}}{{\\sqrt{{{n}}}}}",
}
PI: dict[str, Callable[[int, int], str]] = {
    "latex": lambda a, b: f"\\frac{{{a}\\pi}}{{{b}}}",
    "factor": lambda a, b: f"\\frac{{{a}}}{{{b}}}\\pi",
    "factor behind": lambda a, b: f"\\pi \\cdot \\frac{{{a}}}{{{b}}}",
    "slash": lambda a, b: f"{a}\\pi/{b}",
    "code": lambda a, b: f"{a}*pi/{b}",
    "bracketed": lambda a, b: f"({a}/{b})*pi",
    "unicode": lambda a, b: f"{a}π/{b}",
    "named": lambda a, b: f"\\theta = \\frac{{{a}\\pi}}{{{b}}}",
    "expanded": lambda a, b: f"\\dfrac{{{6 * a}\\pi}}{{{6 * b}}}",
    "phrase": lambda a, b: f"\\text{{The area is }} \\frac{{{a}\\pi}}{{{b}}}",
}


def verify(text: str, reference: str) -> Finding:
    answer = Answer(f"Hence \\boxed{{{text}}}.", "absent", "", False)
    return VERIFIER.verify(Case(SampleId("t", "p", 0), (answer,), reference))


@pytest.mark.parametrize("spelling", SPELLINGS)
@settings(max_examples=25 * TIMES, deadline=None)
@given(st.integers(2, 10**6), st.integers(2, 10**4))
def test_a_fraction_equals_itself_in_every_spelling(spelling: str, above: int, below: int) -> None:
    assert verify(SPELLINGS[spelling](above, below), f"\\frac{{{above}}}{{{below}}}").score == 1


@pytest.mark.parametrize("spelling", SPELLINGS)
@settings(max_examples=25 * TIMES, deadline=None)
@given(st.integers(2, 10**6), st.integers(2, 10**4), st.sampled_from([-1, 1]))
def test_a_fraction_never_equals_one_a_thousandth_away(
    spelling: str, above: int, below: int, sign: int
) -> None:
    other = Fraction(above, below) * (1 + Fraction(sign, 1000))
    assert (
        verify(SPELLINGS[spelling](above, below), f"\\frac{{{other.numerator}}}{{{other.denominator}}}").score
        == 0
    )


@pytest.mark.parametrize("spelling", ROOTS)
@settings(max_examples=6 * TIMES, deadline=None)
@given(st.integers(2, 99), st.sampled_from([2, 3, 5, 7, 11, 13, 17, 19, 23]))
def test_a_root_equals_itself_in_every_spelling(spelling: str, factor: int, radicand: int) -> None:
    assert verify(ROOTS[spelling](factor, radicand), f"{factor}\\sqrt{{{radicand}}}").score == 1


@pytest.mark.parametrize("spelling", ROOTS)
@settings(max_examples=6 * TIMES, deadline=None)
@given(st.integers(2, 99), st.sampled_from([2, 3, 5, 7, 11, 13, 17, 19, 23]), st.sampled_from([999, 1001]))
def test_a_root_never_equals_one_a_thousandth_away(
    spelling: str, factor: int, radicand: int, share: int
) -> None:
    assert (
        verify(
            ROOTS[spelling](factor, radicand), f"\\frac{{{factor * share}\\sqrt{{{radicand}}}}}{{1000}}"
        ).score
        == 0
    )


@pytest.mark.parametrize("spelling", PI)
@settings(max_examples=3 * TIMES, deadline=None)
@given(st.integers(2, 10**4), st.integers(2, 10**3), st.sampled_from([999, 1001]))
def test_a_multiple_of_pi_equals_itself_and_none_a_thousandth_away(
    spelling: str, above: int, below: int, share: int
) -> None:
    assert verify(PI[spelling](above, below), f"\\frac{{{above}\\pi}}{{{below}}}").score == 1
    assert verify(PI[spelling](above, below), f"\\frac{{{above * share}\\pi}}{{{below}000}}").score == 0


@settings(max_examples=100 * TIMES, deadline=None)
@given(st.floats(1e-9, 1e9), st.sampled_from([0.999, 1.001]))
def test_a_decimal_never_equals_one_a_thousandth_away(value: float, share: float) -> None:
    assert verify(f"{value:.15f}", f"{value * share:.15f}").score == (
        f"{value:.15f}" == f"{value * share:.15f}"
    )


@pytest.mark.slow
@settings(max_examples=100 * TIMES, deadline=None)
@given(st.text(max_size=60))
def test_no_text_is_a_defect_of_the_verifier(text: str) -> None:
    assert verify(text, "70").reason not in OURS
    answer = Answer(text, "absent", "", False)
    assert VERIFIER.verify(Case(SampleId("t", "p", 0), (answer,), "\\frac{1}{2}")).reason not in OURS
