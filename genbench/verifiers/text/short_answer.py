"""Verifies benchmarks whose rows want different short answers: an option, a word, a list, brackets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.extraction.final_text import final_text
from genbench.verifiers.language.commitment import doubts_value, is_denied
from genbench.verifiers.language.retraction import without_strikethrough
from genbench.verifiers.math.expression import read_expression
from genbench.verifiers.notation.numbers import Number, numbers_equal
from genbench.verifiers.references import acceptable_texts
from genbench.verifiers.text.contains import is_whole_word
from genbench.verifiers.text.exact import ExactVerifier

_BRACKETS = re.compile(r"[\[\](){}<>]")
_ONLY_BRACKETS = re.compile(r"[\[\](){}<>\s,]+")
# "apple, banana", "apple -> banana".
_SEPARATORS = re.compile(r"[\s,;]+|\s*(?:->|→)\s*")
# "1. apple 2) banana".
_NUMBERING = re.compile(r"(?:^|(?<=\s))\d{1,3}[.)](?=\s)")
_VOTE_CHARS = 1_000
_NUMBER_CHARS = 200
"""A longer text is read for words, not as a number."""


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


# Reading an answer for its content, whatever its form. No score comes from it: it explains a drop.

_READ_CHARS = 20_000
_WHOLE_WORDS = 60
"""A longer answer may mention anything. Only what it states and its first and last line are read."""
_PIECE = re.compile(r"\w+(?:[.,:/'’+-]\w+)*|[^\w\s]", re.UNICODE)
_NUMBER_TOKEN = re.compile(r"(?<![\w.,])[-−]?\d[\d,\u202f\u00a0]*(?:\.\d+)?(?:/\d+)?%?(?![\w])")
_COPULA = re.compile(
    r"(?:\b(?:is|are|was|be|say|says|choose|chose|pick|answer|result|equals?|get|ist|lautet|est|es|是)|[:=：>→])"
    r"[\s\"'“‘`*_$([{<]*$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|never|nor|neither|without|except|unlike|rather than|instead of|isn't|aren't|wasn't|cannot|"
    r"can't|don't|doesn't|won't|unsure|unknown|unclear|wrong|incorrect|false that|if|whether|"
    r"maybe|perhaps|might|either|or)\b",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:but|however|although|though|yet|actually|wait|instead|not|wrong|incorrect|or)\b", re.IGNORECASE
)
_LONG = 4
"""Characters from which on a text in a sentence is more than a word that is there by chance."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer is read for: the acceptable texts of its reference.

    `letter` is the letter of the option if the reference is one of several options.
    """

    texts: tuple[str, ...]
    letter: str | None = None
    others: tuple[str, ...] = ()
    """The texts of the other options."""

    @classmethod
    def of(cls, reference: Any) -> Wanted | None:
        """Return what a reference asks for, or None if it is neither a text, a number nor an option."""
        if isinstance(reference, dict):
            letter, options = reference.get("letter"), reference.get("options")
            if isinstance(letter, str) and isinstance(options, list) and len(letter) == 1:
                place = ord(letter.upper()) - ord("A")
                if 0 <= place < len(options):
                    others = tuple(str(text) for at, text in enumerate(options) if at != place)
                    return cls((str(options[place]),), letter.upper(), others)
            reference = reference.get("answer", reference.get("texts"))
        try:
            texts = acceptable_texts(reference, "short_answer")
        except DataError:
            return None
        known = tuple(text for text in texts if text.strip() and len(text) <= _VOTE_CHARS)
        return cls(known) if known else None


class ContentReader:
    """Tells whether a wrong answer gives the content of its reference in another form.

    "The city is Oslo." gives "Oslo", "12 apples" gives 12, and "(b)" gives the option B. A mere mention does
    not: what is denied, doubted or one of several, and what is next to the answer of another problem.

    Args:
        rivals: the acceptable texts of the task's problems. An answer with one of these, other than its own,
            settles on nothing.
    """

    def __init__(self, rivals: Iterable[str]) -> None:
        self._rivals = {key for text in rivals if (key := _key(text))}
        self._longest = min(8, max((len(key.split()) for key in self._rivals), default=1))

    def gives(self, text: str, wanted: Wanted, asked: str = "") -> bool:
        """Return whether a text gives what is wanted.

        Args:
            asked: the prompt. A text that it contains is there by chance unless the answer states it.
        """
        text = without_strikethrough(text[-_READ_CHARS:]).strip()
        stated = final_text(text) if text else None
        if stated is None or stated.retracted or stated.denied:
            return False
        if wanted.letter is not None and self._picks(text, wanted):
            return True
        lines = [line for line in text.splitlines() if _key(line)]
        near = [stated.text, *lines[:1], *lines[-1:]]
        if len(text.split()) <= _WHOLE_WORDS:
            near.append(text)
        asked_key = f" {_key(asked)} "
        return any(self._says(part, item, wanted, asked_key) for part in near for item in wanted.texts)

    @staticmethod
    def _picks(text: str, wanted: Wanted) -> bool:
        """Return whether a text names the option by its letter, in either case and between any marks."""
        bare = re.fullmatch(
            r"[\W_]*(?:(?:option|choice|answer|letter)\W+(?:is\W+)?)?([A-Za-z])[\W_]*", text, re.IGNORECASE
        )
        return bare is not None and bare[1].upper() == wanted.letter

    def _says(self, part: str, item: str, wanted: Wanted, asked: str) -> bool:
        number = _number(item) if len(item) <= _NUMBER_CHARS else None
        if number is not None:
            return _states_number(part, number)
        key, words = _key(item), _key(part)
        if not key or not words:
            return False
        if key == words:
            return True
        return self._names(part, item, wanted) and (self._is_told(part, item) or self._is_long(key, asked))

    @staticmethod
    def _is_long(key: str, asked: str) -> bool:
        """Return whether a text is too long to be in a sentence by chance, and not from the question."""
        return len(key) >= _LONG and f" {key} " not in asked

    @staticmethod
    def _is_told(part: str, item: str) -> bool:
        """Return whether a text ends its sentence or follows "is", or the like, in its only place."""
        found = list(_occurrences(part, item))
        if len(found) != 1:
            return False
        before, after = part[: found[0][0]], part[found[0][1] :]
        return _COPULA.search(before) is not None and re.match(r"[\W_]*(?:$|[.,;!\n])", after) is not None

    def _names(self, part: str, item: str, wanted: Wanted) -> bool:
        """Return whether a text names an item, denies it nowhere, and names no rival."""
        found = list(_occurrences(part, item))
        if not found:
            return False
        for start, end in found:
            before = part[max(0, start - 80) : start]
            if is_denied(before[-40:], "text") or doubts_value(before) or _NEGATED.search(before[-40:]):
                return False
            if _TURNS.search(part[end : end + 200]):
                return False
        return not self._has_rival(part, item, wanted)

    def _has_rival(self, part: str, item: str, wanted: Wanted) -> bool:
        own = {_key(text) for text in wanted.texts}
        others = {_key(text) for text in wanted.others}
        rest = _key(re.sub(re.escape(item), " | ", part, flags=re.IGNORECASE)).split()
        for size in range(1, self._longest + 1):
            for start in range(len(rest) - size + 1):
                piece = " ".join(rest[start : start + size])
                if piece in own or (len(piece) == 1 and piece.isalpha()):
                    continue
                if piece in self._rivals or piece in others:
                    return True
        return False


def _key(text: str) -> str:
    """Return a text in lower case, with words and without marks."""
    return " ".join(piece for piece in _PIECE.findall(text.casefold()) if piece[0].isalnum() or piece == "|")


def _occurrences(part: str, item: str) -> Iterator[tuple[int, int]]:
    """Yield where a text is in another as whole words, in either case."""
    source = r"\s+".join(map(re.escape, item.split()))
    for match in re.finditer(source, part, re.IGNORECASE):
        if is_whole_word(part, match.start(), match.end()):
            yield match.start(), match.end()


def _number(text: str) -> Number | None:
    """Return the number that a text is, if it is one."""
    return _read_number(text) if len(text) <= _NUMBER_CHARS else read_expression(text).number


@lru_cache(maxsize=1 << 14)
def _read_number(text: str) -> Number | None:
    """Return the number that a short text is. The answers of a task have most words in common."""
    return read_expression(text).number


def _states_number(part: str, wanted: Number) -> bool:
    """Return whether a text states a number: by itself, as the only one in it, or at its end after "is"."""
    if len(part) <= _NUMBER_CHARS:
        whole = _number(part.strip().strip("*_`\"'").rstrip("."))
        if whole is not None:
            return numbers_equal(wanted, whole)
    tokens = list(_NUMBER_TOKEN.finditer(part))
    words = [match for match in re.finditer(r"[A-Za-z]+", part) if _number(match[0]) is not None]
    found = sorted([*tokens, *words], key=lambda match: match.start())
    told = [match for match in found if _COPULA.search(part[: match.start()])]
    if len(found) > 1:
        found = told if len(told) == 1 else []
    if not found:
        return False
    start, end = found[0].span()
    before = part[max(0, start - 80) : start]
    if is_denied(before[-40:], "text") or doubts_value(before) or _NEGATED.search(before[-40:]):
        return False
    if _TURNS.search(part[end : end + 200]):
        return False
    value = _number(re.sub("[,\u202f\u00a0]", "", found[0][0]).replace("−", "-"))
    return value is not None and numbers_equal(wanted, value)
