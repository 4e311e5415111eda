"""Owns math-verify: whether two LaTeX expressions are equal, within bounds on what is evaluated.

Whether evaluating an expression is cheap is decided before anything is evaluated, from the degree and the
size of what is large, and the time of integrals, limits, sums and products. Expressions that math-verify
cannot decide are compared by their values at fixed points, to thirty digits.
"""

from __future__ import annotations

import logging
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import mpmath
import sympy
from latex2sympy2_extended import latex2sympy
from latex2sympy2_extended.math_normalization import NormalizationConfig, normalize_latex
from math_verify import verify
from math_verify.grader import should_treat_as_complex
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.hyperbolic import HyperbolicFunction
from sympy.utilities.iterables import iterable

_PRECISION = 5
"""Digits that are enough to bound the size of a number."""
_UNEVALUATED = (sympy.Sum, sympy.Product, sympy.Integral, sympy.Limit, sympy.Derivative)
"""What may take minutes to evaluate. They equal only what is written alike."""


def degree(expression: Any) -> float:
    """Return a bound on the degree of a polynomial, at least 1."""
    if isinstance(expression, sympy.Pow) and not expression.args[1].free_symbols:
        return max(1.0, magnitude(expression.args[1])) * degree(expression.args[0])
    degrees = [degree(argument) for argument in expression.args]
    return max(1.0, sum(degrees) if isinstance(expression, sympy.Mul) else max(degrees, default=1.0))


def log10(expression: Any) -> float:
    """Return the absolute log10 of a number without variables whose parts are bounded. Return 0 for zero."""
    value = _approximation(expression)
    if value is None or not mpmath.isfinite(value):
        return math.inf
    return abs(float(mpmath.log10(value))) if value else 0.0


def magnitude(expression: Any) -> float:
    """Return the absolute value of a number whose parts are bounded, or infinity if unknown or over 1e300."""
    size = log10(expression)
    value = _approximation(expression)
    if value is None or size > 300:
        return 0.0 if value is not None and value < 1 else math.inf
    return float(value)


def _approximation(expression: Any) -> Any:
    """Return the absolute value to a few digits, of any size, or None if computing it would take long."""
    if expression.free_symbols or expression.has(*_UNEVALUATED):
        return None
    try:
        return mpmath.fabs(expression.evalf(_PRECISION)._to_mpmath(20))
    except (TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        return None


_DIGITS = 20_000
"""Decimal digits that an evaluated number may have. 9^{9^9} has 370 million."""
_DEGREE = 400
"""Integer powers of expressions with variables up to this may be expanded."""
_EXPONENT_DEGREE = 8
"""Degree of an exponent with variables: e^{-x^2} is an answer, b^{c^88} an attack."""

_TERMS = 5_000
"""Terms that an expanded power may have."""
_FACTORIAL = 5_000
_LEVELS = 12
"""Products within products. Evaluation takes twice as long for each level: 12 take 0.4 s, 25 an hour."""


def is_bounded(expression: Any) -> bool:
    """Return whether evaluating the expression is cheap.

    It has no number of more than 20,000 digits, no huge expansion, no long sum, no hard integral and no
    product within a dozen others.

    Parsed trees are unevaluated, so nothing explodes before this look. Arguments are looked at before
    what contains them, so that a size can be computed from arguments that are known to be small.
    """
    if _product_levels(expression) > _LEVELS:
        return False
    return all(_node_is_bounded(node) for node in sympy.postorder_traversal(expression))


def _product_levels(expression: Any) -> int:
    """Return how many products are within each other at most. A matrix may have elements, but no `args`."""
    parts = getattr(expression, "args", None)
    if parts is None:
        parts = expression if iterable(expression) else ()
    return isinstance(expression, sympy.Mul) + max(map(_product_levels, parts), default=0)


def _node_is_bounded(node: Any) -> bool:
    if isinstance(node, (sympy.Pow, sympy.exp)):
        return _power_is_bounded(node)
    if isinstance(node, (sympy.factorial, sympy.binomial, sympy.gamma, HyperbolicFunction)):
        return bool(node.args[0].free_symbols) or magnitude(node.args[0]) <= _FACTORIAL
    return not isinstance(node, _UNEVALUATED)


def _power_is_bounded(power: Any) -> bool:
    base, exponent = power.as_base_exp() if isinstance(power, sympy.exp) else power.args
    if exponent.free_symbols:
        towers = any(
            isinstance(node, sympy.Pow) and node.exp.free_symbols
            for node in sympy.preorder_traversal(exponent)
        )
        return not towers and degree(exponent) <= _EXPONENT_DEGREE
    size = magnitude(exponent)
    if not math.isfinite(size):
        return False
    if isinstance(base, sympy.Add) and exponent.is_integer and base.free_symbols:
        terms = len(base.args)
        return size * degree(base) <= _DEGREE and math.comb(int(size) + terms - 1, terms - 1) <= _TERMS
    if base.free_symbols:
        return isinstance(base, sympy.Symbol) or size * degree(base) <= _DEGREE
    if isinstance(base, sympy.Add) and exponent.is_integer and not base.is_Rational:
        return size <= _DEGREE and size * max(1.0, log10(base)) <= _DIGITS
    return size * max(1.0, log10(base)) <= _DIGITS


_FAR = mpmath.mpf("2e-5")
"""Relative gap that no rounding explains: an answer with a point may differ by 1e-5."""
_SAME = mpmath.mpf("1e-25")
"""Relative gap that two spellings of one value have at thirty digits."""
_ZERO = mpmath.mpf("1e-25")
"""What cancels to less is zero: evaluation gives up on the digits of an exact zero."""
_COMPARED_DIGITS = 30
"""Digits to which expressions are computed at a point."""
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
    gold, target = _with_imaginary_unit(gold), _with_imaginary_unit(target)
    if not (is_plain(gold) and is_plain(target)):
        return None
    symbols = sorted(gold.free_symbols | target.free_symbols, key=str)
    if len(symbols) > len(_POINTS[0][1]):
        return None
    exact = not (gold.has(sympy.Float) or target.has(sympy.Float))
    for point in _POINTS if symbols else _POINTS[:1]:
        agreed = _agree_at(gold, target, _Place(symbols, *point), exact=exact)
        if agreed is None or (not agreed and point is _POINTS[-1]):
            return _agree_at_reals(gold, target, _Place(symbols, *point)) if agreed is False else None
        if not agreed:
            return False
    return True


def _with_imaginary_unit(expression: Any) -> Any:
    """Return an expression in which i is the imaginary unit. math-verify 0.9.0 reads it as a variable."""
    units = [symbol for symbol in getattr(expression, "free_symbols", ()) if str(symbol) == "i"]
    return (
        expression.subs(dict.fromkeys(units, sympy.I))
        if units and isinstance(expression, sympy.Expr)
        else expression
    )


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
        one, two = _value(gold, place, _COMPARED_DIGITS), _value(target, place, _COMPARED_DIGITS)
        size = max(mpmath.fabs(one), mpmath.fabs(two))
        digits = _COMPARED_DIGITS + (int(mpmath.log10(size)) if size > 1 else 0)
        if digits > 2 * _COMPARED_DIGITS:
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


def _agree_at_reals(gold: Any, target: Any, place: _Place) -> bool | None:
    """Return True if a value is not real at the negative point: 1/√n is √(1/n) where both are real."""
    values = [_value(side, place, _COMPARED_DIGITS) for side in (gold, target)]
    return True if any(mpmath.im(value) for value in values) else None


def _value(expression: Any, place: _Place, digits: int) -> Any:
    placed = expression.subs(place.values(digits + _GUARD_DIGITS)) if place.symbols else expression
    return placed.evalf(digits)._to_mpmath(int(digits * _BITS_A_DIGIT))


Outcome = Literal["equal", "different", "refused", "unreadable"]
"""What a comparison comes to. "refused" is too large to evaluate. "unreadable" is not mathematics."""

_CACHED = 16_384


class ComparisonError(Exception):
    """Two expressions that can both be read could not be compared: a defect of the comparison."""


class Equivalence:
    """Compares answers with references, and remembers verdicts, since k samples repeat their answers."""

    def __init__(self) -> None:
        # It warns that its timeout is off; ours is the process around us, since its own needs the
        # main thread and the one SIGALRM that this process has.
        for name in ("math_verify.parser", "math_verify.grader"):
            logging.getLogger(name).setLevel(logging.ERROR)
        self._references = lru_cache(_CACHED)(_read)
        self._verdicts = lru_cache(_CACHED)(self._compare)

    def compare(self, reference: str, answer: str) -> Outcome:
        """Compare `answer` with `reference`, both LaTeX without delimiters.

        The comparison is not symmetric: the reference's form decides (x=1 accepts 1; 7=11a+c does not
        accept 11a+c).

        Raises:
            ComparisonError: the comparison itself failed.
            MemoryError: the comparison took more memory than the process may have.
        """
        return self._verdicts(reference, answer)

    def _compare(self, reference: str, answer: str) -> Outcome:
        gold, target = self._references(reference), _read(answer)
        return "unreadable" if gold is None or target is None else _outcome(gold, target)


_NORMALIZATION = NormalizationConfig(
    basic_latex=True, units=False, malformed_operators=True, nits=True, boxed="none"
)
"""Without `units`: math-verify 0.9.0 takes m, s, g, h, l, d, t and c after a digit for units, as in 2-2m."""
_DROPPED = re.compile(
    r"\\[lcv]?dots|'|\"|\\(?:neg|lnot|not|exists|forall|angle|text|mathrm)(?![A-Za-z])|\d \d|(?<=\d)_"
)
"""What latex2sympy2-extended 1.11.0 reads as if it was not there, or as something else."""


def _read(latex: str) -> Any:
    """Return what latex2sympy makes of an expression, unevaluated, or None if it does not read all of it."""
    if _DROPPED.search(latex):
        return None
    try:
        text = normalize_latex(latex, _NORMALIZATION)
        return latex2sympy(
            text, is_real=not should_treat_as_complex(text), convert_degrees=False, normalization_config=None
        )
    except MemoryError:
        raise
    except Exception:  # a foreign parser on whatever a model wrote
        return None


def _outcome(gold: Any, target: Any) -> Outcome:
    try:
        bounded = is_bounded(gold), is_bounded(target)
        if gold != target and not any(bounded) and not gold.has(*_UNEVALUATED):
            raise ComparisonError("both are too large to evaluate")
        if not all(bounded):
            return "equal" if gold == target else "refused"
        agreed = values_agree(gold, target)
        if agreed is None:
            agreed = _verified(gold, target)
    except (MemoryError, ComparisonError):
        raise
    except Exception as error:  # sympy and math-verify raise anything
        if _is_at_fault(target) and not _is_at_fault(gold):
            return "unreadable"
        raise ComparisonError(f"{type(error).__name__}: {error}") from error
    return "equal" if agreed else "different"


def _verified(gold: Any, target: Any) -> bool:
    return bool(verify([gold], [target], timeout_seconds=None, raise_on_error=True))


def _is_at_fault(expression: Any) -> bool:
    """Return whether an expression cannot even be compared with the number 1."""
    try:
        one = sympy.Integer(1)
        if is_bounded(expression) and values_agree(one, expression) is None:
            _verified(one, expression)
    except MemoryError:
        raise
    except Exception:  # sympy and math-verify raise anything
        return True
    return False
