"""Verifies mathematical answers: numbers and spellings first, computer algebra if they decide nothing.

A reference names acceptable answers, and how far a number may be from them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from genbench.errors import ConfigError, DataError, asking_for_extras, nearest
from genbench.types import Answer, Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.extraction.final_answer import Stated, final_answer
from genbench.verifiers.extraction.statements import is_phrase, value_in_phrase, words_of
from genbench.verifiers.math.comparison import decide, refuted
from genbench.verifiers.math.expression import Expression, is_delimited, read_expression, read_reference
from genbench.verifiers.notation.latex import list_both_signs
from genbench.verifiers.notation.numbers import Number, divides_by_zero, numbers_equal
from genbench.verifiers.references import acceptable_texts, malformation

if TYPE_CHECKING:
    from genbench.verifiers.math.algebra import Equivalence


_CHARS = 200
"""A longer text is no number with a unit."""
# "3e8", "3.0 \cdot 10^8", "1,234".
_NUMBER = re.compile(
    r"(?P<number>[+-]?\s*(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3}"
    r"|\s*(?:\\cdot|\\times|\*|×)\s*10\s*\^\s*(?:\{\s*[+-]?\d{1,3}\s*\}|[+-]?\d{1,3}))?)(?P<unit>.*)",
    re.DOTALL,
)
_PREFIX = r"(?:[numkMGTcd]|\\mu\s*|µ|μ)?"
_SYMBOLS = (
    r"(?:m|g|s|A|K|mol|cd|Hz|N|Pa|J|W|C|V|F|T|H|eV|pc|L|l|bar|cal)",
    r"(?:ergs?|dyn(?:es?)?|atm|torr|AU|ly|yr|years?|days?|hours?|hrs?|h|min(?:utes?)?|sec(?:onds?)?|met(?:er|re)s?|"
    r"grams?|kelvins?|joules?|watts?|volts?|newtons?|amperes?|moles?|rad(?:ians?)?|sr|deg(?:rees?)?|arcsec(?:onds?)?|"
    r"arcmin(?:utes?)?|angstroms?|atoms?|electrons?|photons?|ions?|Ohms?|ohms?|bits?|bytes?|dollars?|units?)",
    r"(?:\\AA|\\Omega|Ω|Å|\\ell|\\degree|\\circ|°|\\%|%|\\(?:mathring|dot)\{A\}|[ML]_\{?\\odot\}?|[ML]_\{?☉\}?)",
)
_SYMBOL = rf"(?:{_PREFIX}{_SYMBOLS[0]}(?![A-Za-z])|{_SYMBOLS[1]}(?![A-Za-z])|{_SYMBOLS[2]})"
_POWER = r"(?:\s*\^\s*(?:\{\s*-?\d\s*\}|-?\d))?"
_FACTOR = rf"(?:{_SYMBOL}{_POWER})"
_PRODUCT = rf"{_FACTOR}(?:(?:\s*(?:\\cdot|\\times|\*|·|/|\bper\b)\s*|\s+){_FACTOR})*+"
_QUOTIENT = rf"\\frac\s*\{{\s*(?:{_PRODUCT}|1)\s*\}}\s*\{{\s*{_PRODUCT}\s*\}}"
_PART = rf"(?:{_QUOTIENT}|(?:1\s*)?/?\s*{_PRODUCT})"
# "m/s^2", "\frac{m}{s}", "kg \cdot m", "1/s", "(km per hour)".
_UNIT = rf"\s*(?:\\?[,;]\s*)?\(?\[?\s*{_PART}(?:\s*(?:\\cdot\s*)?{_PART})?\s*\]?\)?\s*\.?\s*"
"""Compiled when it is first asked for: few tasks ask for units, and compiling it takes 15 ms."""
_WRAPPER = re.compile(r"\\(?:text|mathrm|mbox|textrm|rm|operatorname)\s*\{([^{}]*)\}")
_SPACING = re.compile(r"\\[,;:! ]|~|\\q?quad")


def without_unit(latex: str) -> str | None:
    """Return the number of a text that is a number and a physical unit, or None if it is anything else."""
    if len(latex) > _CHARS:
        return None
    text = _SPACING.sub(" ", _WRAPPER.sub(r" \1 ", latex)).strip()
    match = _NUMBER.fullmatch(text)
    if match is None or not match["unit"].strip():
        return None
    return match["number"].strip() if re.fullmatch(_UNIT, match["unit"]) else None


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


def check_text(text: str, expression: Expression) -> None:
    """Refuse an answer that is no mathematics.

    Raises:
        DataError: it is malformed LaTeX, or arithmetic without a value.
    """
    if (wrong := malformation(text)) is not None:
        raise DataError(f"math reference {text!r}: {wrong}; want an answer as LaTeX or plain text")
    if divides_by_zero(expression.key):
        raise DataError(f"math reference {text!r}: it divides by zero; want an answer with a value")


def near_number(
    references: Sequence[Expression], answer: Expression, tolerance: Tolerance, *, units: bool
) -> dict[str, str]:
    """Return how an answer is a number near enough to a reference, for people, or nothing if it is not.

    Args:
        units: whether a physical unit after the answer's number is dropped.
    """
    bare = without_unit(answer.latex) if units and answer.number is None else None
    number = answer.number if bare is None else read_expression(bare).number
    found = {} if bare is None else {"without_unit": bare}
    for reference in references:
        if tolerance.accepts(reference.number, number):
            return found | {"compared": "tolerance"}
        if bare is not None and reference.number and number and numbers_equal(reference.number, number):
            return found
    return {}


Extract = Literal["boxed", "stated", "any"]

_LIBRARIES = ("math-verify", "latex2sympy2-extended", "sympy")
_LOADING_S = 30.0
"""Added while computer algebra is still to be imported: 1.8 CPU seconds, far longer on a busy machine."""
_ALGEBRA_CHARS = 1_500
"""Longest expression given to computer algebra. The longest answer of MATH-500 has 60 characters."""
_ALGEBRA_LEVELS = 30
"""Deepest nesting of braces given to computer algebra."""
_HUGE = r"[^{}]*(?:\d{5}|\^|!)"
_EAGER = re.compile(
    rf"binom\s*(?:\{{[^{{}}]*\}}\s*)?\{{{_HUGE}|\{{{_HUGE}[^{{}}]*\\choose|\\choose{_HUGE}|(?:gcd|lcm)[^=]*[\^!]"
)
"""What latex2sympy2-extended 1.11.0 evaluates while it parses, with arguments that explode."""
_UNFIT = "too long, deep or large for computer algebra, or brackets left open"
_TOO_LARGE = "too many digits"
_ANSWER_CHARS = 4_000
"""A longer "answer" is no answer. Rewriting rules are at worst quadratic in it."""
_CACHED = 16_384
_ANSWERS = 4_096
"""Answers remembered: the samples of a problem repeat theirs."""


class MathVerifier(BaseVerifier):
    """Whether an answer's last boxed or stated value equals the reference.

    Args:
        extract: "boxed" reads boxes only; "stated" also "the answer is …" and a text that is nothing
            but an answer; "any" also the last formula or number of an answer that was not cut off.

        tolerance, relative_tolerance: how far a number may be from a reference that is a number.
        units: whether a physical unit may follow a number in any notation, as in ``3\\cdot10^8\\frac{m}{s}``.

    A reference is LaTeX or text, a number, or a list of acceptable ones, or an object with these as `answer`
    and with a `tolerance` or `relative_tolerance` of its own.
    """

    name = "math"
    rules = "6"
    limit_s = 10.0

    def __init__(
        self,
        extract: Extract = "any",
        *,
        tolerance: float = 0.0,
        relative_tolerance: float = 0.0,
        units: bool = False,
    ) -> None:
        self.require_known("extract", extract, Extract)
        self._extract = extract
        self._tolerance = option_tolerance(tolerance, relative_tolerance)
        self._units = units
        self._reference = lru_cache(_CACHED)(read_reference)
        self._literal = lru_cache(_CACHED)(_literally)
        self._answer = lru_cache(_ANSWERS)(read_expression)
        self._algebra: Equivalence | None = None

    @property
    def version(self) -> str:
        """Return the version of the rules, and those of the libraries that read and compare expressions."""
        libraries = " ".join(f"{name} {version(name)}" for name in _LIBRARIES)
        return f"math {self.rules}; {libraries}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds for one answer. The first one may also load the algebra."""
        return self.limit_s + (_LOADING_S if self._algebra is None else 0.0)

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
            return Finding(0.0, "no_answer")
        return self._finding(stated, graded)

    def _finding(self, stated: Stated, graded: Graded) -> Finding:
        """Return whether a statement is one of the references."""
        references = [self._reference(text) for text in graded.texts]
        detail: dict[str, Any] = {"found": stated.how}
        if len(stated.text) > _ANSWER_CHARS:
            return Finding(0.0, "wrong", detail=detail | {"refused": f"{len(stated.text)} characters"})
        answer = self._answer(stated.text)
        if not answer.key:
            return Finding(0.0, "no_answer")
        if stated.withheld is not None:
            return _withheld(references, answer, stated, detail)
        # A reference may be prose around formulas, which no comparison of values understands.
        literal = any(answer == self._literal(text) for text in graded.texts)
        near = near_number(references, answer, graded.tolerance, units=self._units)
        detail |= near
        try:
            correct = bool(literal or near) or self._states_any(references, answer, detail)
        except _ComparisonFailedError as failure:
            return _failed(answer, detail | {"why": str(failure)})
        return Finding(float(correct), "wrong", extracted=answer.vote, detail=detail)

    def close(self) -> None:
        """Free the algebra."""
        self._algebra = None

    def _stated(self, answer: Answer) -> Stated | None:
        guess = self._extract == "any" and not answer.truncated
        stated = final_answer(answer.text, guess=guess)
        if stated is not None and self._extract == "boxed" and stated.how != "boxed":
            return None
        return stated

    def _states_any(self, references: list[Expression], answer: Expression, detail: dict[str, Any]) -> bool:
        """Return whether the answer states one of the references."""
        if (
            answer.number is None
            and answer.gaussian is None
            and answer.word is None
            and answer.based is None
            and is_phrase(answer.latex)
        ):
            return self._phrase_states_any(references, answer, detail)
        if answer.too_large:
            detail["refused"] = _TOO_LARGE
        return any(self._equal(reference, answer, detail) for reference in references)

    def _phrase_states_any(
        self, references: list[Expression], answer: Expression, detail: dict[str, Any]
    ) -> bool:
        """Return whether a phrase is a reference, or has one as its only value."""
        if any(_same_words(reference, answer) for reference in references):
            return True
        value = value_in_phrase(answer.latex)
        if value is None:
            # Algebra drops words, so they must be the reference's: ``k\\pi, \\text{ where } k …``.
            alike = [
                reference for reference in references if words_of(reference.latex) == words_of(answer.latex)
            ]
            return any(self._equal(reference, answer, detail) for reference in alike)
        if value.withheld is not None:
            detail["withheld"] = value.withheld
            return False
        inner = read_expression(value.text)
        return any(self._equal(reference, inner, detail) for reference in references)

    def _equal(self, reference: Expression, answer: Expression, detail: dict[str, Any]) -> bool:
        decided = decide(reference, answer)
        if isinstance(decided, bool):
            return decided
        reference, answer = decided
        if refuted(reference.sample, answer.sample):
            return False
        if not _fit_for_algebra(answer.latex):
            detail["refused"] = _UNFIT
            return False
        return self._compare(reference, answer, detail)

    def _compare(self, reference: Expression, answer: Expression, detail: dict[str, Any]) -> bool:
        """Ask computer algebra, and note in `detail` what it could not do."""
        detail["compared"] = "algebra"
        if self._algebra is None:
            # A worker that sees only numbers is spared the import.
            with asking_for_extras():
                from genbench.verifiers.math.algebra import Equivalence  # noqa: PLC0415  seconds of SymPy
            self._algebra = Equivalence()
        try:
            outcome = self._algebra.compare(list_both_signs(reference.latex), list_both_signs(answer.latex))
        except MemoryError:
            raise
        except Exception as error:  # our own comparison failed: never a wrong answer
            raise _ComparisonFailedError(
                f"comparing {answer.latex[:200]!r} with {reference.latex[:200]!r}: {error}"
            ) from error
        if outcome == "refused":
            detail["refused"] = _TOO_LARGE
        elif outcome == "unreadable":
            detail["unreadable"] = answer.latex[:200]
        return outcome == "equal"


def _failed(answer: Expression, detail: dict[str, Any]) -> Finding:
    return Finding(0.0, "verifier_error", extracted=answer.vote, detail=detail)


class _ComparisonFailedError(Exception):
    """Our own comparison failed on an answer that can be read."""


def _literally(reference: str) -> Expression | None:
    """Return prose around formulas as one expression, or None for a reference without delimiters."""
    return read_expression(reference) if is_delimited(reference) else None


def _same_words(reference: Expression, answer: Expression) -> bool:
    return reference.key.casefold() == answer.key.casefold()


def _withheld(
    references: list[Expression], answer: Expression, stated: Stated, detail: dict[str, Any]
) -> Finding:
    """Return the finding for a statement that commits to no value, such as "at most 204"."""
    detail["withheld"] = stated.withheld
    if stated.withheld in ("bound", "negated") and any(
        reference.word is not None and _same_words(reference, answer) for reference in references
    ):
        return Finding(1.0, extracted=answer.vote, detail=detail)  # "not a function" may be the answer
    return Finding(0.0, "no_answer", detail=detail)


def _fit_for_algebra(latex: str) -> bool:
    """Return whether an answer is short, shallow, balanced and free of what explodes while it is parsed."""
    if len(latex) > _ALGEBRA_CHARS or _EAGER.search(latex):
        return False
    depth = 0
    for char in latex:
        depth += (char in "{([") - (char in "})]")
        if not 0 <= depth <= _ALGEBRA_LEVELS:
            return False
    return depth == 0
