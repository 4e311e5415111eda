"""A verifier of lengths: `3.2 km` and `3200 m` are the same answer."""

from __future__ import annotations

import math
import re

from genbench.types import Case, Finding

METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0}
_QUANTITY = re.compile(r"(-?\d+(?:\.\d+)?) ?(mm|cm|km|m)\b")


def read_quantity(text: str) -> float | None:
    """Return the last length in a text in metres, or None if there is none."""
    found = _QUANTITY.findall(text)
    return float(found[-1][0]) * METRES[found[-1][1]] if found else None


class QuantityVerifier:
    """Compares the last length of the answer with the reference.

    Args:
        tolerance: how far the answer may be off, as a share of the reference.
    """

    version = "1"

    def __init__(self, *, tolerance: float = 0.0) -> None:
        if not 0 <= tolerance < 1:
            raise ValueError(f"tolerance is {tolerance!r}, wanted a share from 0 to 1")
        self._tolerance = tolerance

    def check(self, reference: str) -> None:
        """Refuse a reference that is not a length, before anything is drawn.

        Raises:
            ValueError: says what was found.
        """
        if not isinstance(reference, str) or read_quantity(reference) is None:
            raise ValueError(f"the reference is {reference!r}, wanted a length such as '3.2 km'")

    def time_limit_s(self, case: Case) -> float:
        """Return the wall seconds that one answer may take."""
        return 5.0

    def verify(self, case: Case) -> Finding:
        """Return 1 if the lengths are equal within the tolerance, else 0."""
        answer, reference = read_quantity(case.answer.text), read_quantity(case.reference)
        if answer is None or reference is None:
            return Finding(0.0, "no_answer")
        right = math.isclose(answer, reference, rel_tol=max(self._tolerance, 1e-9))
        return Finding(1.0 if right else 0.0, "wrong", extracted=f"{answer:g} m")
