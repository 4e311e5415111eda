"""Reads exact numbers and arithmetic from tidy LaTeX, so that most answers never need computer algebra.

Huge integers compare as integers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

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

    def bounded(self, value: Fraction) -> Fraction:
        if _bits(value) > 2 * _BITS:
            raise TooLargeError
        return value

    def power(self, base: Fraction, exponent: Fraction) -> Fraction:
        if exponent.denominator != 1:
            raise UnreadableError
        if base == 0 and exponent < 0:
            raise ZeroDivisionError
        if base == exponent == 0:
            raise UnreadableError
        if abs(base) != 1 and base != 0 and _bits(base) * abs(exponent) > _BITS:
            raise TooLargeError
        # Only the sign counts for a base of one, however large the exponent is.
        return base ** int(exponent % 2 if abs(base) == 1 else exponent)

    def root(self, radicand: Fraction, degree: Fraction | None) -> Fraction:
        raise UnreadableError

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


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


# `0.1\overline{6}`, `0.\bar{3}`, `0.\dot{1}4285\dot{7}`.
_BARRED = re.compile(
    r"(?<![\d.])(?P<whole>\d{0,40})\.(?P<fixed>\d{0,40})"
    r"(?:\\(?:overline|bar|overbar)\s*\{(?P<block>\d{1,60})\}|\\dot\s*\{?(?P<first>\d)\}?(?:(?P<middle>\d{0,60})\\dot\s*\{?(?P<last>\d)\}?)?)"
)
# `0.333\ldots`, `3.14159...`.
_CONTINUED = re.compile(
    r"(?<![\d.])(?P<whole>\d{0,40})\.(?P<digits>\d{1,80})\s*(?:\\[lc]?dots(?![A-Za-z])|\.\.\.+|…)"
)
_BLOCK = re.compile(r"(?P<fixed>\d*?)(?:(?P<long>\d{6,}?)(?P=long)+|(?P<block>\d{1,5}?)(?P=block){2,})")
"""A block that is there three times repeats, or twice if it is long. In 2.718281828… 1828 is there twice."""


def repeating_as_fractions(text: str) -> str:
    """Return a text with each repeating decimal as the fraction that it is.

    ``0.1\\overline{6}`` and ``0.1666\\ldots`` become ``\\frac{1}{6}``. Other decimals lose their dots,
    since they are rounded: ``3.14159\\ldots``. Dots after an integer stay, since ``2\\ldots`` is not 2.
    """
    if "." not in text:
        return text
    if "\\" in text:
        text = _BARRED.sub(_barred, text)
    return _CONTINUED.sub(_continued, text) if "dots" in text or ".." in text or "…" in text else text


def _barred(match: re.Match[str]) -> str:
    block = match["block"] or match["first"] + (match["middle"] or "") + (match["last"] or "")
    return _repeating(match["whole"], match["fixed"], block)


def _continued(match: re.Match[str]) -> str:
    found = _BLOCK.fullmatch(match["digits"])
    if found is None:
        return f"{match['whole']}.{match['digits']}"
    return _repeating(match["whole"], found["fixed"], found["long"] or found["block"])


def _repeating(whole: str, fixed: str, block: str) -> str:
    """Return 0.1 with 6 repeated as ``\\frac{1}{6}``."""
    below = 10 ** len(fixed) * (10 ** len(block) - 1)
    value = Fraction(int(whole + fixed + block or 0) - int(whole + fixed or 0), below)
    return str(value) if value.denominator == 1 else f"\\frac{{{value.numerator}}}{{{value.denominator}}}"


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
    percentage, or arithmetic without variables.

    Raises:
        TooLargeError: the value has more digits than may be computed.
    """
    if len(canonical) > _DIGITS:
        return None
    if not any(char.isdigit() for char in canonical):
        return None
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
