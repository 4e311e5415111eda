"""The grammar that exact and sampled evaluation share."""

from __future__ import annotations

from fractions import Fraction

import pytest

from genbench.verifiers.notation.grammar import Parser, TooLargeError, UnreadableError
from genbench.verifiers.notation.numbers import evaluate
from tests.table import each_row


class Term(str):
    """Writes out what is computed, so that precedence can be seen."""

    def __add__(self, other: str) -> Term:
        return Term(f"({self!s}+{other!s})")

    def __neg__(self) -> Term:
        return Term(f"(-{self!s})")

    def __mul__(self, other: object) -> Term:
        return Term(f"({self!s}*{other!s})")

    def __truediv__(self, other: str) -> Term:
        return Term(f"({self!s}/{other!s})")


class Spelling:
    """Terms instead of numbers."""

    def literal(self, digits: str) -> Term:
        return Term(digits)

    def name(self, token: str, following: str) -> Term:
        return Term(token)

    def bounded(self, value: Term) -> Term:
        return value

    def power(self, base: Term, exponent: Term) -> Term:
        return Term(f"({base!s}^{exponent!s})")

    def root(self, radicand: Term, degree: Term | None) -> Term:
        return Term(f"root({radicand!s},{degree!s})")

    def factorial(self, value: Term) -> Term:
        return Term(f"({value!s}!)")

    def binomial(self, above: Term, below: Term) -> Term:
        return Term(f"binom({above!s},{below!s})")

    def function(self, name: str, argument: Term) -> Term:
        return Term(f"{name}({argument!s})")

    def absolute(self, value: Term) -> Term:
        return Term(f"|{value!s}|")


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
