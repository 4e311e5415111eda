"""Verifies what a published extraction reads: a letter or the last number of a response.

For runs in the protocol of harnesses whose published scores rest on these extractions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from string import ascii_uppercase
from types import MappingProxyType
from typing import Any

from genbench.errors import ConfigError, DataError, nearest
from genbench.types import Case, Finding, ReadBy
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.choice.verifier import accepts, read_reference

_NUMBER = re.compile(r"\d++\.?+\d*+")
_VOTE_CHARS = 300


class LastNumberVerifier(BaseVerifier):
    """Compares the last number after the last occurrence of a prefix with the reference, as text.

    This is how simple-evals scores MGSM (mgsm_eval.py). Commas are dropped, a sign is not read, trailing
    zeros of a decimal do not count. A response without the prefix, or without a number after it, is
    `no_answer`.

    A reference is ``{"number": "18", "prefix": "Answer"}``. An empty prefix means the whole response.
    """

    name = "last_number"
    rules = "1"

    def read(self, reference: Any) -> tuple[str, str]:
        """Return (number, prefix).

        Raises:
            DataError: the reference has no number or no prefix.
        """
        if not isinstance(reference, dict) or not {"number", "prefix"} <= reference.keys():
            raise DataError(
                f'last_number reference {reference!r}: want {{"number": "18", "prefix": "Answer"}}'
            )
        number = str(reference["number"]).replace(",", "").strip()
        if not re.fullmatch(r"\d+(?:\.\d+)?", number):
            raise DataError(
                f"last_number reference {reference!r}: the number is {number!r}, wanted digits without a sign"
            )
        return number, str(reference["prefix"])

    def verify(self, case: Case) -> Finding:
        """Return 1 if the number is the reference's, else 0, or "no_answer" if there is none."""
        wanted, prefix = self.read(case.reference)
        _, found, after = case.answer.text.rpartition(prefix) if prefix else ("", "", case.answer.text)
        numbers = _NUMBER.findall(after.replace(",", "")) if found or not prefix else []
        if not numbers:
            return Finding(0.0, "no_answer", detail={"read_by": "nothing", "prefix": prefix})
        number = _plain(numbers[-1])
        detail = {"read_by": "label" if prefix else "guess", "prefix": prefix}
        return Finding(float(number == _plain(wanted)), extracted=number[:_VOTE_CHARS], detail=detail)


def _plain(number: str) -> str:
    """Return a number without trailing zeros after its point."""
    return number.rstrip("0").rstrip(".") if "." in number else number


# The first step of MMLU-Pro's evaluator: "The answer is (C)".
_ANSWER_IS = re.compile(r"answer is \(?([A-J])\)?")
_ANSWER_COLON = re.compile(r"[aA]nswer:(?=\s*([A-J]))")
_SINGLE_LETTER = re.compile(r"\b[A-J]\b")
_SIMPLE_EVALS = re.compile(r"Answer[ \t]*:[ \t]*\$?([A-D])\$?", re.IGNORECASE)

Reading = tuple[str, ReadBy] | None
"""The letter, and how the step that found it reads. None if no step found one."""


def mmlu_pro(text: str) -> Reading:
    """Return the letter that the three steps of MMLU-Pro's evaluator read, in time linear in the text.

    The official code draws a random option if no step finds a letter (evaluate_from_local.py). Here such an
    answer has no letter.
    """
    first = _ANSWER_IS.search(text)
    if first is not None:
        return first[1], "announcement"
    return _after_colon(text) or _last_single(text)


def lm_eval(text: str) -> Reading:
    """Return the letter that lm-evaluation-harness reads: the first step of MMLU-Pro's evaluator."""
    first = _ANSWER_IS.search(text)
    return None if first is None else (first[1], "announcement")


def simple_evals(text: str) -> Reading:
    """Return the letter that simple-evals reads: the first "Answer: X" in any case (common.py)."""
    first = _SIMPLE_EVALS.search(text)
    return None if first is None else (first[1].upper(), "label")


def _after_colon(text: str) -> Reading:
    """Return the letter of `.*[aA]nswer:\\s*([A-J])`: the last one of the first line that has one."""
    found, line_end = None, -1
    for match in _ANSWER_COLON.finditer(text):
        if found is not None and match.start() > line_end:
            break
        if found is None:
            line_end = text.find("\n", match.start())
            line_end = len(text) if line_end < 0 else line_end
        found = match[1]
    return None if found is None else (found, "label")


def _last_single(text: str) -> Reading:
    found = None
    for match in _SINGLE_LETTER.finditer(text):
        found = match[0]
    return None if found is None else (found, "guess")


RULES: Mapping[str, Callable[[str], Reading]] = MappingProxyType(
    {"mmlu-pro": mmlu_pro, "lm-eval": lm_eval, "simple-evals": simple_evals}
)
"""The extraction of each protocol, by its name."""


class LetterVerifier(BaseVerifier):
    """Tells whether the letter that a published extraction reads is the reference's.

    References are those of the choice verifier. An answer without a letter is wrong, with the status
    "no_answer": nothing is drawn at random. The part "with_guess" is what a random option would score on
    average, for comparison with numbers that count one.
    """

    name = "letters"
    rules = "1"

    def __init__(self, rule: str) -> None:
        if rule not in RULES:
            raise ConfigError(f"verifier letters: unknown rule '{rule}'{nearest(rule, RULES)}")
        self._rule = rule

    @property
    def version(self) -> str:
        """Return the version of the extraction, with its name."""
        return f"letters {self.rules} ({self._rule})"

    def read(self, reference: Any) -> tuple[str, tuple[str, ...]]:
        """Return (letters of the right options, option texts), as the choice verifier does."""
        return read_reference(reference)

    def verify(self, case: Case) -> Finding:
        """Return 1 if the letter is the reference's, else 0 or "no_answer".

        Raises:
            DataError: the reference is malformed.
        """
        accepted, options = self.read(case.reference)
        found = RULES[self._rule](case.answer.text)
        if found is None:
            parts = {"with_guess": len(accepted) / len(options)}
            return Finding(0.0, "no_answer", detail={"read_by": "nothing"}, parts=parts)
        letter, read_by = found
        score = float(accepts(letter, accepted, options))
        shown = ascii_uppercase[: len(options)]
        extracted = options[shown.index(letter)] if letter in shown else letter
        detail = {"read_by": read_by, "letter": letter}
        return Finding(score, extracted=extracted, detail=detail, parts={"with_guess": score})

    def close(self) -> None:
        """Release nothing. The verifier opens nothing."""
