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
from math_verify import parse, verify
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.hyperbolic import HyperbolicFunction
from sympy.functions.elementary.trigonometric import TrigonometricFunction
from sympy.utilities.iterables import iterable

_PRECISION = 5
"""Digits that are enough to bound the size of a number."""
_UNEVALUATED = (sympy.Sum, sympy.Product, sympy.Integral, sympy.Limit, sympy.Derivative)


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


OPERATORS = (sympy.Integral, sympy.Limit, sympy.Sum, sympy.Product)

_TERMS = 5_000
"""Terms that a finite sum may have."""
_TERMS_OF_FUNCTIONS = 100
"""Terms that a finite sum of sines or the like may have. 5,000 take minutes."""
_FACTORS = 300
"""Factors that a finite product may have."""
_FACTORS_OF_FUNCTIONS = 20
_NESTED = 3
"""Operators within each other."""
_DENOMINATOR = 4
"""Degree of a denominator under an integral. Of degree 5 its roots have no formula: x^5+x+1 takes minutes."""
_TWO_TERMS = 6
"""Degree of a denominator such as x^6+1. x^8+1 takes 8 s, x^20+1 four minutes."""
_OSCILLATING = 4
"""Powers of sines over powers of the variable under an integral. sin(x)^9/x^7 takes two minutes."""
_STEPS = 1_000
"""Largest bound of an integral over steps, such as those of the floor function."""
_FARTHEST = 1e30
"""Largest finite bound next to a bound with variables, and of any integral."""
_STEPPED = (
    sympy.floor,
    sympy.ceiling,
    sympy.Abs,
    sympy.sign,
    sympy.Mod,
    sympy.Max,
    sympy.Min,
    sympy.Piecewise,
)
_DILOGARITHMIC = (sympy.log, sympy.atan, sympy.asin, sympy.acos)
"""Functions that take minutes over a sum of powers: ln(1+x)/(1+x^2)."""
_FAMILIAR = (sympy.factorial, sympy.binomial, sympy.exp)
"""Functions that a long sum may have."""


def is_cheap(operator: Any) -> bool:
    """Return whether evaluating an operator is cheap, given that what it contains is."""
    nested = _nested(operator)
    if nested > _NESTED:
        return False
    if isinstance(operator, sympy.Limit):
        return nested < _NESTED or not _has_curved_function(operator)
    if isinstance(operator, sympy.Integral):
        return (nested < _NESTED or not _has_curved_function(operator)) and _integral_is_cheap(operator)
    return _is_short(operator)


def _nested(expression: Any) -> int:
    """Return how many operators are within each other at most."""
    own = len(expression.limits) if hasattr(expression, "limits") else isinstance(expression, sympy.Limit)
    return int(own) + max(map(_nested, getattr(expression, "args", ())), default=0)


def _has_curved_function(expression: Any) -> bool:
    """Return whether a function or an exponential has an argument that is not linear."""
    return any(
        degree(argument) > 1
        for node in sympy.preorder_traversal(expression)
        if isinstance(node, (sympy.Function, sympy.exp))
        or (isinstance(node, sympy.Pow) and node.exp.free_symbols)
        for argument in (node.args[-1:] if isinstance(node, sympy.Pow) else node.args)
    )


def _integral_is_cheap(integral: Any) -> bool:
    bounds = [bound for limit in integral.limits for bound in limit[1:] if not bound.free_symbols]
    finite = [magnitude(bound) for bound in bounds if not bound.is_infinite]
    if any(size > _FARTHEST for size in finite):
        return False
    stepped = integral.function.has(*_STEPPED)
    if stepped and (len(finite) < len(bounds) or any(size > _STEPS for size in finite)):
        return False
    return _is_integrable(integral.function, {limit[0] for limit in integral.limits})


def _is_integrable(function: Any, variables: set[Any]) -> bool:
    """Return whether no denominator is of high degree, and no power of sines is over one of the variable."""
    divides, oscillates = 0.0, 0.0
    for node in sympy.preorder_traversal(function):
        base, power = node.as_base_exp() if isinstance(node, sympy.Pow) else (node, sympy.Integer(1))
        if not (base.free_symbols & variables) or power.free_symbols:
            continue
        size = magnitude(power)
        if isinstance(base, TrigonometricFunction):
            oscillates = max(oscillates, size)
        elif power.could_extract_minus_sign() and not base.has(TrigonometricFunction):
            most = _TWO_TERMS if isinstance(base, sympy.Add) and len(base.args) == 2 else _DENOMINATOR
            if isinstance(base, sympy.Add) and degree(base) > most:
                return False
            if isinstance(base, sympy.Add) and degree(base) > 1 and function.has(*_DILOGARITHMIC):
                return False
            divides = max(divides, degree(base) * size)
    return not (divides and oscillates) or divides + oscillates <= _OSCILLATING


def _is_short(total: Any) -> bool:
    """Return whether a sum or product has few terms, or bounds that only algebra can know."""
    is_product = isinstance(total, sympy.Product)
    familiar = not any(
        isinstance(node, sympy.Function) and not isinstance(node, _FAMILIAR)
        for node in sympy.preorder_traversal(total.function)
    )
    most = (_FACTORS if familiar else _FACTORS_OF_FUNCTIONS) if is_product else _TERMS
    if not is_product and not familiar:
        most = _TERMS_OF_FUNCTIONS
    for index, low, high in total.limits:
        numbers = [bound for bound in (low, high) if not bound.free_symbols]
        if len(numbers) == 2:
            if high.is_infinite or low.is_infinite or magnitude(high) + magnitude(low) > most:
                return False
            continue
        far = any(not bound.is_infinite and magnitude(bound) > _FARTHEST for bound in numbers)
        if far or (is_product and _has_power_of(total.function, index)):
            return False
    return True


def _has_power_of(term: Any, index: Any) -> bool:
    """Return whether an index is in an exponent and in its base, as in k^k, of which no product is known."""
    return any(
        isinstance(node, sympy.Pow) and index in node.exp.free_symbols and index in node.base.free_symbols
        for node in sympy.preorder_traversal(term)
    )


_DIGITS = 20_000
"""Decimal digits that an evaluated number may have. 9^{9^9} has 370 million."""
_DEGREE = 400
"""Integer powers of expressions with variables up to this may be expanded."""
_EXPONENT_DEGREE = 8
"""Degree of an exponent with variables: e^{-x^2} is an answer, b^{c^88} an attack."""

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
    if isinstance(node, OPERATORS):
        return is_cheap(node)
    return True


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
            return None
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


def _value(expression: Any, place: _Place, digits: int) -> Any:
    placed = expression.subs(place.values(digits + _GUARD_DIGITS)) if place.symbols else expression
    return placed.evalf(digits)._to_mpmath(int(digits * _BITS_A_DIGIT))


Outcome = Literal["equal", "different", "refused", "unreadable"]
"""What a comparison comes to. "refused" is too large to evaluate. "unreadable" is no mathematics."""

_CACHED = 16_384
_COMMAND = re.compile(r"\\(?:text|mathrm|mbox|operatorname)\s*\{[^{}]*\}|\\[A-Za-z]+")
_LETTER = re.compile(r"[A-DF-HJ-Za-df-hj-z]|[^\W\d_A-Za-z]")
"""Letters of any script, but not e and i, which are numbers."""
_RELATION = re.compile(r"=|\\in(?![A-Za-z])|\\equiv")


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
        targets = [target for target in _read(answer) if not _lost_variables(answer, target)]
        outcomes = {_outcome(gold, target) for gold in self._references(reference) for target in targets}
        ranked: tuple[Outcome, ...] = ("equal", "refused", "different")
        return next((outcome for outcome in ranked if outcome in outcomes), "unreadable")


def _read(latex: str) -> tuple[Any, ...]:
    """Return what math-verify makes of an expression: sympy objects, lazily unevaluated, or nothing."""
    try:
        return tuple(parse(f"${latex}$", parsing_timeout=None, fallback_mode="no_fallback"))
    except MemoryError:
        raise
    except Exception:  # a foreign parser on whatever a model wrote
        return ()


def _lost_variables(latex: str, parsed: Any) -> bool:
    """Return whether the parser read a bare number and dropped letters: ``70xob)`` as 70 (error recovery)."""
    if not isinstance(parsed, sympy.Number) or _RELATION.search(latex):
        return False
    return bool(_LETTER.search(_COMMAND.sub(" ", latex)))


def _outcome(gold: Any, target: Any) -> Outcome:
    try:
        bounded = is_bounded(gold), is_bounded(target)
        if gold != target and not any(bounded):
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
