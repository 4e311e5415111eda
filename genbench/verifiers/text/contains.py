"""Counts how many of the wanted texts an answer contains: the rule of RULER and of needles in a haystack."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Any, Literal, get_args

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.references import acceptable_texts

Match = Literal["words", "substring"]
Need = Literal["all", "any"]

_SHOWN = 300
_CONTROL = re.compile(r"[\x00-\x1f]+")
# "a, b; c", "1. a 2. b", "a and b": how many items a model lists.
_ITEM = re.compile(r"[,;\n]|\s\d{1,3}[.)]\s|\band\b")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)+")
"""A number with marks in it: "10" is not in "10.99" or "10,500" (sierra-research/tau-bench#89)."""
_MOST_READ = 1_000_000
"""Characters of an answer that are read. RULER's longest answers have 128 tokens."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The texts that are wanted, and whether all of them are."""

    texts: tuple[str, ...]
    need: Need


class ContainsVerifier(BaseVerifier):
    """Counts the wanted texts that are in an answer. Upper and lower case are the same.

    The score is the share that is found ("all"), or 1 if any of them is found ("any"). The part `exact` is 1
    if the score is 1. The part `more` is 1 if the answer lists more items than are wanted: a model that
    repeats everything that it has read finds every wanted text.

    Args:
        match: with "words" a text must begin and end where a word or a number does: "art" is not in "start",
            and "10" is not in "10.5".
            With "substring" it may be anywhere, as in RULER's own evaluation.
        need: whether "all" texts of a reference are wanted or "any" of them.

    A reference is a text, a list of texts, or ``{"texts": [...], "need": "any"}``.
    """

    name = "contains"
    rules = "2"
    limit_s = 10.0

    def __init__(self, match: Match = "words", *, need: Need = "all") -> None:
        self.require_known("match", match, Match)
        self.require_known("need", need, Need)
        self._match, self._need = match, need

    def verify(self, case: Case) -> Finding:
        """Return the share of the wanted texts, or "no_answer" if the answer is empty."""
        wanted = self.read(case.reference)
        answer = _CONTROL.sub("\n", case.answer.text[:_MOST_READ]).strip()
        if not answer:
            return Finding(0.0, "no_answer", parts={"exact": 0.0, "more": 0.0})
        lower = answer.lower()
        inside = frozenset(
            place for number in _NUMBER.finditer(lower) for place in range(number.start() + 1, number.end())
        )
        found = [text for text in wanted.texts if self._has(lower, text.lower(), inside)]
        share = len(found) / len(wanted.texts) if wanted.need == "all" else float(bool(found))
        items = sum(1 for item in _ITEM.split(answer) if item and item.strip())
        most = len(wanted.texts) if wanted.need == "all" else 1
        return Finding(
            share,
            extracted=answer[:_SHOWN],
            detail={"found": found, "wanted": len(wanted.texts), "need": wanted.need, "items": items},
            parts={"exact": float(share == 1), "more": float(items > most)},
        )

    def _has(self, answer: str, text: str, inside: Set[int]) -> bool:
        if self._match == "substring":
            return text in answer
        at = answer.find(text)
        while at >= 0:
            end = at + len(text)
            if is_whole_word(answer, at, end) and not inside & {at, end}:
                return True
            at = answer.find(text, at + 1)
        return False

    def read(self, reference: Any) -> _Wanted:
        """Return what is wanted.

        Raises:
            DataError: it has no text, or an empty one, which every answer contains.
        """
        need: Any = self._need
        texts = reference
        if isinstance(reference, dict):
            texts, need = reference.get("texts"), reference.get("need", self._need)
        if need not in get_args(Need):
            raise DataError(f"contains reference {reference!r:.200}: need is {need!r}, wanted all or any")
        found = tuple(text.strip() for text in acceptable_texts(texts, "contains"))
        if not all(found):
            raise DataError(f"contains reference {reference!r:.200}: an empty text is in every answer")
        return _Wanted(found, need)


def is_whole_word(text: str, start: int, end: int) -> bool:
    """Return whether a stretch of a text begins and ends at the border of a word: "art" in "art." does.

    Signs have no borders: "3" is whole in "-3", and "-3" in "x-3".
    """
    before = start == 0 or not (text[start - 1].isalnum() and text[start].isalnum())
    after = end == len(text) or not (text[end - 1].isalnum() and text[end].isalnum())
    return before and after
