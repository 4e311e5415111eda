"""Compares two parsed expressions by their values at fixed points, to thirty digits."""

from __future__ import annotations

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
_MOST_DIGITS = 20_100
_BITS_A_DIGIT = 3.33
_POINTS = (
    tuple(sympy.Float(top / 101) for top in (137, 71, 211, 53, 163, 89, 229, 37)),
    tuple(sympy.Float(top / 103) for top in (41, 199, 97, 151, 61, 239, 73, 113)),
    tuple(sympy.Float(-top / 107) for top in (127, 59, 173, 83, 223, 47, 191, 67)),
)
"""Values of up to eight variables. Those of the first two points are positive, so that roots and
logarithms are real. No rationals: sympy would look for exact roots of their powers."""


def values_agree(gold: Any, target: Any) -> bool | None:
    """Return whether two bounded expressions have the same value, or None if values do not decide.

    They do not if an expression has no plain value, or if the gap could be rounding of a decimal.
    """
    if not (is_plain(gold) and is_plain(target)):
        return None
    symbols = sorted(gold.free_symbols | target.free_symbols, key=str)
    if len(symbols) > len(_POINTS[0]):
        return None
    for point in _POINTS if symbols else _POINTS[:1]:
        agreed = _agree_at(gold, target, dict(zip(symbols, point, strict=False)))
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


def _agree_at(gold: Any, target: Any, point: dict[Any, Any]) -> bool | None:
    """Return whether the values at a point are the same, or None if they are merely near."""
    try:
        one, two = _value(gold, point, _DIGITS), _value(target, point, _DIGITS)
        size = max(mpmath.fabs(one), mpmath.fabs(two))
        digits = _DIGITS + (int(mpmath.log10(size)) if size > 1 else 0)
        if digits > 2 * _DIGITS:
            if digits > _MOST_DIGITS:
                return None
            one, two = _value(gold, point, digits), _value(target, point, digits)
        with mpmath.workprec(int(digits * _BITS_A_DIGIT)):
            gap = mpmath.fabs(one - two)
    except (TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        return None
    if not mpmath.isfinite(gap):
        return None
    if gap > _FAR * size and gap > _ZERO:
        return False
    # A large integer must agree in its last digit, so the bound is absolute above 1.
    return True if gap <= _SAME * min(size, 1) or gap <= _ZERO else None


def _value(expression: Any, point: dict[Any, Any], digits: int) -> Any:
    placed = expression.subs(point) if point else expression
    return placed.evalf(digits)._to_mpmath(int(digits * _BITS_A_DIGIT))
