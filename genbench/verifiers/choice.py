"""Verifies multiple choice: the option that an answer settles on, by letter or by its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase
from typing import Any, Literal

from genbench.errors import DataError
from genbench.types import Case, Finding
from genbench.verifiers.final_answer import boxes
from genbench.verifiers.latex import tidy, unwrap
from genbench.verifiers.phrases import (
    CHOOSING,
    CONFIRMING,
    CONNECTIVES,
    OPTION_NOUNS,
    alternation,
    announcement,
)

How = Literal["stated", "bare", "mentioned"]

_VERSION = "2"
_TIME_LIMIT_S = 5.0
_TAIL = 20_000
_STATEMENT = 600
_DECORATION = re.compile(
    r"^(?:[\s*_$\"'“”‘’`<>\[({【]|\\[(\[]|\\(?:boxed|text|textbf|mathbf|mathrm|mbox)\s*\{)+"
)
_OPTION_NOUN = re.compile(rf"^(?:the\s+)?(?:{alternation(OPTION_NOUNS)})\s*[:#]?\s*", re.IGNORECASE)
_SPOKEN_I = re.compile(r"I\s+(?!because|since|as\b|is\b|and\b|or\b)[a-z]|I['’]")
_LINE_END = re.compile(r"\n|(?<=\w[.])\s")


@dataclass(frozen=True, slots=True)
class Picked:
    """The letters that a statement names: one, or several where it hedges."""

    letters: str
    how: How


class ChoiceVerifier:
    """Whether the option that an answer settles on is the reference's.

    A reference is ``{"letter": "C", "options": ["…", …]}``, 2 to 26 option texts in the order in
    which they were shown. Boxes, "the answer is …" and "(B) is correct" are statements, and the last
    one wins; without any, an answer that is nothing but an option, or that begins or ends with a
    line of one, or its last "option B".
    """

    def __init__(self) -> None:
        self._reader = lru_cache(256)(OptionReader)

    @property
    def version(self) -> str:
        return f"choice {_VERSION}"

    def time_limit_s(self, case: Case) -> float:
        return _TIME_LIMIT_S

    def verify(self, case: Case) -> Finding:
        letter, options = _read_reference(case.reference)
        picked = self._reader(options).pick(case.answer.text, guess=not case.answer.truncated)
        if picked is None:
            return Finding(0.0, "no_answer")
        # Votes are for an option's text: its letter changes with the order, from draw to draw.
        chosen = " / ".join(options[ascii_uppercase.index(name)] for name in picked.letters)
        detail = {"found": picked.how, "letter": picked.letters} | (
            {"hedged": True} if len(picked.letters) > 1 else {}
        )
        return Finding(float(picked.letters == letter), extracted=chosen, detail=detail)

    def close(self) -> None:
        self._reader.cache_clear()


def _read_reference(reference: Any) -> tuple[str, tuple[str, ...]]:
    """(letter, option texts).

    Raises:
        DataError: no such letter, or not 2 to 26 options.
    """
    want = 'want {"letter": "C", "options": [2 to 26 texts]}'
    if not isinstance(reference, dict) or not {"letter", "options"} <= reference.keys():
        raise DataError(f"choice reference {reference!r}: {want}")
    letter, options = reference["letter"], reference["options"]
    if not isinstance(options, list | tuple) or not 2 <= len(options) <= len(ascii_uppercase):
        raise DataError(f"choice reference has options {options!r}: {want}")
    if not isinstance(letter, str) or len(letter) != 1 or letter not in ascii_uppercase[: len(options)]:
        raise DataError(f"choice reference has letter {letter!r} for {len(options)} options: {want}")
    return letter, tuple(map(str, options))


@dataclass(frozen=True, slots=True)
class _Patterns:
    """How statements name one of so many letters."""

    leading: re.Pattern[str]
    alone: re.Pattern[str]
    confirmed: re.Pattern[str]
    mentioned: re.Pattern[str]
    headed: re.Pattern[str]
    announced: re.Pattern[str]


# Every problem has options of its own, but few numbers of them are in use.
@lru_cache(len(ascii_uppercase))
def _patterns(letters: str) -> _Patterns:
    hedge = rf"(?:[/&]|\b(?:{alternation(CONNECTIVES)})\b)\s*(?:option\s+)?"
    joined = rf"(?:[\s)\]}}*_$]*{hedge}\W{{0,3}}([{letters}])(?![\w'’]))"
    letter = rf"\W{{0,4}}(?<!\w)([{letters}])(?![\w'’])\W{{0,3}}"
    return _Patterns(
        leading=re.compile(rf"([{letters}])(?![\w'’\\])(?!\s*(?:[=>+^]|<(?!/))){joined}?"),
        alone=re.compile(rf"[^\w\n]*(?:({'|'.join(letters)})|([{letters.lower()}]))[^\w\n]*"),
        confirmed=re.compile(rf"{letter}(?:{alternation(CONFIRMING)})"),
        mentioned=re.compile(rf"(?i:(?<![^\W_])(?:{alternation(OPTION_NOUNS)}))\s*{letter}"),
        headed=re.compile(rf"[\s*_(\[]*([{letters}])\s*[*_]*\s*[).:,。：、\]]"),
        announced=re.compile(
            rf"{announcement()}|(?<![^\W_])(?:{alternation(CHOOSING)})[ \t:：*_]*",
            re.IGNORECASE | re.MULTILINE,
        ),
    )


class OptionReader:
    """Reads statements about one list of options."""

    def __init__(self, options: Sequence[str]) -> None:
        letters = ascii_uppercase[: len(options)]
        self._by_text = _unique_texts(options, letters)
        self._longest_first = sorted(self._by_text, key=len, reverse=True)
        self._patterns = _patterns(letters)

    def pick(self, text: str, *, guess: bool = True) -> Picked | None:
        """The option that `text` settles on; without `guess` only statements count."""
        text = unicodedata.normalize("NFKC", text[-_TAIL:])
        stated = max(self._statements(text), default=None)
        if stated is not None:
            return Picked(stated[1], "stated")
        if not guess:
            return None
        bare = self._bare(text)
        return Picked(bare, "bare") if bare else self._last_mention(text)

    def _statements(self, text: str) -> Iterator[tuple[int, str]]:
        """(position, letters) of every statement that names an option."""
        for start, _, inside, end in boxes(text):
            if letters := self._read(text[inside:end]):
                yield start, letters
        for match in self._patterns.announced.finditer(text):
            if letters := self._read(text[match.end() : match.end() + _STATEMENT]):
                yield match.start(), letters
        for match in self._patterns.confirmed.finditer(text):
            yield match.start(), match[1]

    def _read(self, statement: str) -> str | None:
        """The letters that a statement begins with, or the option whose text it begins with."""
        if (by_text := self._by_option_text(_LINE_END.split(statement.lstrip(), maxsplit=1)[0])) is not None:
            return by_text
        statement = _DECORATION.sub("", _OPTION_NOUN.sub("", _DECORATION.sub("", statement)))
        line = _LINE_END.split(statement, maxsplit=1)[0]
        if (by_text := self._by_option_text(line)) is not None:
            return by_text
        if (alone := self._patterns.alone.fullmatch(line.rstrip("}$ ") or " ")) is not None:
            return (alone[1] or alone[2]).upper()
        match = self._patterns.leading.match(line)
        if match is None or _SPOKEN_I.match(line):
            return None
        return "".join(dict.fromkeys(filter(None, match.groups())))

    def _by_option_text(self, line: str) -> str | None:
        """The letter of the option that the line is, or begins with; longest text first."""
        plain = _plain(line)
        if plain in self._by_text:
            return self._by_text[plain]
        for text in self._longest_first:
            if len(text) >= 3 and plain.startswith(text) and not plain[len(text)].isalnum():
                return self._by_text[text]
        return None

    def _bare(self, text: str) -> str | None:
        """An answer that is one option, or whose last or first line is, or that begins ``B.``"""
        lines = [line for line in text.splitlines() if line.strip()]
        headed = {match[1] for match in map(self._patterns.headed.match, lines) if match}
        for line in (lines[-1], lines[0]) if lines else ():
            if (by_text := self._by_text.get(_plain(line))) is not None:
                return by_text
            if (alone := self._patterns.alone.fullmatch(line.strip())) is not None:
                return (alone[1] or alone[2]).upper()
            # Several lines under letters are a list of the options, not a choice.
            if len(headed) == 1 and (match := self._patterns.headed.match(line)) is not None:
                return match[1]
        return None

    def _last_mention(self, text: str) -> Picked | None:
        mentions = self._patterns.mentioned.findall(text)
        return Picked(mentions[-1], "mentioned") if mentions else None


def _unique_texts(options: Sequence[str], letters: str) -> dict[str, str]:
    """Plain option text -> letter, without texts that two options share or that are letters themselves."""
    plain = [_plain(option) for option in options]
    return {
        text: letter
        for text, letter in zip(plain, letters, strict=True)
        if text and plain.count(text) == 1 and not (len(text) == 1 and text.upper() in letters)
    }


def _plain(text: str) -> str:
    """A text without marks, wrappers, LaTeX spacing, case and a closing full stop."""
    text = unwrap(tidy(unicodedata.normalize("NFKC", text)))
    return re.sub(r"\s+", " ", text).strip(" *_`\"'“”.,;:。}{").casefold()
