"""Verifies multiple choice: the option that an answer settles on, by letter or by its text."""

from __future__ import annotations

from functools import lru_cache
from string import ascii_uppercase
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.choice_reader import OptionReader

_VERSION = "5"
_TIME_LIMIT_S = 5.0


class ChoiceVerifier:
    """Tells whether the option that an answer settles on is the reference's.

    A reference is ``{"letter": "C", "options": ["…", …]}``, 2 to 26 option texts in the order in which they
    were shown. ``"also": "AD"`` names further right options. An option with the text of a right one is right.
    Boxes, "the answer is …" and "(B) is correct" are statements. The last statement wins, unless
    it is denied or taken back. Without any statement the answer counts if its last or first line is an
    option, if one of its last sentences concludes with one ("Therefore, B."), or if it speaks of one option
    only ("option B"). An answer that names several options at once is wrong. One that only denies options has
    no answer.
    """

    def __init__(self) -> None:
        self._reader = lru_cache(256)(OptionReader)

    @property
    def version(self) -> str:
        """Return the version of the rules by which options are read."""
        return f"choice {_VERSION}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return _TIME_LIMIT_S

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: it is malformed.
        """
        read_reference(reference)

    def verify(self, case: Case) -> Finding:
        """Return 1 if the answer settles on the option of the reference, else 0 or "no_answer".

        Raises:
            DataError: the reference is malformed.
        """
        accepted, options = read_reference(case.reference)
        picked = self._reader(options).pick(case.answer.text, guess=not case.answer.truncated)
        if picked is None:
            return Finding(0.0, "no_answer")
        # Votes are for an option's text: its letter changes with the order, from draw to draw.
        chosen = " / ".join(options[ascii_uppercase.index(name)] for name in picked.letters)
        detail = {"found": picked.how, "letter": picked.letters} | (
            {"hedged": True} if len(picked.letters) > 1 else {}
        )
        return Finding(float(accepts(picked.letters, accepted, options)), extracted=chosen, detail=detail)

    def close(self) -> None:
        """Forget the readers of earlier options."""
        self._reader.cache_clear()


def accepts(letters: str, accepted: str, options: tuple[str, ...]) -> bool:
    """Return whether the letters of an answer name a right option, and nothing else.

    Args:
        letters: the letters that the answer settles on. Several are right only if they are the same text.
        accepted: the letters of the right options.
    """
    right = {options[ascii_uppercase.index(letter)] for letter in accepted}
    texts = {
        options[ascii_uppercase.index(letter)]
        for letter in letters
        if letter in ascii_uppercase[: len(options)]
    }
    return len(texts) == 1 and texts <= right


def read_reference(reference: Any) -> tuple[str, tuple[str, ...]]:
    """Return (letters of the right options, option texts).

    Raises:
        DataError: There is no such letter, or there are not 2 to 26 options.
    """
    want = 'want {"letter": "C", "options": [2 to 26 texts]}'
    if not isinstance(reference, dict) or not {"letter", "options"} <= reference.keys():
        raise DataError(f"choice reference {reference!r}: {want}")
    letter, options = reference["letter"], reference["options"]
    if not isinstance(options, list | tuple) or not 2 <= len(options) <= len(ascii_uppercase):
        raise DataError(f"choice reference has options {options!r}: {want}")
    if not isinstance(letter, str) or len(letter) != 1 or letter not in ascii_uppercase[: len(options)]:
        raise DataError(f"choice reference has letter {letter!r} for {len(options)} options: {want}")
    also = reference.get("also", "")
    if not isinstance(also, str) or not set(also) <= set(ascii_uppercase[: len(options)]):
        raise DataError(f"choice reference has also {also!r} for {len(options)} options: {want}")
    return letter + also, tuple(map(str, options))
