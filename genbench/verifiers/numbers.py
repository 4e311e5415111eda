"""Reads exact numbers from tidy LaTeX, so that most answers never need computer algebra."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

_DIGITS = 400
"""Longer literals are no answer to anything; Python itself reads at most 4,300 digits."""
_INTEGER = re.compile(r"[+-]?\d+")
_DECIMAL = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+)")
_SLASHED = re.compile(r"([+-]?)\(?([+-]?\d+)\)?/\(?([+-]?\d+)\)?")
_STACKED = re.compile(r"([+-]?)(\d*)\\frac\{([+-]?\d+)\}\{([+-]?\d+)\}")
_SCIENTIFIC = re.compile(r"([+-]?\d+(?:\.\d+)?)\\cdot10\^\{([+-]?\d{1,2})\}")
_PERCENT = re.compile(r"\\?%$")
_ABSOLUTE = Fraction(1, 10**6)
_RELATIVE = Fraction(1, 10**5)


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational; `decimal` if written with a point (perhaps rounded), `percent` if with the sign."""

    value: Fraction
    decimal: bool = False
    percent: bool = False

    def __str__(self) -> str:
        return str(self.value)


def read_number(canonical: str) -> Number | None:
    """The number that a canonical expression (see latex.canonical) spells out, or None.

    Integers with leading zeros, decimals, fractions, mixed numbers, powers of ten, percentages.
    """
    if len(canonical) > _DIGITS or not any(char.isdigit() for char in canonical):
        return None
    text = _PERCENT.sub("", canonical)
    percent = text != canonical
    if _INTEGER.fullmatch(text):
        return Number(Fraction(int(text)), percent=percent)
    if _DECIMAL.fullmatch(text):
        return Number(Fraction(text), decimal=True, percent=percent)
    value = _fraction(text) if "/" in text or "\\" in text else None
    return None if value is None else Number(value, percent=percent)


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
    """Whether the answer states the reference's value.

    Exact where both are exact; six decimals where one is written with a point (1/3 and 0.333333),
    as math-verify has it, but with a relative bound too, so that 0.000067 is not 0.0000672.
    10 % may stand for 10 and for 0.1: MATH's references drop the sign at will.
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
