"""Verifies benchmarks whose rows want different short answers: an option, a word, a list, brackets."""

from __future__ import annotations

import re
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.extraction.final_text import final_text
from genbench.verifiers.text.exact import ExactVerifier

_BRACKETS = re.compile(r"[\[\](){}<>]")
_ONLY_BRACKETS = re.compile(r"[\[\](){}<>\s,]+")
# "apple, banana", "apple -> banana".
_SEPARATORS = re.compile(r"[\s,;]+|\s*(?:->|→)\s*")
# "1. apple 2) banana".
_NUMBERING = re.compile(r"(?:^|(?<=\s))\d{1,3}[.)](?=\s)")
_VOTE_CHARS = 1_000


class ShortAnswerVerifier(BaseVerifier):
    """Grades each row in the way that its reference asks for.

    * ``{"letter": "C", "options": […]}`` is graded as multiple choice.
    * ``{"brackets": ") ]"}`` compares brackets and nothing else. Blanks and commas between them do not count.
    * ``{"words": "an apple"}`` compares a list of words in order. Blanks, commas and numbering may separate
      them.
    * A text, a number or a list of acceptable ones is compared without case, punctuation and blanks around
      it, and
      numbers by value.

    The answer is the last box, else the line "Answer: …" or "The answer is …", else the last line.
    """

    name = "short_answer"
    rules = "4"

    def __init__(self) -> None:
        self._choice = ChoiceVerifier()
        self._exact = ExactVerifier("stated", ignore_case=True, ignore_punctuation=True, numbers=True)

    @property
    def version(self) -> str:
        """Return the version of the rules, and those of multiple choice and of equal texts."""
        return f"short_answer {self.rules}; {self._choice.version}; {self._exact.version}"

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: it is of none of the forms.
        """
        if not isinstance(reference, dict):
            self._exact.check(reference)
        elif "letter" in reference:
            self._choice.check(reference)
        elif "brackets" in reference:
            if not _ONLY_BRACKETS.fullmatch(str(reference["brackets"])):
                raise DataError(f"short_answer reference {reference!r}: want brackets and blanks only")
        elif "words" not in reference:
            raise DataError(
                f"short_answer reference {reference!r}: want letter and options, brackets, or words"
            )

    def verify(self, case: Case) -> Finding:
        """Return 1 if the answer is the reference's, else 0, or "no_answer" if it states none."""
        reference = case.reference
        if not isinstance(reference, dict):
            return self._exact.verify(case)
        if "letter" in reference:
            return self._choice.verify(case)
        stated = final_text(case.answer.text, guess=not case.answer.truncated)
        if stated is None or stated.retracted or stated.denied:
            why = {} if stated is None else {"withheld": "retracted" if stated.retracted else "negated"}
            return Finding(0.0, "no_answer", detail=why)
        if "brackets" in reference:
            found, wanted = _brackets(stated.text), _brackets(str(reference["brackets"]))
        else:
            found, wanted = _words(stated.text), _words(str(reference["words"]))
        right = found is not None and found == wanted
        return Finding(
            float(right), extracted=(found or stated.text)[:_VOTE_CHARS], detail={"found": stated.how}
        )

    def close(self) -> None:
        """Forget the readers of earlier options."""
        self._choice.close()


def _brackets(text: str) -> str | None:
    """Return the brackets of a text, or None if it has anything else."""
    return "".join(_BRACKETS.findall(text)) if _ONLY_BRACKETS.fullmatch(text) else None


def _words(text: str) -> str:
    """Return the words of a list, in lower case and with one blank between them."""
    return " ".join(word for word in _SEPARATORS.split(_NUMBERING.sub("", text).casefold()) if word)
