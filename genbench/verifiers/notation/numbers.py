"""Reads exact numbers and arithmetic from tidy LaTeX, so that most answers never need computer algebra.

Huge integers compare as integers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

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


# `0.1\overline{6}`, `0.\bar{3}`, `0.\dot{1}4285\dot{7}`.
_BARRED = re.compile(
    r"(?<![\d.])(?P<whole>\d{0,40})\.(?P<fixed>\d{0,40})"
    r"(?:\\(?:overline|bar|overbar)\s*\{(?P<block>\d{1,60})\}|\\dot\s*\{?(?P<first>\d)\}?(?:(?P<middle>\d{0,60})\\dot\s*\{?(?P<last>\d)\}?)?)"
)
# `0.1(6)`, only if it is the whole text: a bracket may also be a factor.
_BRACKETED = re.compile(r"[+-]?(?P<whole>\d{1,40})\.(?P<fixed>\d{0,40})\((?P<block>\d{1,60})\)")
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
    if (bracketed := _BRACKETED.fullmatch(text)) is not None:
        return text[: bracketed.start("whole")] + _repeating(
            bracketed["whole"], bracketed["fixed"], bracketed["block"]
        )
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


_COMPLEX = re.compile(r"(?:[\d.+\-*/^(){}!|ie]|\\(?:frac|cdot|times|div|sqrt|pi)(?![A-Za-z]))+")


@dataclass(frozen=True, slots=True)
class Gaussian:
    """An exact complex number whose parts are rational."""

    real: Fraction
    imaginary: Fraction

    def __str__(self) -> str:
        if max(map(_bits, (self.real, self.imaginary))) > _SHOWN_BITS:
            return f"{self.real.numerator:x}"[:32] + f"...{self.imaginary.numerator:x}"[:35] + "i"
        real = str(self.real) if self.real else ""
        imaginary = {1: "+", -1: "-"}.get(int(self.imaginary) if self.imaginary.denominator == 1 else 0)
        sign = "+" if self.imaginary > 0 else ""
        return (real + (imaginary or f"{sign}{self.imaginary}") + "i").removeprefix("+")


def evaluate_complex(text: str) -> Gaussian | None:
    """Return the exact value of canonical arithmetic with i, such as ``(2+3i)(1-i)``, or None.

    Raises:
        TooLargeError: a part has more than about 120,000 digits.
    """
    if len(text) > _CHARS or not ("i" in text or "sqrt{-" in text) or not _COMPLEX.fullmatch(text):
        return None
    try:
        found = Parser(text, _Gaussians()).value()
    except TooLargeError:
        raise
    except (UnreadableError, ArithmeticError):
        return None
    return Gaussian(found.real, found.imaginary) if found.kind == "number" else None


@dataclass(frozen=True, slots=True)
class _Term:
    """A complex number, a multiple of pi, or the base of natural logarithms."""

    real: Fraction
    imaginary: Fraction
    kind: Literal["number", "multiple of pi", "e"] = "number"


_I = (
    (Fraction(1), Fraction(0)),
    (Fraction(0), Fraction(1)),
    (Fraction(-1), Fraction(0)),
    (Fraction(0), Fraction(-1)),
)
"""The powers of i."""


class _Gaussians:
    """Complex numbers with rational parts. Of pi it knows only e^{i pi/2} and its powers."""

    def __init__(self) -> None:
        self._rationals = _Rationals()

    def literal(self, digits: str) -> _Term:
        return _Term(Fraction(digits), Fraction(0))

    def name(self, token: str, following: str) -> _Term:
        if token == "i":
            return _Term(Fraction(0), Fraction(1))
        if token == "\\pi":
            return _Term(Fraction(1), Fraction(0), "multiple of pi")
        if token == "e":
            return _Term(Fraction(0), Fraction(0), "e")
        raise UnreadableError

    def add(self, one: _Term, two: _Term) -> _Term:
        if one.kind != two.kind or one.kind == "e":
            raise UnreadableError
        return _Term(_bounded(one.real + two.real), _bounded(one.imaginary + two.imaginary), one.kind)

    def negate(self, value: _Term) -> _Term:
        if value.kind == "e":
            raise UnreadableError
        return _Term(-value.real, -value.imaginary, value.kind)

    def multiply(self, one: _Term, two: _Term) -> _Term:
        if "e" in (one.kind, two.kind) or (one.kind == two.kind == "multiple of pi"):
            raise UnreadableError
        real = _bounded(one.real * two.real - one.imaginary * two.imaginary)
        imaginary = _bounded(one.real * two.imaginary + one.imaginary * two.real)
        return _Term(real, imaginary, two.kind if one.kind == "number" else one.kind)

    def divide(self, one: _Term, two: _Term) -> _Term:
        if two.kind != "number":
            raise UnreadableError
        size = two.real**2 + two.imaginary**2
        return self.multiply(one, _Term(two.real / size, -two.imaginary / size))

    def power(self, base: _Term, exponent: _Term) -> _Term:
        if base.kind == "e":
            return self._exponential(exponent)
        if base.kind != "number" or exponent.kind != "number" or exponent.imaginary:
            raise UnreadableError
        if not base.imaginary:
            return _Term(self._rationals.power(base.real, exponent.real), Fraction(0))
        if exponent.real.denominator != 1:
            raise UnreadableError
        return self._integer_power(base, int(exponent.real))

    def _integer_power(self, base: _Term, exponent: int) -> _Term:
        if not base.real and abs(base.imaginary) == 1:
            exponent *= int(base.imaginary)
            return _Term(*_I[exponent % 4])
        bits = max(_bits(base.real), _bits(base.imaginary))
        if bits * abs(exponent) > _BITS // 8:
            raise TooLargeError
        if exponent < 0:
            return self.divide(_Term(Fraction(1), Fraction(0)), self._integer_power(base, -exponent))
        found, square = _Term(Fraction(1), Fraction(0)), base
        while exponent:
            if exponent & 1:
                found = self.multiply(found, square)
            exponent >>= 1
            square = self.multiply(square, square) if exponent else square
        return found

    def _exponential(self, exponent: _Term) -> _Term:
        """Return e to a multiple of i pi/2."""
        turns = exponent.imaginary * 2
        if exponent.kind != "multiple of pi" or exponent.real or turns.denominator != 1:
            raise UnreadableError
        return _Term(*_I[int(turns) % 4])

    def root(self, radicand: _Term, degree: _Term | None) -> _Term:
        if (
            radicand.kind != "number"
            or radicand.imaginary
            or (degree is not None and degree != _Term(Fraction(2), Fraction(0)))
        ):
            raise UnreadableError
        root = _square_root(abs(radicand.real))
        return _Term(Fraction(0), root) if radicand.real < 0 else _Term(root, Fraction(0))

    def factorial(self, value: _Term) -> _Term:
        if value.kind != "number" or value.imaginary:
            raise UnreadableError
        return _Term(self._rationals.factorial(value.real), Fraction(0))

    def binomial(self, above: _Term, below: _Term) -> _Term:
        raise UnreadableError

    def function(self, name: str, argument: _Term) -> _Term:
        raise UnreadableError

    def absolute(self, value: _Term) -> _Term:
        if value.kind != "number":
            raise UnreadableError
        return _Term(_square_root(_bounded(value.real**2 + value.imaginary**2)), Fraction(0))


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


def complex_numbers_equal(reference: Gaussian, answer: Gaussian, *, rounded: bool) -> bool:
    """Return whether two complex numbers are equal, to six decimals if one is written with a point."""
    pairs = ((reference.real, answer.real), (reference.imaginary, answer.imaginary))
    return all(one == two or (rounded and _close(one, two)) for one, two in pairs)


def _close(one: Fraction, two: Fraction) -> bool:
    gap = abs(one - two)
    return gap < _ABSOLUTE and gap <= _RELATIVE * max(abs(one), abs(two))
