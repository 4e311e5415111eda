"""Evaluates arithmetic without variables exactly, so that huge integers compare as integers."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from genbench.verifiers.grammar import Parser, TooLargeError, UnreadableError

_BITS = 400_000
"""Largest numerator or denominator, about 120,000 decimal digits. A power of this size takes 5 ms."""
_FACTORIAL = 20_000
_CHARS = 4_000
_ARITHMETIC = re.compile(r"(?:[\d.+\-*/^(){}!]|\\(?:frac|cdot|times|div|binom|sqrt)(?![A-Za-z]))+")


def is_arithmetic(text: str) -> bool:
    """Return whether a canonical text has digits and operations only."""
    return len(text) <= _CHARS and _ARITHMETIC.fullmatch(text) is not None


def evaluate(text: str) -> Fraction | None:
    """Return the exact value of canonical arithmetic such as ``2^{2024}-1``, or None if it has no such value.

    Raises:
        TooLargeError: the value has more than about 120,000 digits.
    """
    if not is_arithmetic(text):
        return None
    try:
        return Parser(text, _Rationals()).value()
    except TooLargeError:
        raise
    except (UnreadableError, ArithmeticError):
        return None


def divides_by_zero(text: str) -> bool:
    """Return whether canonical arithmetic has no value because it divides by zero."""
    try:
        return is_arithmetic(text) and Parser(text, _Rationals()).value() is None
    except ZeroDivisionError:
        return True
    except (UnreadableError, TooLargeError, ArithmeticError):
        return False


class _Rationals:
    """Rational numbers of bounded size."""

    def literal(self, digits: str) -> Fraction:
        return Fraction(digits)

    def name(self, token: str, following: str) -> Fraction:
        raise UnreadableError

    def add(self, one: Fraction, two: Fraction) -> Fraction:
        return _bounded(one + two)

    def negate(self, value: Fraction) -> Fraction:
        return -value

    def multiply(self, one: Fraction, two: Fraction) -> Fraction:
        return _bounded(one * two)

    def divide(self, one: Fraction, two: Fraction) -> Fraction:
        return _bounded(one / two)

    def power(self, base: Fraction, exponent: Fraction) -> Fraction:
        if exponent.denominator != 1:
            return _rational_power(base, exponent)
        if base == 0 and exponent < 0:
            raise ZeroDivisionError
        if base == exponent == 0:
            raise UnreadableError
        if abs(base) != 1 and base != 0 and _bits(base) * abs(exponent) > _BITS:
            raise TooLargeError
        # Only the sign counts for a base of one, however large the exponent is.
        return base ** int(exponent % 2 if abs(base) == 1 else exponent)

    def root(self, radicand: Fraction, degree: Fraction | None) -> Fraction:
        if degree not in (None, 2) or radicand < 0:
            raise UnreadableError
        return _square_root(radicand)

    def factorial(self, value: Fraction) -> Fraction:
        if value.denominator != 1 or value < 0:
            raise UnreadableError
        if value > _FACTORIAL:
            raise TooLargeError
        return Fraction(math.factorial(int(value)))

    def binomial(self, above: Fraction, below: Fraction) -> Fraction:
        if above.denominator != 1 or below.denominator != 1 or above < 0 or below < 0:
            raise UnreadableError
        if min(below, above - below) * max(1, _bits(above)) > _BITS:
            raise TooLargeError
        return Fraction(math.comb(int(above), int(below)))

    def function(self, name: str, argument: Fraction) -> Fraction:
        raise UnreadableError

    def absolute(self, value: Fraction) -> Fraction:
        return abs(value)


def _rational_power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 2 or base <= 0 or abs(exponent) > _BITS:
        raise UnreadableError
    root = _square_root(base)
    if _bits(root) * abs(exponent.numerator) > _BITS:
        raise TooLargeError
    return root**exponent.numerator


def _square_root(value: Fraction) -> Fraction:
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if above * above != value.numerator or below * below != value.denominator:
        raise UnreadableError
    return Fraction(above, below)


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _bounded(value: Fraction) -> Fraction:
    if _bits(value) > 2 * _BITS:
        raise TooLargeError
    return value
