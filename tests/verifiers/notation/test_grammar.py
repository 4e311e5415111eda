"""The grammar that exact and sampled evaluation share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from genbench.verifiers.notation.grammar import Parser, TooLargeError, UnreadableError
from genbench.verifiers.notation.numbers import evaluate
from tests.table import each_row


class Spelling:
    """Writes out what the parser asks for, so that precedence can be seen."""

    def literal(self, digits: str) -> str:
        return digits

    def name(self, token: str, following: str) -> str:
        return token

    def add(self, one: str, two: str) -> str:
        return f"({one}+{two})"

    def negate(self, value: str) -> str:
        return f"(-{value})"

    def multiply(self, one: str, two: str) -> str:
        return f"({one}*{two})"

    def divide(self, one: str, two: str) -> str:
        return f"({one}/{two})"

    def power(self, base: str, exponent: str) -> str:
        return f"({base}^{exponent})"

    def root(self, radicand: str, degree: str | None) -> str:
        return f"root({radicand},{degree})"

    def factorial(self, value: str) -> str:
        return f"({value}!)"

    def binomial(self, above: str, below: str) -> str:
        return f"binom({above},{below})"

    def function(self, name: str, argument: str) -> str:
        return f"{name}({argument})"

    def absolute(self, value: str) -> str:
        return f"|{value}|"


READINGS = [
    ("1+2x", "(1+(2*x))"),
    ("-x^2", "(-(x^2))"),
    ("2x^2y", "((2*(x^2))*y)"),
    ("a/b", "(a/b)"),
    ("\\frac{1}{x}+1", "((1/x)+1)"),
    ("\\frac12", None),
    ("\\sqrt[3]{x}", "root(x,3)"),
    ("\\sqrt{2}x", "(root(2,None)*x)"),
    ("n!", "(n!)"),
    ("\\sin2x", "\\sin((2*x))"),
    ("\\sin(x)y", "(\\sin(x)*y)"),
    ("\\sin x\\cos x", "(\\sin(x)*\\cos(x))"),
    ("|x-1|", "|(x+(-1))|"),
    ("\\binom{n}{2}", "binom(n,2)"),
]
UNREADABLE = [
    "1/2x",
    "x2",
    "2\\frac{1}{2}",
    "2^3^4",
    "(1",
    "1)",
    "",
    "+",
    "\\sin^2x",
    "\\frac{1}",
    "a|b|c|d",
    "3 4",
]


@each_row("text, reading", READINGS)
def test_an_expression_has_one_reading(text: str, reading: str | None) -> None:
    if reading is None:
        with pytest.raises(UnreadableError):
            Parser(text, Spelling()).value()
    else:
        assert Parser(text, Spelling()).value() == reading


@each_row("text", UNREADABLE)
def test_what_can_be_read_in_two_ways_or_none_is_refused(text: str) -> None:
    with pytest.raises(UnreadableError):
        Parser(text, Spelling()).value()


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(UnreadableError):
        Parser("(" * 100 + "1" + ")" * 100, Spelling()).value()


def test_too_large_is_a_kind_of_unreadable() -> None:
    assert issubclass(TooLargeError, UnreadableError)


def test_both_evaluations_use_it() -> None:
    assert evaluate("\\frac{1}{2}+\\frac{1}{3}") == Fraction(5, 6)
