"""Owns math-verify: whether two LaTeX expressions are equal, within bounds on what is evaluated."""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import Any, Literal

import sympy
from math_verify import parse, verify

from genbench.verifiers.bounds import is_bounded
from genbench.verifiers.values import values_agree

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
