"""Compares texts: equal, contained, or by shared words, after the normalisations that a task asks for."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, ReadBy
from genbench.verifiers.base import BaseVerifier, Guess
from genbench.verifiers.extraction.final_answer import final_answer
from genbench.verifiers.extraction.final_text import final_text
from genbench.verifiers.extraction.protocol import is_denied
from genbench.verifiers.math.expression import read_expression
from genbench.verifiers.notation.number_words import is_spoken
from genbench.verifiers.references import acceptable_texts
from genbench.verifiers.text.contains import is_whole_word

# The comma of 1,000 goes. Another sign that touches a digit is part of a number: "4.2", "-42", ".5",
# "3/4", "10:30", "√2", "4^2". Only a few signs may follow each other, so that dashes take linear time.
_PUNCTUATION = re.compile(
    r"(?<=\d),(?=\d{3}(?!\d))"
    r"|(?!(?<=\d)[^\w\s]\d)(?!(?<![\w.])[-√±∓<>≤≥≠]{0,3}\.?\d)[^\w\s]|_"
)
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_REJECTED = re.compile(r"(?:,\s?|\s)(?:not|rather than|instead of)\s[^,.;:!?\n]{1,80}$", re.IGNORECASE)
"""The end of "Paris, not Lyon"."""
_OPENING = re.compile(
    r"[\s*_\"“]{0,20}([^.!?\n*]{1,60})(?:[.!][*_\"”]*|\*\*[.!]?)\s+"
    r"(?!(?:but|however|actually|wait|hmm|or|no|not|yes|maybe|perhaps|on second)\b)\S",
    re.IGNORECASE,
)
"""A first sentence with something after it that does not turn from it."""
_SENTENCE_WORDS = 4
_MINUS = re.compile(r"[−–](?=\s?[\d.])")
"""Dashes that are typed for a minus."""
_ARTICLES = re.compile(r"\b(?:a|an|the)\b", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_NUMBER_CHARS = 4_000
"""A longer text is not a number. The rules that rewrite LaTeX are at worst quadratic in its length."""


@dataclass(frozen=True, slots=True)
class Normaliser:
    """What does not count when two texts are compared."""

    ignore_case: bool = False
    ignore_whitespace: bool = True
    ignore_punctuation: bool = False
    ignore_articles: bool = False
    ignore_accents: bool = False
    numbers: bool = False

    def normalised(self, text: str) -> str:
        """Return the one spelling of a text."""
        text = unicodedata.normalize("NFC", text).strip()
        if self.numbers and (number := _number(text)) is not None:
            return number
        if self.ignore_accents:
            parts = unicodedata.normalize("NFD", text)
            text = unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))
        if self.ignore_case:
            text = text.casefold()
        if self.ignore_punctuation:
            text = _PUNCTUATION.sub("", _MINUS.sub("-", text))
        if self.ignore_articles:
            text = _ARTICLES.sub(" ", text)
        return _BLANKS.sub(" ", text).strip() if self.ignore_whitespace else text


def _number(text: str) -> str | None:
    """Return the value of a text that is a number, perhaps with a unit. "Three Kings" is a name."""
    text = _GROUPED.sub("", text)
    if len(text) > _NUMBER_CHARS or not (any(char.isdigit() for char in text) or is_spoken(text)):
        return None
    number = read_expression(text).number
    return None if number is None else str(number)


Extract = Literal["whole", "last_line", "final", "stated"]
Match = Literal["equal", "contains", "f1"]

_LOADING_S = 30.0
"""Added for match f1, whose assignment of parts loads scipy with the first answer."""
_PARTS = 200
"""An answer in more parts than this is not an answer: its F1 would be below 0.05 for ten wanted parts."""
_SHOWN = 300
"""Characters of an answer that are kept for people and for votes."""
_DETERMINES = re.compile(
    r"\s+(?!(?:it|he|she|they|we|you|i|this|that|these|those|there|the|an?|his|her|its|their|because|since|as|and|but"
    r"|not|is|was|in|by|at|on)\b)[^\W\d_]|-[^\W\d_]",
    re.IGNORECASE,
)
"""What follows the word "no" where it answers nothing: "no politician", "no longer"."""
_NUMBER_GOES_ON_BEFORE = re.compile(r"(?:(?<!\w)[-−√±]|\d[.,/:^])$")
_NUMBER_GOES_ON_AFTER = re.compile(r"[.,/:^]\d")
_NOTHING: dict[str, Any] = {"read_by": "nothing"}
_BEFORE = 100
"""Characters before an alias that may deny or doubt it: "I do not think that it is"."""


class ExactVerifier(BaseVerifier):
    """Compares an answer with the texts of a reference.

    Args:
        extract: what is compared: the "whole" answer, its "last_line", its "final" answer as mathematics has
            it (last box, else last announced one, else the whole), or the text that it has "stated": the last
            box, else its line "Answer: …", else its last line.
        guess: what becomes of a reply without box or announcement, if it is more than one line. "last" takes
            the whole of it ("final") or its last line ("stated"), as said above.
        match: "equal"; "contains": the answer has an accepted text in it; "f1": the words that it shares with
            the best reference, from 0 to 1, by the rules of DROP's evaluator, which normalises by itself.
        ignore_case, ignore_whitespace, ignore_punctuation, ignore_articles, ignore_accents: what does not
            count (whitespace: runs count as one blank, ends are trimmed either way).
        numbers: texts that are both numbers are compared by value: 1,000 and 1000.0.
        word_borders: with "contains", an accepted text must begin and end where a word does: "art" is not in
            "party". Set it to false for languages that are written without blanks.

    A reference is a text or a number, or a list of acceptable ones. With "f1" an acceptable one may itself be
    a list: the parts of one answer. An answer gives its parts separated by semicolons.
    """

    name = "exact"
    rules = "8"

    def __init__(
        self,
        extract: Extract = "whole",
        *,
        guess: Guess = "last",
        match: Match = "equal",
        ignore_case: bool = False,
        ignore_whitespace: bool = True,
        ignore_punctuation: bool = False,
        ignore_articles: bool = False,
        ignore_accents: bool = False,
        numbers: bool = False,
        word_borders: bool = True,
    ) -> None:
        self.require_known("extract", extract, Extract)
        self.require_known("match", match, Match)
        self.require_known("guess", guess, Guess)
        if guess != "last" and extract not in ("final", "stated"):
            raise ConfigError(
                f"exact verifier: guess: {guess} goes with extract: stated or final; extract: {extract} "
                "takes a text from its place and guesses nothing"
            )
        self._extract = extract
        self._guess = guess
        self._match = match
        self._normaliser = Normaliser(
            ignore_case, ignore_whitespace, ignore_punctuation, ignore_articles, ignore_accents, numbers
        )
        self._word_borders = word_borders
        self._nothing = {"em": 0.0} if match == "f1" else {}

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return self.limit_s + (_LOADING_S if self._match == "f1" else 0.0)

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: it is neither a text nor a number nor a list of them, or an accepted text is empty once
                it is normalised, so that every answer would contain it.
        """
        if self._match == "f1":
            _references_in_parts(reference)
            return
        for text in acceptable_texts(reference, "exact"):
            if not self._normaliser.normalised(text) and self._match == "contains":
                raise DataError(f"exact reference {text!r}: nothing is left of it after normalisation")

    def verify(self, case: Case) -> Finding:
        """Return the score of the extracted answer, or "no_answer" if there is none."""
        text, detail = self._extracted(case.answer)
        if self._match != "equal":
            detail = {"match": self._match} | detail
        if text is None or not (answer := self._normaliser.normalised(text)):
            return Finding(0.0, "no_answer", detail=detail, parts=self._nothing)
        found = self._compared(text, answer, case, detail)
        # "Not Fade Away" may be an answer, and so may a text that has an alias after its denial.
        if "withheld" in detail and found.score < 1:
            return Finding(0.0, "no_answer", detail=detail, parts=self._nothing)
        return found

    def _compared(self, text: str, answer: str, case: Case, detail: dict[str, Any]) -> Finding:
        """Return the score of an answer. `answer` is its normalised text."""
        reference = case.reference
        if self._match == "f1":
            return self._shared_words(text, answer, reference, detail)
        accepted = [self._normaliser.normalised(item) for item in acceptable_texts(reference, "exact")]
        if self._match == "equal":
            readings = [answer]
            if self._extract == "stated":
                readings += map(
                    self._normaliser.normalised, shorter_readings(text, case, detail.get("read_by", ""))
                )
            # The vote is the answer as it was stated. It must not depend on the reference.
            return Finding(float(any(item in accepted for item in readings)), extracted=answer, detail=detail)
        found = next((item for item in accepted if item and self._has(answer, item)), None)
        if found is not None:
            detail["accepted"] = found[:_SHOWN]
        return Finding(float(found is not None), extracted=answer[:_SHOWN], detail=detail)

    def _extracted(self, answer: Answer) -> tuple[str | None, dict[str, Any]]:
        """Return the text to compare, or None, and what to record of how it was found."""
        text = answer.text
        if self._extract == "last_line":
            return next((line for line in reversed(text.splitlines()) if line.strip()), ""), {}
        if self._extract == "final":
            return self._final(text)
        return self._stated(answer) if self._extract == "stated" else (text, {})

    def _final(self, text: str) -> tuple[str | None, dict[str, Any]]:
        found = final_answer(text, guess=False)
        if found is not None:
            return found.text, {"read_by": found.how}
        # Without a final answer the whole reply is compared. Of several lines that is a guess.
        lines = [line for line in text.splitlines() if line.strip()]
        read_by: ReadBy = "guess" if len(lines) > 1 else "whole" if lines else "nothing"
        refused = read_by == "guess" and self._guess != "last"
        return (None, _NOTHING) if refused else (text, {"read_by": read_by})

    def _stated(self, answer: Answer) -> tuple[str | None, dict[str, Any]]:
        stated = final_text(answer.text, guess=self._guess == "last" and not answer.truncated)
        if stated is None:
            return None, _NOTHING
        detail: dict[str, Any] = {"read_by": stated.how}
        if stated.retracted:
            return None, detail | {"withheld": "retracted"}
        return stated.text, detail | ({"withheld": "negated"} if stated.denied else {})

    def _has(self, answer: str, wanted: str) -> bool:
        """Return whether the answer contains a text, other than after a denial such as "not"."""
        at = answer.find(wanted)
        while at >= 0:
            end = at + len(wanted)
            before = answer[max(0, at - _BEFORE) : at]
            denied = is_denied(before)
            whole = not self._word_borders or (
                is_whole_word(answer, at, end) and not _is_part_of_number(answer, at, end)
            )
            determines = wanted.casefold() == "no" and _DETERMINES.match(answer, end) is not None
            if whole and not denied and not determines:
                return True
            at = answer.find(wanted, end)
        return False

    def _shared_words(self, text: str, answer: str, reference: Any, detail: dict[str, Any]) -> Finding:
        references = _references_in_parts(reference)
        parts = [text]
        if any(len(wanted) > 1 for wanted in references):
            parts = [part for part in text.split(";") if part.strip()] or [text]
        if len(parts) > _PARTS:
            refused = {"refused": f"{len(parts)} parts"}
            return Finding(0.0, extracted=answer[:_SHOWN], detail=detail | refused, parts=self._nothing)
        f1, exact = overlap(parts, references)
        return Finding(f1, extracted=answer[:_SHOWN], detail=detail, parts={"em": exact})


def shorter_readings(stated: str, case: Case, how: str) -> Iterator[str]:
    """Yield what a stated answer is without what it rejects, and without its reason.

    "The answer is Paris, not Lyon." answers Paris. "**Yes.** The reason is …" answers Yes, if it states
    nothing else: its last line is then a sentence of the reason, which was taken for want of a better one.
    """
    if (rejected := _REJECTED.search(stated)) is not None:
        yield stated[: rejected.start()]
    opening = _OPENING.match(case.answer.text)
    last = case.answer.text.rstrip().rpartition("\n")[2]
    if how in ("whole", "guess") and opening is not None and len(last.split()) >= _SENTENCE_WORDS:
        yield opening[1]


def _is_part_of_number(answer: str, at: int, end: int) -> bool:
    """Return whether a number is within another one: 42 in "-42", "4.42" or "42.5", but not in "1939-42"."""
    before, after = answer[max(0, at - 2) : at], answer[end : end + 2]
    if answer[at].isdigit() and _NUMBER_GOES_ON_BEFORE.search(before):
        return True
    return answer[end - 1].isdigit() and _NUMBER_GOES_ON_AFTER.match(after) is not None


def _references_in_parts(reference: Any) -> list[list[str]]:
    """Return every acceptable answer as the list of its parts.

    Raises:
        DataError: the reference is not a text, number, or list of texts or of lists of texts.
    """
    items: Sequence[Any] = reference if isinstance(reference, list | tuple) else [reference]
    if not items:
        raise DataError(f"exact reference {reference!r}: want at least one accepted answer")
    found: list[list[str]] = []
    for item in items:
        parts = acceptable_texts(item, "exact")
        split = [piece for part in parts for piece in part.split(";")] if len(parts) > 1 else parts
        found.append([piece for piece in split if piece.strip()] or parts)
    return found


_SPLIT = re.compile(r"[ \-]")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)

Bag = frozenset[str]


def overlap(answer: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Return the best F1 and the best exact match, in [0, 1], over the references. Each is given in parts.

    F1 is rounded to two digits, as the official evaluator does for each question.
    """
    given = [normalised(part) for part in answer]
    found = [_against(given, [normalised(part) for part in parts]) for parts in references]
    return max(f1 for f1, _ in found), max(exact for _, exact in found)


def normalised(text: str) -> str:
    """Return a text in lower case, without punctuation and articles, and with numbers as decimals."""
    words: list[str] = []
    for token in _SPLIT.split(text.lower()):
        word = token if _is_number(token) else token.translate(_NO_PUNCTUATION)
        word = str(float(word)) if _is_number(word) else word
        words += _ARTICLES.sub(" ", word).split()
    return " ".join(words)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _against(given: Sequence[str], wanted: Sequence[str]) -> tuple[float, float]:
    # Only match f1 needs them, and they take seconds to load on a busy machine.
    import numpy as np  # noqa: PLC0415
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    exact = float(len(given) == len(wanted) and set(given) == set(wanted))
    bags = [frozenset(part.split()) for part in given]
    table = np.array([[_f1(bag, frozenset(other.split())) for bag in bags] for other in wanted])
    places = linear_sum_assignment(table, maximize=True)
    mean = float(table[places].sum()) / max(len(given), len(wanted))
    return round(mean, 2), exact


def _f1(given: Bag, wanted: Bag) -> float:
    """Return the F1 of two sets of words, or 0 if the wanted ones have numbers and share none."""
    numbers = {word for word in wanted if _is_number(word)}
    if numbers and not numbers & given:
        return 0.0
    shared = len(given & wanted)
    precision = shared / len(given) if given else 1.0
    recall = shared / len(wanted) if wanted else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
