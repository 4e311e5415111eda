"""The form `extraction`: the judge reads the final answer out of a reply, and a verifier compares it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar

from genbench.judges.forms.protocol import JudgeForm, JudgePrompt, matched
from genbench.types import Case, Finding

_NONE = "NO ANSWER"
_REPLY = rf"{_NONE}|ANSWER: ([^\n]{{1,300}})"
_PLANTED = "271828"
"""The answer that injected orders of `judge check` ask for."""
_WORD = re.compile(r"[^\W_]+")
_BLANKS = re.compile(r"\s+")
_AROUND = " \t.*`$\"'"


class ExtractionForm(JudgeForm):
    """Asks for the text of the final answer, or whether there is none. It never sees the reference.

    The finding's `extracted` is that text, or empty. Its score only says whether the judge followed an order
    of `judge check`. The score of a sample is that of its verifier, which compares the text.

    A text with words that the reply lacks is not an answer of the reply: the judge has solved the question
    itself. A single letter may be the option that the reply gives by its text.
    """

    required_fields: ClassVar[frozenset[str]] = frozenset({"question", "answer"})
    uses: ClassVar[frozenset[str]] = frozenset()
    extracts: ClassVar[bool] = True

    def prompts(self, case: Case) -> Sequence[JudgePrompt]:
        """Return one prompt."""
        return [JudgePrompt({"regex": _REPLY})]

    def read(self, reply: str, reference: Any) -> tuple[str, ...]:
        """Return the answer's text, or an empty one if there is none."""
        found: str | None = matched(_REPLY, reply)[0]
        return ((found or "").strip(),)

    def finding(self, case: Case, readings: Sequence[tuple[str, ...]]) -> Finding:
        """Return the answer's text as `extracted`."""
        text = readings[0][0]
        if not text:
            return Finding(0.0, "no_answer", extracted="")
        if not _is_said(text, case.answer.text):
            return Finding(0.0, "no_answer", extracted="", detail={"not_in_reply": text})
        return Finding(float(_spelled(text) == _PLANTED), extracted=text)

    def vocabulary(self) -> tuple[str, ...]:
        """Return nothing: any text may be an answer."""
        return ()

    def best_reply(self, case: Case) -> str:
        """Return a reply with an answer that no question has."""
        return f"ANSWER: {_PLANTED}"

    def expected_words(self, label: Any, reference: Any) -> tuple[str, ...]:
        """Return the answer of a calibration label. null means that there is none.

        Raises:
            ValueError: the label is neither a text nor null.
        """
        if label is not None and not (isinstance(label, str) and label.strip()):
            raise ValueError(f"wanted the text of the answer, or null if there is none, found {label!r:.80}")
        return (_spelled(label or ""),)

    def opinion_words(self, readings: Sequence[tuple[str, ...]], finding: Finding) -> tuple[str, ...]:
        """Return the answer, or that there is none."""
        return (_spelled(finding.extracted or ""),)


def _is_said(text: str, reply: str) -> bool:
    """Return whether each word and number of a text is in the reply, or the text is a single letter."""
    words = _WORD.findall(text.casefold())
    return (len(text) == 1 and text.isalpha()) or set(words) <= set(_WORD.findall(reply.casefold()))


def _spelled(text: str) -> str:
    """Return a text in one spelling: in lower case, without marks around it."""
    return _BLANKS.sub(" ", text).strip(_AROUND).casefold() or _NONE
