"""Verifies mathematical answers: numbers and spellings first, computer algebra where they decide nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, get_args

from genbench.errors import ConfigError, nearest
from genbench.registry import load_object
from genbench.types import Answer, Case, Finding
from genbench.verifiers.expression import Expression, decide, read_expression, read_reference
from genbench.verifiers.final_answer import Stated, final_answer
from genbench.verifiers.latex import list_both_signs
from genbench.verifiers.references import acceptable_texts
from genbench.verifiers.sampling import refuted

if TYPE_CHECKING:
    from genbench.verifiers.equivalence import Equivalence

Extract = Literal["boxed", "stated", "any"]

_VERSION = "1"
_LIBRARIES = ("math-verify", "latex2sympy2-extended", "sympy")
_TIME_LIMIT_S = 10.0
_LOADING_S = 30.0
"""More while computer algebra is still to be imported: 1.8 CPU seconds, far longer on a busy machine."""
_ALGEBRA = "genbench.verifiers.equivalence:Equivalence"
_ALGEBRA_CHARS = 1_500
"""Longest expression given to computer algebra; the longest answer of MATH-500 has 60 characters."""
_ALGEBRA_LEVELS = 30
"""Deepest nesting of braces given to computer algebra."""
_HUGE = r"[^{}]*(?:\d{5}|\^|!)"
_EAGER = re.compile(
    rf"binom\s*(?:\{{[^{{}}]*\}}\s*)?\{{{_HUGE}|\{{{_HUGE}[^{{}}]*\\choose|\\choose{_HUGE}|(?:gcd|lcm)[^=]*[\^!]"
)
"""What latex2sympy2-extended 1.11.0 evaluates while it parses, with arguments that explode."""
_ANSWER_CHARS = 4_000
"""A longer "answer" is no answer; rewriting rules are at worst quadratic in it."""
_CACHED = 16_384


class MathVerifier:
    """Whether an answer's last boxed or stated value equals the reference.

    Args:
        extract: "boxed" reads boxes alone; "stated" also "the answer is …" and a text that is nothing
            but an answer; "any" also the last formula or number of an answer that was not cut off.

    A reference is LaTeX or text, a number, or a list of acceptable ones.
    """

    def __init__(self, extract: Extract = "any") -> None:
        if extract not in get_args(Extract):
            raise ConfigError(
                f"math verifier: extract is '{extract}'{nearest(str(extract), get_args(Extract))}"
            )
        self._extract = extract
        self._reference = lru_cache(_CACHED)(read_reference)
        self._algebra: Equivalence | None = None

    @property
    def version(self) -> str:
        libraries = " ".join(f"{name} {version(name)}" for name in _LIBRARIES)
        return f"math {_VERSION}; {libraries}"

    def time_limit_s(self, case: Case) -> float:
        return _TIME_LIMIT_S + (_LOADING_S if self._algebra is None else 0.0)

    def verify(self, case: Case) -> Finding:
        references = [self._reference(text) for text in acceptable_texts(case.reference, "math")]
        stated = self._stated(case.answer)
        if stated is None:
            return Finding(0.0, "no_answer")
        detail: dict[str, Any] = {"found": stated.how}
        if len(stated.text) > _ANSWER_CHARS:
            return Finding(0.0, "wrong", detail=detail | {"refused": f"{len(stated.text)} characters"})
        if not (answer := read_expression(stated.text)).key:
            return Finding(0.0, "no_answer")
        for reference in references:
            if self._equal(reference, answer, detail):
                return Finding(1.0, extracted=answer.vote, detail=detail)
        return Finding(0.0, "wrong", extracted=answer.vote, detail=detail)

    def close(self) -> None:
        self._algebra = None

    def _stated(self, answer: Answer) -> Stated | None:
        guess = self._extract == "any" and not answer.truncated
        stated = final_answer(answer.text, guess=guess)
        if stated is not None and self._extract == "boxed" and stated.how != "boxed":
            return None
        return stated

    def _equal(self, reference: Expression, answer: Expression, detail: dict[str, Any]) -> bool:
        decided = decide(reference, answer)
        if decided is not None:
            return decided
        if refuted(reference.latex, answer.latex):
            return False
        if not _fit_for_algebra(answer.latex):
            detail["refused"] = "too long, deep or large for computer algebra, or brackets left open"
            return False
        detail["compared"] = "algebra"
        if self._algebra is None:
            # A worker that sees only numbers is spared the import.
            self._algebra = load_object(_ALGEBRA)()
        try:
            return self._algebra.equal(list_both_signs(reference.latex), list_both_signs(answer.latex))
        except MemoryError:
            raise
        except Exception as error:  # sympy on whatever a model wrote: not comparable is not equal
            detail["algebra_failed"] = type(error).__name__
            return False


def _fit_for_algebra(latex: str) -> bool:
    """Whether an answer is short, shallow, balanced and free of what explodes while it is parsed."""
    if len(latex) > _ALGEBRA_CHARS or _EAGER.search(latex):
        return False
    depth = 0
    for char in latex:
        depth += (char in "{([") - (char in "})]")
        if not 0 <= depth <= _ALGEBRA_LEVELS:
            return False
    return depth == 0
