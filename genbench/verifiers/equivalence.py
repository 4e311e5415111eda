"""Owns sympy and math-verify: whether two LaTeX expressions are equal, within bounds on what is evaluated."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import sympy
from math_verify import parse, verify
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.hyperbolic import HyperbolicFunction

_DIGITS = 20_000
"""Decimal digits that an evaluated number may have; 9^{9^9} has 370 million."""
_DEGREE = 400
"""Integer powers of expressions with variables up to this may be expanded."""
_EXPONENT_DEGREE = 8
"""Degree of an exponent with variables: e^{-x^2} is an answer, b^{c^88} an attack."""
_TERMS = 5_000
"""Terms that a finite sum, a product or an expanded power may have."""
_FACTORS = 300
"""Factors that a product may have."""
_FACTORIAL = 5_000
_FAR = 1e-3
"""Relative gap at a sample point that no rounding explains: math-verify rounds at 1e-6."""
_POINTS = tuple(sympy.Float(top / 101) for top in (137, 71, 211, 53, 163, 89, 229, 37))
"""Where up to eight variables are put; positive, so that roots and logarithms are real. No rationals:
sympy would look for exact roots of their powers."""
_CACHED = 16_384

_COMMAND = re.compile(r"\\(?:text|mathrm|mbox|operatorname)\s*\{[^{}]*\}|\\[A-Za-z]+")
_LETTER = re.compile(r"[A-DF-HJ-Za-df-hj-z]")
"""Not e and i, which are numbers."""
_RELATION = re.compile(r"=|\\in(?![A-Za-z])|\\equiv")


class Equivalence:
    """Compares answers with references; remembers verdicts too, since k samples repeat their answers."""

    def __init__(self) -> None:
        # It warns that its timeout is off; ours is the process around us, since its own needs the
        # main thread and the one SIGALRM that this process has.
        for name in ("math_verify.parser", "math_verify.grader"):
            logging.getLogger(name).setLevel(logging.ERROR)
        self._references = lru_cache(_CACHED)(_read)
        self._verdicts = lru_cache(_CACHED)(self._compare)

    def equal(self, reference: str, answer: str) -> bool:
        """Whether `answer` states `reference` (both LaTeX without delimiters). Not symmetric: the
        reference's form decides (x=1 accepts 1; 7=11a+c does not accept 11a+c).

        Raises:
            MemoryError: the comparison took more memory than the process may have.
        """
        return self._verdicts(reference, answer)

    def _compare(self, reference: str, answer: str) -> bool:
        targets = [target for target in _read(answer) if not _lost_variables(answer, target)]
        return any(_equal(gold, target) for gold in self._references(reference) for target in targets)


def _read(latex: str) -> tuple[Any, ...]:
    """What math-verify makes of an expression: sympy objects, lazily unevaluated, or nothing."""
    parsed = parse(f"${latex}$", parsing_timeout=None, fallback_mode="no_fallback")
    return tuple(parsed)


def _lost_variables(latex: str, parsed: Any) -> bool:
    """Whether the parser read a bare number and dropped letters: ``70xob)`` as 70 (its error recovery)."""
    if not isinstance(parsed, sympy.Number) or _RELATION.search(latex):
        return False
    return bool(_LETTER.search(_COMMAND.sub(" ", latex)))


def _equal(gold: Any, target: Any) -> bool:
    if not (_bounded(gold) and _bounded(target)):
        return bool(gold == target)
    if _differ(gold, target):
        return False
    return bool(verify([gold], [target], timeout_seconds=None, raise_on_error=True))


def _bounded(expression: Any) -> bool:
    """Whether evaluating the expression is cheap: no number of more than _DIGITS digits, no huge
    expansion, no long sum. Parsed trees are unevaluated, so nothing explodes before this look."""
    return all(_node_bounded(node) for node in _nodes(expression))


def _nodes(expression: Any) -> Iterator[Any]:
    yield from sympy.preorder_traversal(expression)


def _node_bounded(node: Any) -> bool:
    if isinstance(node, (sympy.Pow, sympy.exp)):
        return _power_bounded(node)
    if isinstance(node, (sympy.factorial, sympy.binomial, sympy.gamma, HyperbolicFunction)):
        return bool(node.args[0].free_symbols) or _magnitude(node.args[0]) <= _FACTORIAL
    if isinstance(node, (sympy.Sum, sympy.Product)):
        return _short(node)
    return True


def _power_bounded(power: Any) -> bool:
    base, exponent = power.as_base_exp() if isinstance(power, sympy.exp) else power.args
    if exponent.free_symbols:
        towers = any(isinstance(node, sympy.Pow) and node.exp.free_symbols for node in _nodes(exponent))
        return not towers and _degree(exponent) <= _EXPONENT_DEGREE
    size = _magnitude(exponent)
    if isinstance(base, sympy.Add) and exponent.is_integer:
        terms = len(base.args)
        return size * _degree(base) <= _DEGREE and math.comb(int(size) + terms - 1, terms - 1) <= _TERMS
    if base.free_symbols:
        return isinstance(base, sympy.Symbol) or size * _degree(base) <= _DEGREE
    return size * max(1.0, _log10(base)) <= _DIGITS


def _degree(expression: Any) -> float:
    """A bound on the degree of a polynomial; at least 1."""
    if isinstance(expression, sympy.Pow) and not expression.args[1].free_symbols:
        return max(1.0, _magnitude(expression.args[1])) * _degree(expression.args[0])
    degrees = [_degree(argument) for argument in expression.args]
    return max(1.0, sum(degrees) if isinstance(expression, sympy.Mul) else max(degrees, default=1.0))


def _short(total: Any) -> bool:
    """Whether a sum or product has few terms, or bounds that only algebra can know."""
    most = _FACTORS if isinstance(total, sympy.Product) else _TERMS
    for _, low, high in total.limits:
        if low.free_symbols or high.free_symbols:
            continue
        if high.is_infinite or low.is_infinite or _magnitude(high) + _magnitude(low) > most:
            return False
    return True


def _log10(expression: Any) -> float:
    """A bound on log10 of the absolute value; 0 at least."""
    if isinstance(expression, (sympy.Pow, sympy.exp)):
        base, exponent = expression.as_base_exp()
        return max(0.0, _magnitude(exponent) * _log10(base))
    if isinstance(expression, sympy.factorial):
        return _magnitude(expression.args[0]) * _log10(expression.args[0])
    if expression.is_Atom:
        return _log10_of_atom(expression)
    return float(sum(_log10(argument) + 0.31 for argument in expression.args))


def _log10_of_atom(atom: Any) -> float:
    if isinstance(atom, sympy.Rational):
        # Python's float() of a number with 400 digits overflows; its length does not.
        return max(0.0, float(abs(atom.p).bit_length() - abs(atom.q).bit_length() + 1) * math.log10(2))
    return max(0.0, math.log10(abs(float(atom)))) if atom.is_number and atom.is_finite and atom else 0.0


def _magnitude(expression: Any) -> float:
    """A bound on the absolute value of a number; infinite where it cannot be bounded cheaply."""
    size = _log10(expression)
    return 10.0**size if size < 300 else float("inf")


def _differ(gold: Any, target: Any) -> bool:
    """Whether two plain expressions certainly differ: at a sample point, by far more than rounding.

    Spares simplify, which takes most of the time for answers that are wrong.
    """
    if not (_is_plain(gold) and _is_plain(target)):
        return False
    symbols = sorted(gold.free_symbols | target.free_symbols, key=str)
    if len(symbols) > len(_POINTS):
        return False
    point = dict(zip(symbols, _POINTS, strict=False))
    try:
        one, two = complex(gold.subs(point).evalf(15)), complex(target.subs(point).evalf(15))
    except (TypeError, ValueError, ArithmeticError, AttributeError, RecursionError):
        return False
    return abs(one - two) > _FAR * max(1.0, abs(one), abs(two))


def _is_plain(expression: Any) -> bool:
    """An expression whose value at a point decides; names, percentages and functions are math-verify's."""
    return (
        isinstance(expression, sympy.Expr)
        and not isinstance(expression, sympy.Symbol)
        and expression != sympy.E
        and not expression.has(
            sympy.UnevaluatedExpr, AppliedUndef, sympy.Integral, sympy.Limit, sympy.Derivative
        )
        and not isinstance(expression, sympy.MatrixExpr)
    )
