"""Compares texts for equality after the normalisations that a task asks for."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, get_args

from genbench.errors import ConfigError, nearest
from genbench.types import Case, Finding
from genbench.verifiers.expression import read_expression
from genbench.verifiers.final_answer import final_answer
from genbench.verifiers.references import acceptable_texts

Extract = Literal["whole", "last_line", "final"]

_VERSION = "1"
_TIME_LIMIT_S = 5.0
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)


class ExactVerifier:
    """Checks whether an answer equals one of the reference's texts.

    Args:
        extract: what is compared: the "whole" answer, its "last_line", or its "final" answer (last box,
            else last announced one, else the whole).
        ignore_case, ignore_whitespace, ignore_punctuation, ignore_articles: what does not count
            (whitespace: runs count as one blank, ends are trimmed either way).
        numbers: texts that are both numbers are compared by value: 1,000 and 1000.0.

    A reference is a text or a number, or a list of acceptable ones.
    """

    def __init__(
        self,
        extract: Extract = "whole",
        *,
        ignore_case: bool = False,
        ignore_whitespace: bool = True,
        ignore_punctuation: bool = False,
        ignore_articles: bool = False,
        numbers: bool = False,
    ) -> None:
        if extract not in get_args(Extract):
            raise ConfigError(
                f"exact verifier: extract is '{extract}'{nearest(str(extract), get_args(Extract))}"
            )
        self._extract = extract
        self._ignore_case = ignore_case
        self._ignore_whitespace = ignore_whitespace
        self._ignore_punctuation = ignore_punctuation
        self._ignore_articles = ignore_articles
        self._numbers = numbers

    @property
    def version(self) -> str:
        """Return the version of the rules of normalisation."""
        return f"exact {_VERSION}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return _TIME_LIMIT_S

    def verify(self, case: Case) -> Finding:
        """Return 1 if the normalised answer is an accepted text, else 0, or "no_answer" if it is empty."""
        answer = self._normalised(self._extracted(case.answer.text))
        if not answer:
            return Finding(0.0, "no_answer")
        accepted = [self._normalised(text) for text in acceptable_texts(case.reference, "exact")]
        return Finding(float(answer in accepted), extracted=answer)

    def close(self) -> None:
        """Do nothing: the verifier has no resources."""

    def _extracted(self, text: str) -> str:
        if self._extract == "last_line":
            return next((line for line in reversed(text.splitlines()) if line.strip()), "")
        if self._extract == "final" and (found := final_answer(text, guess=False)) is not None:
            return found.text
        return text

    def _normalised(self, text: str) -> str:
        text = unicodedata.normalize("NFC", text).strip()
        if self._numbers and (number := read_expression(text).number) is not None:
            return str(number)
        if self._ignore_case:
            text = text.casefold()
        if self._ignore_punctuation:
            text = _PUNCTUATION.sub("", text)
        if self._ignore_articles:
            text = _ARTICLES.sub(" ", text)
        return re.sub(r"\s+", " ", text).strip() if self._ignore_whitespace else text
