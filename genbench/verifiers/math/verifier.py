"""Verifies mathematical answers: numbers and spellings first, computer algebra if they decide nothing.

A reference names acceptable answers, and how far a number may be from them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import version
from typing import Any, Literal

from genbench.errors import ConfigError, DataError, nearest
from genbench.types import Answer, Case, Finding
from genbench.verifiers.base import BaseVerifier, Guess
from genbench.verifiers.extraction.final_answer import Stated, final_answer
from genbench.verifiers.math.values import TOO_LARGE, Comparison, ComparisonFailedError, Value, read_value
from genbench.verifiers.notation.numbers import Number, divides_by_zero
from genbench.verifiers.references import acceptable_texts, malformation

_KEYS = ("answer", "tolerance", "relative_tolerance")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The largest accepted distance of two numbers, absolute or relative to the reference."""

    absolute: Fraction = Fraction(0)
    relative: Fraction = Fraction(0)

    @classmethod
    def of(cls, absolute: Any, relative: Any) -> Tolerance:
        """Return a tolerance.

        Raises:
            ValueError: a value is negative or no finite number.
        """
        for name, value in (("tolerance", absolute), ("relative_tolerance", relative)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise ValueError(f"{name} is {value!r}, wanted a number from 0 on")
            if value < 0:
                raise ValueError(f"{name} is {value!r}, wanted a number from 0 on")
        # Through text, so that 0.1 is one tenth.
        return cls(Fraction(str(absolute)), Fraction(str(relative)))

    def accepts(self, reference: Number | None, answer: Number | None) -> bool:
        """Return whether both are numbers and near enough."""
        if reference is None or answer is None or not (self.absolute or self.relative):
            return False
        gap = abs(reference.value - answer.value)
        return gap <= self.absolute or gap <= self.relative * abs(reference.value)


@dataclass(frozen=True, slots=True)
class Graded:
    """The acceptable texts of a reference, and its tolerance."""

    texts: list[str]
    tolerance: Tolerance


def option_tolerance(absolute: float, relative: float) -> Tolerance:
    """Return the tolerance that a suite asks for.

    Raises:
        ConfigError: a value is negative or no finite number.
    """
    try:
        return Tolerance.of(absolute, relative)
    except ValueError as error:
        raise ConfigError(f"math verifier: {error}") from None


def read_graded(reference: Any, default: Tolerance) -> Graded:
    """Return the texts and the tolerance of a reference.

    A reference is a text, a number or a list of acceptable ones, or an object with these as `answer` and with
    a `tolerance` or a `relative_tolerance` of its own.

    Raises:
        DataError: it is none of these.
    """
    if not isinstance(reference, Mapping):
        return Graded(acceptable_texts(reference, "math"), default)
    for key in reference:
        if key not in _KEYS:
            raise DataError(f"math reference {reference!r}: unknown key '{key}'{nearest(str(key), _KEYS)}")
    if "answer" not in reference:
        raise DataError(f"math reference {reference!r}: it has no 'answer'")
    try:
        own = Tolerance.of(reference.get("tolerance") or 0, reference.get("relative_tolerance") or 0)
    except ValueError as error:
        raise DataError(f"math reference {reference!r}: {error}") from None
    given = own.absolute or own.relative
    return Graded(acceptable_texts(reference["answer"], "math"), own if given else default)


def check_text(text: str, value: Value) -> None:
    """Refuse an answer that is not mathematics.

    Raises:
        DataError: it is malformed LaTeX, or arithmetic without a value.
    """
    if (wrong := malformation(text)) is not None:
        raise DataError(f"math reference {text!r}: {wrong}; want an answer as LaTeX or plain text")
    if divides_by_zero(value.expression.key):
        raise DataError(f"math reference {text!r}: it divides by zero; want an answer with a value")


Extract = Literal["any", "boxed"]

_LIBRARIES = ("math-verify", "latex2sympy2-extended", "sympy")
_LOADING_S = 30.0
"""Added while computer algebra is still to be imported: 1.8 CPU seconds, far longer on a busy machine."""
_ANSWER_CHARS = 4_000
"""A longer "answer" is not an answer. Rewriting rules are at worst quadratic in it."""
_CACHED = 16_384
_DELIMITED = re.compile(r"(?<!\\)\$|\\boxed|\\\(|\\\[")


class MathVerifier(BaseVerifier):
    """Whether an answer's last boxed or stated value equals the reference.

    Args:
        extract: "boxed" reads boxes only, "any" every form of the protocol.
        guess: what becomes of a reply without any of these forms. "last" reads its last formula or number,
            unless it was cut off.
        tolerance, relative_tolerance: how far a number may be from a reference that is a number.
        units: whether a physical unit may follow a number in any notation, as in ``3\\cdot10^8\\frac{m}{s}``.

    A reference is LaTeX or text, a number, or a list of acceptable ones, or an object with these as `answer`
    and with a `tolerance` or `relative_tolerance` of its own.
    """

    name = "math"
    rules = "7"
    limit_s = 10.0

    def __init__(
        self,
        extract: Extract = "any",
        *,
        guess: Guess = "last",
        tolerance: float = 0.0,
        relative_tolerance: float = 0.0,
        units: bool = False,
    ) -> None:
        if str(extract) == "stated":
            raise ConfigError("math verifier: extract: stated is now guess: off; write that instead")
        self.require_known("extract", extract, Extract)
        self.require_known("guess", guess, Guess)
        if extract == "boxed" and guess == "judge":
            raise ConfigError("math verifier: extract: boxed reads boxes only; remove it, or guess: judge")
        self._extract = extract
        self._guess = guess
        self._tolerance = option_tolerance(tolerance, relative_tolerance)
        self._units = units
        self._reference = lru_cache(_CACHED)(read_reference)
        self._comparison = Comparison()

    @property
    def version(self) -> str:
        """Return the version of the rules, and those of the libraries that read and compare expressions."""
        libraries = " ".join(f"{name} {version(name)}" for name in _LIBRARIES)
        return f"math {self.rules}; {libraries}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds for one answer. The first one may also load the algebra."""
        return self.limit_s + (_LOADING_S if self._comparison.algebra is None else 0.0)

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: the reference is neither text nor a number nor a list of them, malformed LaTeX, or
                arithmetic without a value.
        """
        for text in read_graded(reference, self._tolerance).texts:
            check_text(text, self._reference(text))

    def verify(self, case: Case) -> Finding:
        """Return 1 if the answer states the value of a reference, else 0.

        The reason is "no_answer" if it states none.
        """
        graded = read_graded(case.reference, self._tolerance)
        stated = self._stated(case.answer)
        if stated is None:
            return Finding(0.0, "no_answer", detail={"read_by": "nothing"})
        return self._finding(stated, graded)

    def _finding(self, stated: Stated, graded: Graded) -> Finding:
        """Return whether a statement is one of the references."""
        references = [self._reference(text) for text in graded.texts]
        detail: dict[str, Any] = {"read_by": stated.how}
        if len(stated.text) > _ANSWER_CHARS:
            return Finding(0.0, "wrong", detail=detail | {"refused": f"{len(stated.text)} characters"})
        answer = read_value(stated.text)
        if not answer.expression.key:
            return Finding(0.0, "no_answer", detail={"read_by": "nothing"})
        if stated.withheld is not None:
            return _withheld(references, answer, stated, detail)
        comparison = self._comparison
        comparison.notes = detail
        if answer.expression.too_large:
            detail["refused"] = TOO_LARGE
        # A reference may be prose around formulas, which equals itself only.
        literal = any(_DELIMITED.search(text) and read_value(text) == answer for text in graded.texts)
        try:
            correct = literal or any(
                self._accepts(reference, answer, graded.tolerance, detail) for reference in references
            )
        except ComparisonFailedError as failure:
            return Finding(
                0.0, "verifier_error", extracted=answer.vote, detail=detail | {"why": str(failure)}
            )
        return Finding(float(correct), "wrong", extracted=answer.vote, detail=detail)

    def _accepts(self, reference: Value, answer: Value, tolerance: Tolerance, detail: dict[str, Any]) -> bool:
        if tolerance.accepts(reference.number, answer.number):
            detail["compared"] = "tolerance"
            return True
        if self._units and answer.number is not None:
            answer = replace(answer, expression=replace(answer.expression, product=None))
        return self._comparison.equal(reference, answer)

    def close(self) -> None:
        """Free the algebra."""
        self._comparison = Comparison()

    def _stated(self, answer: Answer) -> Stated | None:
        guess = self._guess == "last" and not answer.truncated
        stated = final_answer(answer.text, guess=guess)
        if stated is not None and self._extract == "boxed" and stated.how != "box":
            return None
        return stated


def read_reference(reference: str) -> Value:
    """Read a reference: bare LaTeX, or text that has it boxed or between delimiters."""
    if _DELIMITED.search(reference) and (found := final_answer(reference)) is not None:
        return read_value(found.text)
    return read_value(reference)


def _withheld(references: list[Value], answer: Value, stated: Stated, detail: dict[str, Any]) -> Finding:
    """Return the finding for a statement that commits to no value, such as "at most 204"."""
    detail["withheld"] = stated.withheld
    if stated.withheld in ("bound", "negated") and any(
        reference.expression.word is not None
        and reference.expression.key.casefold() == answer.expression.key.casefold()
        for reference in references
    ):
        return Finding(1.0, extracted=answer.vote, detail=detail)  # "not a function" may be the answer
    return Finding(0.0, "no_answer", detail=detail)
