"""References of mathematics: acceptable answers, and how far a number may be from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from genbench.errors import ConfigError, DataError, nearest
from genbench.verifiers.arithmetic import divides_by_zero
from genbench.verifiers.expression import Expression, read_expression
from genbench.verifiers.numbers import Number, numbers_equal
from genbench.verifiers.references import acceptable_texts, malformation
from genbench.verifiers.units import without_unit

_KEYS = ("answer", "tolerance", "relative_tolerance")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest accepted distance of two numbers, absolute or relative to the reference."""

    absolute: Fraction = Fraction(0)
    relative: Fraction = Fraction(0)

    @classmethod
    def of(cls, absolute: Any, relative: Any) -> Tolerance:
        """Return a tolerance.

        Raises:
            ValueError: a value is negative or no finite number.
        """
        for name, value in (("tolerance", absolute), ("relative_tolerance", relative)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"{name} is {value!r}, wanted a number from 0 on")
            if value < 0:
                raise ValueError(f"{name} is {value!r}, wanted a number from 0 on")
        # Through text, so that 0.1 is one tenth.
        return cls(Fraction(str(absolute)), Fraction(str(relative)))

    def accepts(self, reference: Number | None, answer: Number | None) -> bool:
        """Return whether both are numbers and near enough."""
        if reference is None or answer is None or not (self.absolute or self.relative):
            return False
        gap = abs(reference.value - answer.value)
        return gap <= self.absolute or gap <= self.relative * abs(reference.value)


@dataclass(frozen=True, slots=True)
class Graded:
    """The acceptable texts of a reference, and its tolerance."""

    texts: list[str]
    tolerance: Tolerance


def option_tolerance(absolute: float, relative: float) -> Tolerance:
    """Return the tolerance that a suite asks for.

    Raises:
        ConfigError: a value is negative or no finite number.
    """
    try:
        return Tolerance.of(absolute, relative)
    except ValueError as error:
        raise ConfigError(f"math verifier: {error}") from None


def read_graded(reference: Any, default: Tolerance) -> Graded:
    """Return the texts and the tolerance of a reference.

    A reference is a text, a number or a list of acceptable ones, or an object with these as `answer` and with
    a `tolerance` or a `relative_tolerance` of its own.

    Raises:
        DataError: it is none of these.
    """
    if not isinstance(reference, Mapping):
        return Graded(acceptable_texts(reference, "math"), default)
    for key in reference:
        if key not in _KEYS:
            raise DataError(f"math reference {reference!r}: unknown key '{key}'{nearest(str(key), _KEYS)}")
    if "answer" not in reference:
        raise DataError(f"math reference {reference!r}: it has no 'answer'")
    try:
        own = Tolerance.of(reference.get("tolerance") or 0, reference.get("relative_tolerance") or 0)
    except ValueError as error:
        raise DataError(f"math reference {reference!r}: {error}") from None
    given = own.absolute or own.relative
    return Graded(acceptable_texts(reference["answer"], "math"), own if given else default)


def check_text(text: str, expression: Expression) -> None:
    """Refuse an answer that is no mathematics.

    Raises:
        DataError: it is malformed LaTeX, or arithmetic without a value.
    """
    if (wrong := malformation(text)) is not None:
        raise DataError(f"math reference {text!r}: {wrong}; want an answer as LaTeX or plain text")
    if divides_by_zero(expression.key):
        raise DataError(f"math reference {text!r}: it divides by zero; want an answer with a value")


def near_number(
    references: Sequence[Expression], answer: Expression, tolerance: Tolerance, *, units: bool
) -> dict[str, str]:
    """Return how an answer is a number near enough to a reference, for people, or nothing if it is not.

    Args:
        units: whether a physical unit after the answer's number is dropped.
    """
    bare = without_unit(answer.latex) if units and answer.number is None else None
    number = answer.number if bare is None else read_expression(bare).number
    found = {} if bare is None else {"without_unit": bare}
    for reference in references:
        if tolerance.accepts(reference.number, number):
            return found | {"compared": "tolerance"}
        if bare is not None and reference.number and number and numbers_equal(reference.number, number):
            return found
    return {}
