"""Exact arithmetic: values of any honest size, and refusals before anything explodes."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.verifiers.notation.grammar import TooLargeError
from genbench.verifiers.notation.numbers import evaluate, is_arithmetic
from tests.table import each_row

VALUES = [
    ("2+3", 5),
    ("2-3-4", -5),
    ("2\\cdot3^{2}", 18),
    ("(2+3)\\cdot4", 20),
    ("\\frac{140}{2}", 70),
    ("\\binom{10}{3}", 120),
    ("5!", 120),
    ("3!!", 720),
    ("2^{2024}-1", 2**2024 - 1),
    ("2024!", math.factorial(2024)),
    ("\\binom{2024}{1012}", math.comb(2024, 1012)),
    ("(-1)^{1000001}", -1),
    ("1^{10}", 1),
    ("2^{-1}", Fraction(1, 2)),
    ("0.5+0.25", Fraction(3, 4)),
    ("-(2)(3)", -6),
]
WITHOUT_VALUE = [
    "x+1",
    "1/0",
    "0^{0}",
    "\\sqrt{2}",
    "2^3^4",
    "(1",
    "",
    "\\binom{2}{x}",
    "(-1)!",
    "1/2(3)",
    "\\pi",
    "3\\frac{1}{2}",
]
TOO_LARGE = ["9^{9^{9}}", "100000!", "\\binom{10000000}{5000000}", "((9!)!)!", "2^{500000}", "10^{10^{9}}"]


@each_row("text, value", VALUES)
def test_arithmetic_has_its_exact_value(text: str, value: int) -> None:
    assert evaluate(text) == value


@each_row("text", WITHOUT_VALUE)
def test_what_is_no_arithmetic_has_no_value(text: str) -> None:
    assert evaluate(text) is None


@pytest.mark.parametrize("text", TOO_LARGE)
def test_what_has_too_many_digits_is_refused(text: str) -> None:
    with pytest.raises(TooLargeError):
        evaluate(text)


@pytest.mark.parametrize("text", ["2^{3}", "\\frac{1}{2}", "5!"])
def test_digits_and_operations_are_arithmetic(text: str) -> None:
    assert is_arithmetic(text)


@pytest.mark.parametrize("text", ["x", "2\\pi", "\\sin1", "1,2", "1=1"])
def test_letters_functions_and_lists_are_not(text: str) -> None:
    assert not is_arithmetic(text)


@settings(max_examples=100, deadline=None)
@given(st.integers(-(10**30), 10**30), st.integers(1, 10**9), st.integers(0, 40))
def test_values_agree_with_python(whole: int, divisor: int, exponent: int) -> None:
    assert (
        evaluate(f"({whole})/{divisor}+{divisor}^{{{exponent}}}")
        == Fraction(whole, divisor) + divisor**exponent
    )
