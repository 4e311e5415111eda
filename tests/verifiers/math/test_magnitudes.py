"""Degrees and sizes of expressions, without their evaluation."""

from __future__ import annotations

import math

import pytest
import sympy

from genbench.verifiers.math.algebra import degree, log10, magnitude

X = sympy.Symbol("x")
TEN = sympy.Integer(10)


@pytest.mark.parametrize(
    ("expression", "wanted"), [(X, 1), (X**3 + X, 3), ((X**2 + 1) ** 4, 8), (X**2 * (X + 1), 3), (TEN, 1)]
)
def test_degrees_are_bounded_from_above(expression: sympy.Expr, wanted: float) -> None:
    assert degree(expression) == wanted


def test_a_huge_number_has_a_size_but_is_not_written_out() -> None:
    huge = sympy.Pow(TEN, 9_999, evaluate=False)
    assert log10(huge) == pytest.approx(9_999)
    assert math.isinf(magnitude(huge))
    assert magnitude(-TEN) == pytest.approx(10)


def test_the_size_of_a_variable_is_unknown() -> None:
    assert math.isinf(magnitude(X))
