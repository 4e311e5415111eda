"""Which integrals, limits, sums and products are evaluated: those of answers, not those that take minutes."""

from __future__ import annotations

from typing import Any

import pytest
from math_verify import parse

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.math.algebra import OPERATORS, is_bounded, is_cheap
from genbench.verifiers.math.verifier import MathVerifier
from tests.table import each_row


def read(latex: str) -> Any:
    return parse(f"${latex}$", parsing_timeout=None, fallback_mode="no_fallback")[0]


@pytest.mark.slow
@each_row(
    "latex",
    [
        "\\int_0^1 x^2 dx",
        "\\int_{-\\infty}^{\\infty} \\frac{x^{2}}{4+x^{6}} dx",
        "\\int \\frac{\\sin x}{\\cos^{3} x} dx",
        "\\int_0^{\\infty} \\frac{\\sin^2 x}{x^2} dx",
        "\\int_0^{\\pi} \\sin(x)^{6} dx",
        "\\int_{-2}^{3} |x| dx",
        "\\int_0^{\\infty} e^{-x^2} dx",
        "\\int_1^2 \\frac{\\ln x}{x} dx",
        "\\int_0^1\\int_0^x\\int_0^y xyz dz dy dx",
        "\\lim_{x\\to 0}\\lim_{y\\to 0} \\frac{\\sin(x y)}{x y}",
        "\\sum_{k=1}^{n} k^2",
        "\\sum_{k=1}^{4999} k",
        "\\sum_{k=0}^{100} \\binom{100}{k} x^k",
        "\\sum_{k=1}^{50} \\sin(k)",
        "\\prod_{k=1}^{n} k",
        "\\prod_{k=1}^{20} k",
    ],
)
def test_what_is_written_as_an_answer_is_evaluated(latex: str) -> None:
    assert is_bounded(read(latex))


@pytest.mark.slow
@each_row(
    "latex",
    [
        "\\int_0^1 \\frac{1}{x^5+x+1} dx",
        "\\int \\frac{1}{x^{20}+1} dx",
        "\\int_0^1 \\frac{\\ln(1+x)}{1+x^2} dx",
        "\\int_0^{\\infty} \\frac{\\sin^9 x}{x^7} dx",
        "\\int_0^{10^{100}} \\lfloor x \\rfloor dx",
        "\\int_x^{10^{100}} t dt",
        "\\int_0^1\\int_0^1\\int_0^1\\int_0^1 xyzw dx dy dz dw",
        "\\int_0^1\\int_0^1\\int_0^1 e^{xyz} dx dy dz",
        "\\sum_{k=y}^{10^{300}} k^2",
        "\\sum_{k=1}^{4999} \\sin(k^2)",
        "\\prod_{k=1}^{299} \\Gamma(k/7)",
        "\\prod_{k=1}^{n} (k+1)^{k}",
    ],
)
def test_what_takes_minutes_is_not(latex: str) -> None:
    expression = read(latex)
    assert not is_bounded(expression)
    assert not all(is_cheap(node) for node in expression.atoms(*OPERATORS))


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [
        ("\\int_0^1 3x^2 dx", "1", 1.0),
        ("\\sum_{k=1}^{n} k", "\\frac{n(n+1)}{2}", 1.0),
        ("\\int_0^1 \\frac{1}{x^5+x+1} dx", "\\int_0^1 \\frac{1}{x^5+x+1} dx", 1.0),
        ("\\int_0^1 2x dx", "2", 0.0),
    ],
)
def test_verdicts_on_operators(answer: str, reference: str, score: float) -> None:
    case = Case(SampleId("t", "p", 0), (Answer(f"\\boxed{{{answer}}}", "absent", "", False),), reference)
    assert MathVerifier().verify(case).score == score
