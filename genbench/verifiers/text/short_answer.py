"""Verifies benchmarks whose rows want different short answers: an option, a word, a list, brackets."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier, Guess
from genbench.verifiers.choice.verifier import ChoiceVerifier
from genbench.verifiers.extraction.final_text import final_text
from genbench.verifiers.extraction.protocol import is_denied, prepared
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
_WORDS_OF_NUMBER = 3
"""A number and its unit. "12 fails the test" has more words and states nothing."""
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

    Args:
        guess: what becomes of a reply without box or announcement. "last" takes its last line.
    """

    name = "short_answer"
    rules = "4"

    def __init__(self, *, guess: Guess = "last") -> None:
        self.require_known("guess", guess, Guess)
        self._guess = guess
        self._choice = ChoiceVerifier(guess=guess)
        self._exact = ExactVerifier(
            "stated", guess=guess, ignore_case=True, ignore_punctuation=True, numbers=True
        )

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
        stated = final_text(case.answer.text, guess=self._guess == "last" and not case.answer.truncated)
        if stated is None:
            return Finding(0.0, "no_answer", detail={"read_by": "nothing"})
        if stated.retracted or stated.denied:
            why = "retracted" if stated.retracted else "negated"
            return Finding(0.0, "no_answer", detail={"read_by": stated.how, "withheld": why})
        if "brackets" in reference:
            found, wanted = _brackets(stated.text), _brackets(str(reference["brackets"]))
        else:
            found, wanted = _words(stated.text), _words(str(reference["words"]))
        right = found is not None and found == wanted
        return Finding(
            float(right), extracted=(found or stated.text)[:_VOTE_CHARS], detail={"read_by": stated.how}
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
    r"(?:\b(?:is|are|was|be|say|says|choose|chose|pick|answer|result|equals?|get|ist|lautet|est|es|是)|['’]s|[:=：>→])"
    r"(?:\s+(?:\w+ly|about|around))?[\s\"'“‘`*_$([{<]*$",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|nor|neither|without|except|unlike|rather than|instead of|isn't|"
    r"aren't|wasn't|cannot|can't|don't|doesn't|won't|unsure|unknown|unclear|wrong|incorrect|false|mistake|error|"
    r"trap|distractor|used to|unless|at first|first thought|first guess|people|some|someone|many|everyone|if|"
    r"whether|maybe|perhaps|might|either|or)\b",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:but|however|although|though|yet|actually|wait|instead|not|wrong|incorrect|mistake|error|"
    r"or(?! so\b))\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?;]\s|\n")
_ENDS = re.compile(r"[\W_]*(?:$|[.,;!\n([—]|\s(?:because|since|as)\b)")
"""What may follow a text that is told: nothing, a remark, or its reason."""
_UNIT = re.compile(r"[\s*_`(]*(?:[^\W\d_]{1,20}[.\s)]*|[%°$€£][A-Z]?[.\s]*){0,2}$")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,40}>")
"""A tag of HTML: "<b>Oslo</b>" is Oslo."""
_WEIGHED = re.compile(
    r"\b(?:than|too|fails?|seems|off|out|unless|except|far|half|twice|plus|minus|between|almost|over|under|above|"
    r"below|discard|dropped|considered|rejected|excluded?s?|avoid|no|could|cannot|trap|away|second)\b"
)
"""What a form has that does not give its answer: "less than 12", "I ruled out Oslo"."""
_VERB = re.compile(
    r"\b(?:is|isn|are|was|were|can|could|will|would|should|has|does|fails?|seems?|looks?)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer is read for: the acceptable texts of a reference, and its letter if it is an option."""

    texts: tuple[str, ...]
    letter: str | None = None
    others: tuple[str, ...] = ()
    """The texts of the other options."""

    @property
    def items(self) -> tuple[str, ...]:
        """What an answer may say: the texts, or the letter."""
        return tuple(filter(_key, [*self.texts, self.letter or ""]))

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
    not: what is denied, doubted or one of several, and what is next to the answer of another problem. Words
    around different answers are a form that gives them: "You want Oslo", "You want Rome".

    Args:
        answers: answers of the task, with what they should give.
    """

    def __init__(self, answers: Iterable[tuple[str, Wanted]]) -> None:
        answers, forms = list(answers), defaultdict[str, set[Wanted]](set)
        self._rivals = {key for _, wanted in answers for text in wanted.texts if (key := _key(text))}
        for text, wanted in answers:
            for form in _forms(_parts(text), wanted):
                forms[form].add(wanted)
        self._forms = {form for form, wants in forms.items() if len(wants) > 1}

    def gives(self, text: str, wanted: Wanted) -> bool:
        """Return whether a text gives what is wanted."""
        parts = _parts(text)
        told = any(self._says(part, item, wanted) for part in parts for item in wanted.items)
        return told or not self._forms.isdisjoint(_forms(parts, wanted))

    def _says(self, part: str, item: str, wanted: Wanted) -> bool:
        if (number := _number(item)) is not None:
            return _states_number(part, number)
        if _key(item) == _key(part):
            return True
        if (around := _around(part, item)) is None or self._has_rival(_key(" | ".join(around)), wanted):
            return False
        led = _COPULA.search(around[0]) or re.fullmatch(r"\W*(?:an?|the)?\W*", around[0], re.I)
        return bool(led and _ENDS.match(around[1]))

    def _has_rival(self, form: str, wanted: Wanted) -> bool:
        own, others = map(_key, wanted.texts), map(_key, wanted.others)
        rivals = (key for key in self._rivals.union(others).difference(own) if len(key) > 1 or key.isdigit())
        return any(f" {key} " in f" {form} " for key in rivals)


def _parts(text: str) -> list[str]:
    """Return the parts of an answer that state something: the first and the last line, and a short whole."""
    text = _TAG.sub(" ", prepared(text[-_READ_CHARS:])).strip()
    stated = final_text(text) if text else None
    if stated is None or stated.retracted or stated.denied:
        return []
    lines = [line for line in text.splitlines() if _key(line)]
    parts = [*lines[:1], *lines[-1:]]
    at = text.rfind(stated.text)
    if at < 0 or not _is_rejected_at(text, at, at + len(stated.text)):
        parts.append(stated.text)
    if len(text.split()) <= _WHOLE_WORDS:
        parts.append(text if len(lines) > 1 else _NUMBERING.sub("", text))
    return parts


def _forms(parts: Sequence[str], wanted: Wanted) -> Iterator[str]:
    """Yield the words of parts around what is wanted, unless they weigh or refuse it."""
    for around in (_around(part, item) for part in parts for item in wanted.items):
        if around is not None and not _WEIGHED.search(form := _key(" | ".join(around))):
            yield form


def _around(part: str, item: str) -> tuple[str, str] | None:
    """Return what is before and after an item, if it has one place and is not rejected there."""
    found = list(_occurrences(part, item))
    if len(found) != 1 or _is_rejected_at(part, *found[0]):
        return None
    return part[: found[0][0]], part[found[0][1] :]


def _is_rejected_at(part: str, start: int, end: int) -> bool:
    """Return whether what is mentioned at a place is denied, doubted or turned from."""
    before = _SENTENCE_END.split(part[max(0, start - 80) : start])[-1]
    if is_denied(before) or _NEGATED.search(before[-40:]):
        return True
    return _TURNS.search(part[end : end + 200]) is not None


def _key(text: str) -> str:
    """Return a text in lower case, with words and without marks."""
    return " ".join(piece for piece in _PIECE.findall(text.casefold()) if piece[0].isalnum() or piece == "|")


def _occurrences(part: str, item: str) -> Iterator[tuple[int, int]]:
    """Yield where a text is in another as whole words, in either case, or a number of its value."""
    if (number := _number(item)) is not None:
        yield from ((start, end) for start, end, value in _numbers(part) if numbers_equal(number, value))
        return
    source = r"\s+".join(map(re.escape, item.split()))
    for match in re.finditer(source, part, re.IGNORECASE):
        if is_whole_word(part, match.start(), match.end()):
            yield match.start(), match.end()


@lru_cache(maxsize=1 << 14)
def _number(text: str) -> Number | None:
    """Return the number that a short text is, if it is one. Answers of a task have most words in common."""
    return read_expression(text).number if len(text) <= _NUMBER_CHARS else None


def _states_number(part: str, wanted: Number) -> bool:
    """Return whether a text states a number: by itself, as the only one in it, or at its end after "is"."""
    whole = _number(part.strip().strip("*_`\"'").rstrip("."))
    if whole is not None and len(part.split()) <= _WORDS_OF_NUMBER:
        return numbers_equal(wanted, whole)
    found = _numbers(part)
    told = [item for item in found if _COPULA.search(part[: item[0]])]
    if len(found) == 1 and re.search(r"\b(?:in|on|at)\s*$", part[: found[0][0]], re.IGNORECASE):
        told = found  # "It happened in 1905."
    if len(found) > 1:
        found = told if len(told) == 1 else []
    if not found or _is_rejected_at(part, *found[0][:2]):
        return False
    start, end, value = found[0]
    bare = not re.search(r"\w", part[:start])
    with_unit = bare and _UNIT.match(part, end) is not None and _VERB.search(part, end) is None
    return numbers_equal(wanted, value) and bool(told or with_unit)


def _numbers(part: str) -> list[tuple[int, int, Number]]:
    """Return where a text has numbers, in digits or as a word, with their values."""
    matches = [*_NUMBER_TOKEN.finditer(part), *re.finditer(r"[A-Za-z]+", part)]
    values = (_number(re.sub("[,\u202f\u00a0]", "", match[0]).replace("−", "-")) for match in matches)
    found = (
        (*match.span(), value) for match, value in zip(matches, values, strict=True) if value is not None
    )
    return sorted(found, key=lambda item: item[0])
