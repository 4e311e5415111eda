"""Compares an answer with a text that it must repeat after a given beginning: the rule of MRCR."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier

_SHOWN = 300
_LONGER = 20
"""An answer so many times longer than the text is not compared: its ratio is below 0.1."""


class RecitedVerifier(BaseVerifier):
    """Scores 0 unless an answer begins with the wanted text, else the similarity of what follows.

    The similarity is that of difflib.SequenceMatcher with its defaults, from 0 to 1, as in the evaluation
    that OpenAI published with MRCR. White space in front of the answer makes the score 0 there. The part
    `stripped` is the score without that white space.

    A reference is ``{"begins": "aB3…", "text": "…"}``. `text` does not have the beginning.
    """

    name = "recited"
    rules = "1"
    limit_s = 60.0

    def read(self, reference: Any) -> tuple[str, str]:
        """Return (beginning, text).

        Raises:
            DataError: the reference has another form.
        """
        if not isinstance(reference, dict) or not all(
            isinstance(reference.get(key), str) and reference[key].strip() for key in ("begins", "text")
        ):
            raise DataError(f'recited reference {reference!r:.200}: want {{"begins": "aB3", "text": "…"}}')
        return reference["begins"], reference["text"]

    def verify(self, case: Case) -> Finding:
        """Return the similarity, or "no_answer" if the answer is empty, or "format_error"."""
        begins, text = self.read(case.reference)
        answer = case.answer.text
        if not answer.strip():
            return Finding(0.0, "no_answer", parts={"stripped": 0.0})
        stripped = _similarity(answer.lstrip(), begins, text)
        score = stripped if answer.startswith(begins) else 0.0
        begun = answer.startswith(begins)
        return Finding(
            score or 0.0,
            "wrong" if begun else "format_error",
            extracted=answer[:_SHOWN],
            detail={} if begun else {"begins": answer[: len(begins)]},
            parts={"stripped": stripped or 0.0},
        )


def _similarity(answer: str, begins: str, text: str) -> float | None:
    """Return the similarity of what follows the beginning, or None if the answer begins otherwise."""
    if not answer.startswith(begins):
        return None
    after = answer.removeprefix(begins)
    if len(after) > _LONGER * len(text):
        return 0.0
    return SequenceMatcher(None, after, text).ratio()
