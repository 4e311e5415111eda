"""Reads exact numbers and arithmetic from tidy LaTeX, so that most answers never need computer algebra.

Huge integers compare as integers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from genbench.verifiers.language.word_lists import read_list
from genbench.verifiers.notation.grammar import Parser, TooLargeError, UnreadableError

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


_DIGITS = 4_000
"""Longest text read as a number. Python itself reads at most 4,300 digits."""
_SHOWN_BITS = 13_000
"""Larger values are not printed in full: Python prints at most 4,300 digits."""
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+)")
# `-3/4`, `(3)/(4)`.
_SLASHED = re.compile(r"([+-]?)\(?([+-]?\d+)\)?/\(?([+-]?\d+)\)?")
# `-1\frac{1}{2}` is minus one and a half.
_STACKED = re.compile(r"([+-]?)(\d*)\\frac\{([+-]?\d+)\}\{([+-]?\d+)\}")
_SCIENTIFIC = re.compile(r"([+-]?\d+(?:\.\d+)?)\\cdot10\^\{([+-]?\d{1,2})\}")
_PERCENT = re.compile(r"\\?%$")
NUMBER_WORDS = read_list("""
    zero; one; two; three; four; five; six; seven; eight; nine; ten; eleven; twelve; thirteen; fourteen;
    fifteen; sixteen; seventeen; eighteen; nineteen; twenty
""")
"""The English words of 0 to 20, at the place of their number."""
_SPELLED = {word: Fraction(value) for value, word in enumerate(NUMBER_WORDS)}
# Rounded numbers: six decimals, as math-verify compares them, and five digits.
_ABSOLUTE = Fraction(1, 10**6)
_RELATIVE = Fraction(1, 10**5)


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational; `decimal` if written with a point (perhaps rounded), `percent` if with the sign."""

    value: Fraction
    decimal: bool = False
    percent: bool = False

    @property
    def is_huge(self) -> bool:
        """Return whether the value has too many digits to be printed."""
        return max(self.value.numerator.bit_length(), self.value.denominator.bit_length()) > _SHOWN_BITS

    def __str__(self) -> str:
        return f"{self.value.numerator:x}"[:64] + "..." if self.is_huge else str(self.value)


def read_number(canonical: str) -> Number | None:
    """Return the number that a canonical expression (see latex.canonical) spells out, or None.

    It may be an integer with leading zeros, a decimal, a fraction, a mixed number, a power of ten, a
    percentage, a word up to twenty, or arithmetic without variables.

    Raises:
        TooLargeError: the value has more digits than may be computed.
    """
    if len(canonical) > _DIGITS:
        return None
    if not any(char.isdigit() for char in canonical):
        spelled = _SPELLED.get(canonical.lower()) if len(canonical) < 10 else None
        return None if spelled is None else Number(spelled)
    text = _PERCENT.sub("", canonical)
    value = _rational(text) if text else None
    decimal = "." in text and not _SCIENTIFIC.fullmatch(text)
    return None if value is None else Number(value, decimal, percent=text != canonical)


def _rational(text: str) -> Fraction | None:
    if _INTEGER.fullmatch(text) or _DECIMAL.fullmatch(text):
        return Fraction(text)
    if "/" in text or "\\" in text or text[-1] in "!)}" or text[0] in "(-+." or text[0].isdigit():
        value = _fraction(text)
        return evaluate(text) if value is None else value
    return None


def is_too_large(canonical: str) -> bool:
    """Return whether a canonical expression is arithmetic with more digits than may be computed."""
    try:
        read_number(canonical)
    except TooLargeError:
        return True
    return False


def _fraction(text: str) -> Fraction | None:
    if match := _SCIENTIFIC.fullmatch(text):
        return Fraction(match[1]) * Fraction(10) ** int(match[2])
    if match := _SLASHED.fullmatch(text):
        sign, whole, above, below = match[1], "", match[2], match[3]
    elif match := _STACKED.fullmatch(text):
        sign, whole, above, below = match.groups()
    else:
        return None
    if int(below) == 0 or (whole and (int(above) < 0 or int(below) < 0)):
        return None
    value = int(whole or 0) + Fraction(int(above), int(below))
    return -value if sign == "-" else value


def numbers_equal(reference: Number, answer: Number) -> bool:
    """Return whether the answer states the reference's value.

    Two exact numbers must be equal. If one is written with a point, six decimals count (1/3 and
    0.333333), as in math-verify, and a relative bound applies too, so that 0.000067 is not 0.0000672.
    10 % may mean 10 or 0.1: MATH's references drop the sign at will.
    """
    pairs = [(reference.value, answer.value)]
    if reference.percent != answer.percent:
        pairs.append(
            (
                reference.value / (100 if reference.percent else 1),
                answer.value / (100 if answer.percent else 1),
            )
        )
    rounded = reference.decimal or answer.decimal
    return any(_close(one, two) if rounded else one == two for one, two in pairs)


def _close(one: Fraction, two: Fraction) -> bool:
    gap = abs(one - two)
    return gap < _ABSOLUTE and gap <= _RELATIVE * max(abs(one), abs(two))
