"""Compares an answer with a text that it must repeat after a given beginning: the rule of MRCR."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding

_VERSION = "1"
_TIME_LIMIT_S = 60.0
_SHOWN = 300
_LONGER = 20
"""An answer so many times longer than the text is not compared: its ratio is below 0.1."""


class RecitedVerifier:
    """Scores 0 unless an answer begins with the wanted text, else the similarity of what follows.

    The similarity is that of difflib.SequenceMatcher with its defaults, from 0 to 1, as in the evaluation
    that OpenAI published with MRCR. White space in front of the answer makes the score 0 there. The part
    `stripped` is the score without that white space.

    A reference is ``{"begins": "aB3…", "text": "…"}``. `text` does not have the beginning.
    """

    @property
    def version(self) -> str:
        """Return the version of the rule."""
        return f"recited {_VERSION}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return _TIME_LIMIT_S

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: it has no beginning or no text.
        """
        _read(reference)

    def verify(self, case: Case) -> Finding:
        """Return the similarity, or "no_answer" if the answer is empty, or "format_error"."""
        begins, text = _read(case.reference)
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

    def close(self) -> None:
        """Do nothing: the verifier has no resources."""


def _similarity(answer: str, begins: str, text: str) -> float | None:
    """Return the similarity of what follows the beginning, or None if the answer begins otherwise."""
    if not answer.startswith(begins):
        return None
    after = answer.removeprefix(begins)
    if len(after) > _LONGER * len(text):
        return 0.0
    return SequenceMatcher(None, after, text).ratio()


def _read(reference: Any) -> tuple[str, str]:
    """Return (beginning, text).

    Raises:
        DataError: the reference has another form.
    """
    if not isinstance(reference, dict) or not all(
        isinstance(reference.get(key), str) and reference[key].strip() for key in ("begins", "text")
    ):
        raise DataError(f'recited reference {reference!r:.200}: want {{"begins": "aB3", "text": "…"}}')
    return reference["begins"], reference["text"]
