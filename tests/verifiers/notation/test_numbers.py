"""Exact numbers from their spellings."""

from __future__ import annotations

from fractions import Fraction

import pytest

from genbench.verifiers.notation.grammar import TooLargeError
from genbench.verifiers.notation.numbers import Number, is_too_large, numbers_equal, read_number
from tests.table import each_row


@each_row(
    "text, number",
    [
        ("70", Number(Fraction(70))),
        ("-070", Number(Fraction(-70))),
        ("0.5", Number(Fraction(1, 2), decimal=True)),
        ("1/2", Number(Fraction(1, 2))),
        ("1\\frac{1}{2}", Number(Fraction(3, 2))),
        ("1.5\\cdot10^{3}", Number(Fraction(1500))),
        ("50\\%", Number(Fraction(50), percent=True)),
        ("2^{10}", Number(Fraction(1024))),
        ("2^{2024}-1", Number(Fraction(2**2024 - 1))),
    ],
)
def test_a_number_is_read_exactly(text: str, number: Number) -> None:
    assert read_number(text) == number


@each_row("text", ["x", "1,2", "\\sqrt{2}", "1/0", "", "2 3", "eleventy", "\\%"])
def test_other_texts_are_no_numbers(text: str) -> None:
    assert read_number(text) is None


def test_too_many_digits_are_refused() -> None:
    with pytest.raises(TooLargeError):
        read_number("9^{9^{9}}")
    assert is_too_large("9^{9^{9}}")
    assert not is_too_large("9^{9}")


def test_a_huge_number_can_be_shown() -> None:
    number = read_number("20000!")
    assert number is not None
    assert number.is_huge
    assert len(str(number)) < 100


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [
        ("1/3", "0.333333", True),
        ("1/3", "0.33", False),
        ("10\\%", "0.1", True),
        ("10\\%", "10", True),
        ("0.000067", "0.0000672", False),
    ],
)
def test_rounding_and_percentages(one: str, two: str, equal: bool) -> None:
    reference, answer = read_number(one), read_number(two)
    assert reference is not None
    assert answer is not None
    assert numbers_equal(reference, answer) is equal
