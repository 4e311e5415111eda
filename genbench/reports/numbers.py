"""Formatting of numbers: points of 100, changes, intervals and p values."""

from __future__ import annotations

from collections.abc import Sequence

from genbench.stats.agreement import LEAST


def points(value: float | None) -> str:
    """Return a fraction of 1 in points of 100 with one decimal, or `-` for None."""
    return "-" if value is None else f"{100 * value:.1f}"


def is_shown(value: float | None) -> bool:
    """Return whether a fraction of 1 is known and is more than `0.0` in points of 100."""
    return value is not None and points(value) != points(0.0)


def signed(value: float | None) -> str:
    """Return a fraction of 1 in points of 100 with its sign, or `-` for None.

    A value that rounds to zero has no sign.
    """
    if value is None:
        return "-"
    text = f"{100 * value:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def interval(bounds: Sequence[float] | None) -> str:
    """Return `[LOW, HIGH]` in points of 100, or `-` for None."""
    return f"[{points(bounds[0])}, {points(bounds[1])}]" if bounds else "-"


def p_text(p: float | None) -> str:
    """Return a p value with two digits. It is never printed as zero."""
    return "-" if p is None else "<0.0001" if p < 1e-4 else f"{p:.2g}"


def kappa_words(value: float | None, ci: tuple[float, float] | None, level: str = "") -> str:
    """Return an agreement beyond chance with its interval, or why it or the interval is missing.

    Args:
        level: what is said before the bounds.
    """
    if value is None:
        return "not defined (one label throughout)"
    if ci is None:
        return f"{value:.2f} (fewer than {LEAST} items: no interval)"
    return f"{value:.2f}{level} [{ci[0]:.2f}, {ci[1]:.2f}]"
