"""Compares two parsed expressions by their values at fixed points, to thirty digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import sympy
from sympy.core.function import AppliedUndef

_FAR = mpmath.mpf("2e-5")
"""Relative gap that no rounding explains: an answer with a point may differ by 1e-5."""
_SAME = mpmath.mpf("1e-25")
"""Relative gap that two spellings of one value have at thirty digits."""
_ZERO = mpmath.mpf("1e-25")
"""What cancels to less is zero: evaluation gives up on the digits of an exact zero."""
_DIGITS = 30
_GUARD_DIGITS = 15
"""Digits by which the values of variables are more precise than what is computed from them."""
_APART = mpmath.mpf("1e-12")
"""Relative gap between two expressions without decimals that no cancellation explains."""
_MOST_DIGITS = 20_100
_BITS_A_DIGIT = 3.33
_POINTS = (
    (101, (137, 71, 211, 53, 163, 89, 229, 37)),
    (103, (41, 199, 97, 151, 61, 239, 73, 113)),
    (-107, (127, 59, 173, 83, 223, 47, 191, 67)),
)
"""Values of up to eight variables, as a denominator and numerators. Those of the first two points are
positive, so that roots and logarithms are real."""


def values_agree(gold: Any, target: Any) -> bool | None:
    """Return whether two bounded expressions have the same value, or None if values do not decide.

    They do not if an expression has no plain value, or if the gap could be rounding of a decimal. Without
    a decimal the smallest gap counts: ``2^{3000}x+1`` is not ``2^{3000}x+2``.
    """
    if not (is_plain(gold) and is_plain(target)):
        return None
    symbols = sorted(gold.free_symbols | target.free_symbols, key=str)
    if len(symbols) > len(_POINTS[0][1]):
        return None
    exact = not (gold.has(sympy.Float) or target.has(sympy.Float))
    for point in _POINTS if symbols else _POINTS[:1]:
        agreed = _agree_at(gold, target, _Place(symbols, *point), exact=exact)
        if agreed is None or (not agreed and point is _POINTS[-1]):
            return None
        if not agreed:
            return False
    return True


def is_plain(expression: Any) -> bool:
    """Return whether a value at a point decides. Names, percentages and functions are math-verify's."""
    return (
        isinstance(expression, sympy.Expr)
        and not isinstance(expression, sympy.Symbol)
        and expression != sympy.E
        and not expression.has(
            sympy.UnevaluatedExpr, AppliedUndef, sympy.Integral, sympy.Limit, sympy.Derivative
        )
        and not isinstance(expression, sympy.MatrixExpr)
    )


@dataclass(frozen=True, slots=True)
class _Place:
    """Values of some variables: numerators over one denominator."""

    symbols: list[Any]
    denominator: int
    numerators: tuple[int, ...]

    def values(self, digits: int) -> dict[Any, Any]:
        """Return the values as decimals. With rationals sympy would look for exact roots of their powers."""
        return {
            symbol: sympy.Float(sympy.Rational(above, self.denominator), digits)
            for symbol, above in zip(self.symbols, self.numerators, strict=False)
        }


def _agree_at(gold: Any, target: Any, place: _Place, *, exact: bool) -> bool | None:
    """Return whether the values at a place are the same, or None if they are merely near."""
    try:
        one, two = _value(gold, place, _DIGITS), _value(target, place, _DIGITS)
        size = max(mpmath.fabs(one), mpmath.fabs(two))
        digits = _DIGITS + (int(mpmath.log10(size)) if size > 1 else 0)
        if digits > 2 * _DIGITS:
            if digits > _MOST_DIGITS:
                return None
            one, two = _value(gold, place, digits), _value(target, place, digits)
        with mpmath.workprec(int(digits * _BITS_A_DIGIT)):
            gap = mpmath.fabs(one - two)
    except (TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        return None
    if not mpmath.isfinite(gap):
        return None
    if gap > _FAR * size and gap > _ZERO:
        return False
    if exact and gap > _APART * min(size, 1) and gap > _ZERO:
        return False
    # A large integer must agree in its last digit, so the bound is absolute above 1.
    return True if gap <= _SAME * min(size, 1) or gap <= _ZERO else None


def _value(expression: Any, place: _Place, digits: int) -> Any:
    placed = expression.subs(place.values(digits + _GUARD_DIGITS)) if place.symbols else expression
    return placed.evalf(digits)._to_mpmath(int(digits * _BITS_A_DIGIT))
