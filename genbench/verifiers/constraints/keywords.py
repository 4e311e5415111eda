"""Rules on the words and letters of a text."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, Field

from genbench.verifiers.constraints.rule import (
    Count,
    Fault,
    Kwargs,
    Pattern,
    Relation,
    Rule,
    Rules,
    TrimmedPattern,
    compared,
    quoted,
)
from genbench.verifiers.constraints.text import Text


def _one_character(value: str) -> str:
    letter = value.strip().lower()
    if not letter or not all(unicodedata.category(char).startswith("M") for char in letter[1:]):
        raise ValueError(f"one character is wanted, not {value!r}")
    return letter


class Existence(Kwargs):
    """The kwargs of `keywords:existence`."""

    keywords: Annotated[tuple[Pattern, ...], Field(min_length=1)]


def existence(text: Text, want: Existence) -> Fault:
    """Look for every keyword anywhere, inside other words too (defect D3)."""
    missing = [word for word in want.keywords if not re.search(word, text.raw, re.IGNORECASE)]
    return missing_fault(missing)


def missing_fault(missing: list[str]) -> Fault:
    """Return the fault of missing keywords, or None if none is missing."""
    return f"{', '.join(map(quoted, missing))} not found" if missing else None


class Frequency(Kwargs):
    """The kwargs of `keywords:frequency`."""

    keyword: TrimmedPattern
    frequency: Count
    relation: Relation


def frequency(text: Text, want: Frequency) -> Fault:
    """Count a keyword without regard to case, inside other words too."""
    found = sum(1 for _ in re.finditer(want.keyword, text.raw, re.IGNORECASE))
    return compared(found, want.relation, want.frequency, f"times {quoted(want.keyword)}")


class ForbiddenWords(Kwargs):
    """The kwargs of `keywords:forbidden_words`."""

    forbidden_words: Annotated[tuple[Pattern, ...], Field(min_length=1)]


def forbidden_words(text: Text, want: ForbiddenWords) -> Fault:
    """Look for each forbidden word as a whole word, without regard to case."""
    found = [w for w in want.forbidden_words if re.search(rf"\b{w}\b", text.raw, re.IGNORECASE)]
    return forbidden_fault(found)


def forbidden_fault(found: list[str]) -> Fault:
    """Return the fault of forbidden words that were found, or None if there are none."""
    return f"holds the forbidden {', '.join(map(quoted, found))}" if found else None


class LetterFrequency(Kwargs):
    """The kwargs of `keywords:letter_frequency`."""

    letter: Annotated[str, AfterValidator(_one_character)]
    let_frequency: Count
    let_relation: Relation


def letter_frequency(text: Text, want: LetterFrequency) -> Fault:
    """Count a letter, which may be any one character.

    Older official code replaces one outside a-z by a random letter (defect D1), which decides the
    IFEval keys 1122 (`#`) and 1129 (`!`) by chance. The newest official code counts it, as here.
    """
    found = text.lower.count(want.letter)
    return compared(found, want.let_relation, want.let_frequency, f"times the letter {quoted(want.letter)}")


RULES: Rules = (
    Rule("keywords:existence", Existence, existence),
    Rule("keywords:frequency", Frequency, frequency),
    Rule("keywords:forbidden_words", ForbiddenWords, forbidden_words),
    Rule("keywords:letter_frequency", LetterFrequency, letter_frequency),
)
