"""The calculator of BFCL's conversations. It has no state."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from genbench.tools.bfcl.service import Result, Service, failed

_METRES: Mapping[str, float] = MappingProxyType(
    {"km": 1000, "m": 1, "cm": 0.01, "mm": 0.001, "um": 1e-6, "nm": 1e-9}
)
_FACTORS: Mapping[tuple[str, str], float] = MappingProxyType(
    {
        ("cm", "in"): 0.393701,
        ("in", "cm"): 2.54,
        ("m", "ft"): 3.28084,
        ("ft", "m"): 0.3048,
        ("m", "yd"): 1.09361,
        ("yd", "m"): 0.9144,
        ("km", "miles"): 0.621371,
        ("miles", "km"): 1.60934,
        ("kg", "lb"): 2.20462,
        ("lb", "kg"): 0.453592,
    }
)
_NUMBERS, _NUMBER, _ELEMENTS = (
    "Both inputs must be numbers",
    "Input must be a number",
    "All elements in the list must be numbers",
)
_MOST_DIGITS = 10_000
_MOST_BITS = 200_000
"""Larger powers are refused. The official calculator computes them for as long as it takes."""


class MathAPI(Service):
    """A calculator. Results are floats or integers, as Python computes them."""

    def logarithm(self, value: float, base: float, precision: int) -> Result | str:
        """Return a logarithm with `precision` digits, as the text that the benchmark shows."""
        import mpmath  # noqa: PLC0415  the list of tasks needs no verifiers' packages

        _check_digits(precision)
        with mpmath.workdps(precision):
            try:
                result = mpmath.log(value) / mpmath.log(base)
            except Exception as error:  # mpmath raises many kinds
                return failed(str(error))
            return f"{{'result': {result!r}}}"

    def square_root(self, number: float, precision: int) -> Result | str:
        """Return a square root with `precision` digits, as the text that the benchmark shows."""
        try:
            if number < 0:
                return failed("Cannot calculate square root of a negative number")
            _check_digits(precision)
            with decimal.localcontext() as context:
                context.prec = precision
                result = decimal.Decimal(number).sqrt()
        except (TypeError, decimal.InvalidOperation):
            return failed("Input must be a number or computation resulted in an invalid operation")
        return f"{{'result': {result!r}}}"

    def mean(self, numbers: list[float]) -> Result:
        """Return the mean."""
        return _of_list(numbers, "calculate mean", lambda: sum(numbers) / len(numbers))

    def standard_deviation(self, numbers: list[float]) -> Result:
        """Return the standard deviation of a whole population."""

        def deviation() -> float:
            mean = sum(numbers) / len(numbers)
            return math.sqrt(sum((number - mean) ** 2 for number in numbers) / len(numbers))

        return _of_list(numbers, "calculate standard deviation", deviation)

    def min_value(self, numbers: list[float]) -> Result:
        """Return the smallest number."""
        return _of_list(numbers, "find minimum", lambda: min(numbers))

    def max_value(self, numbers: list[float]) -> Result:
        """Return the largest number."""
        return _of_list(numbers, "find maximum", lambda: max(numbers))

    def sum_values(self, numbers: list[float]) -> Result:
        """Return the sum."""
        return _of_list(numbers, "calculate sum", lambda: sum(numbers))

    def si_unit_conversion(self, value: Any, unit_in: str, unit_out: str) -> Result:
        """Convert a length between units of the metre."""
        if not isinstance(value, int | float):
            return failed("Value must be a number")
        if unit_in not in _METRES or unit_out not in _METRES:
            return failed(f"Conversion from '{unit_in}' to '{unit_out}' is not supported")
        return _finite(lambda: value * _METRES[unit_in] * (1 / _METRES[unit_out]))

    def imperial_si_conversion(self, value: Any, unit_in: str, unit_out: str) -> Result:
        """Convert a value between imperial and SI units."""
        if not isinstance(value, int | float):
            return failed("Value must be a number")
        if unit_in == unit_out:
            return {"result": value}
        if (unit_in, unit_out) == ("celsius", "fahrenheit"):
            return _finite(lambda: value * 1.8 + 32)
        if (unit_in, unit_out) == ("fahrenheit", "celsius"):
            return _finite(lambda: (value - 32) * (5 / 9))
        factor = _FACTORS.get((unit_in, unit_out))
        if factor is None:
            return failed(f"Conversion from '{unit_in}' to '{unit_out}' is not supported")
        return _finite(lambda: value * factor)

    def add(self, a: float, b: float) -> Result:
        """Return a + b."""
        return _of_numbers(lambda: a + b)

    def subtract(self, a: float, b: float) -> Result:
        """Return a - b."""
        return _of_numbers(lambda: a - b)

    def multiply(self, a: Any, b: Any) -> Result:
        """Return a times b."""
        if not isinstance(a, int | float) or not isinstance(b, int | float):
            return failed(_NUMBERS)
        return {"result": a * b}

    def divide(self, a: float, b: float) -> Result:
        """Return a divided by b."""
        return failed("Cannot divide by zero") if b == 0 else _of_numbers(lambda: a / b)

    def power(self, base: Any, exponent: Any) -> Result:
        """Return a power.

        Raises:
            OverflowError: it is too large.
        """
        are_whole = isinstance(base, int) and isinstance(exponent, int)
        if are_whole and base.bit_length() * abs(exponent) > _MOST_BITS:
            raise OverflowError("the result is too large")
        return _of_numbers(lambda: base**exponent)

    def absolute_value(self, number: float) -> Result:
        """Return the absolute value."""
        return _of_numbers(lambda: abs(number), _NUMBER)

    def round_number(self, number: float, decimal_places: int = 0) -> Result:
        """Round a number.

        Raises:
            OverflowError: so many places before the point would take long.
        """
        if isinstance(decimal_places, int) and decimal_places < -_MOST_DIGITS:
            raise OverflowError(f"decimal_places is {decimal_places}, wanted at least -{_MOST_DIGITS}")
        return _of_numbers(
            lambda: round(number, decimal_places),
            "First input must be a number, second input must be an integer",
        )

    def percentage(self, part: float, whole: float) -> Result:
        """Return the share of a part in per cent."""
        return failed("Whole value cannot be zero") if whole == 0 else _of_numbers(lambda: part / whole * 100)


def _of_list(numbers: Sequence[Any], doing: str, compute: Callable[[], Any]) -> Result:
    if not numbers:
        return failed(f"Cannot {doing} of an empty list")
    return _of_numbers(compute, _ELEMENTS)


def _of_numbers(compute: Callable[[], Any], why: str = _NUMBERS) -> Result:
    try:
        return {"result": compute()}
    except TypeError:
        return failed(why)


def _finite(compute: Callable[[], float]) -> Result:
    try:
        return {"result": compute()}
    except OverflowError:
        return failed("Conversion resulted in a value too large to represent")


def _check_digits(precision: int) -> None:
    """Raise ValueError if so many digits would take long."""
    if isinstance(precision, int) and precision > _MOST_DIGITS:
        raise ValueError(f"precision is {precision}, wanted at most {_MOST_DIGITS}")
