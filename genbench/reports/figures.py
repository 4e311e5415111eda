"""Numbers as they are printed: points of 100, one decimal."""

from __future__ import annotations

from collections.abc import Sequence


def points(value: float) -> str:
    """A fraction of 1 in points of 100, one decimal."""
    return f"{100 * value:.1f}"


def interval(bounds: Sequence[float] | None) -> str:
    """`[LOW, HIGH]`, or `-` where there is none."""
    return f"[{points(bounds[0])}, {points(bounds[1])}]" if bounds else "-"
