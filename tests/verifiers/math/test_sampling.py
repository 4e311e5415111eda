"""Refuting equality at a point: never where two expressions are equal."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from genbench.verifiers.math.sampling import refuted
from tests.table import each_row

SAME = [
    ("\\frac{1}{2}", "0.5"),
    ("2\\sqrt{3}", "\\sqrt{12}"),
    ("\\sqrt[3]{8}", "2"),
    ("(x+1)^2", "x^2+2x+1"),
    ("(x+1)(x-1)", "x^{2}-1"),
    ("3R^2", "3r^2"),
    ("-2^2", "-4"),
    ("2^{-1}", "\\frac{1}{2}"),
    ("a - b", "-b + a"),
    ("\\frac{3 + i}{2}", "\\frac{3}{2}+\\frac{i}{2}"),
    ("0.3333333", "\\frac{1}{3}"),
]
DIFFERENT = [
    ("\\frac{1}{2}", "0.6"),
    ("2\\sqrt{3}", "3\\sqrt{2}"),
    ("x^2+2x+1", "x^2+x+1"),
    ("x+y", "x-y"),
    ("6-5i", "6+5i"),
    ("5", "x^2"),
    ("\\frac{\\pi}{2}", "\\frac{\\pi}{3}"),
]
UNREADABLE = [
    "x < 5",
    "1/2x",
    "2\\frac{\\sqrt{3}}{2}",
    "52_8",
    "f(x)",
    "\\sin x",
    "5\\%",
    "\\text{east}",
    "n!",
    "|x|",
    "none",
    "2^3^2",
    "9^{99999}",
    "0^0",
    "1/0",
    "\\infty-\\infty",
    "(1,2",
    "\\frac{1}",
    "",
    "E",
    "(" * 300,
    "1" * 5_000,
]


@each_row("one, two", SAME)
def test_what_may_be_equal_is_not_refuted(one: str, two: str) -> None:
    assert not refuted(one, two)
    assert not refuted(two, one)


@each_row("one, two", DIFFERENT)
def test_different_values_are_refuted(one: str, two: str) -> None:
    assert refuted(one, two)
    assert refuted(two, one)


@each_row("text", UNREADABLE)
def test_what_cannot_be_read_for_sure_refutes_nothing(text: str) -> None:
    assert not refuted(text, "3")
    assert not refuted("3", text)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_a_polynomial_is_never_refuted_against_itself_in_another_order(
    coefficients: list[int], random: object
) -> None:
    terms = [f"{c:+d}x^{{{power}}}" for power, c in enumerate(coefficients)]
    shuffled = sorted(terms, key=lambda term: hash((term, repr(random))))
    assert not refuted("".join(terms), "".join(shuffled))


@settings(max_examples=200, deadline=None)
@given(st.integers(-500, 500), st.integers(1, 99), st.integers(-500, 500), st.integers(1, 99))
@example(1, 32, 1, 33)
@example(495, 99, 494, 99)
def test_fractions_are_refuted_exactly_when_they_are_far_apart(a: int, b: int, c: int, d: int) -> None:
    one, two = Fraction(a, b), Fraction(c, d)
    far = abs(one - two) > Fraction(2, 100_000) * max(abs(one), abs(two))
    assert refuted(f"\\frac{{{a}}}{{{b}}}", f"\\frac{{{c}}}{{{d}}}") == far
