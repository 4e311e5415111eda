"""IFBench's `count:` rules: how many words, names, numbers, marks, keywords."""

from __future__ import annotations

import re

from genbench.verifiers.constraints.rule import (
    Count,
    Fault,
    Kwargs,
    NoKwargs,
    Ordinal,
    Rule,
    Rules,
    Trimmed,
    compared,
    equal,
    quoted,
)
from genbench.verifiers.constraints.text import Text
from genbench.verifiers.constraints.wordlists import CONJUNCTIONS, EDGE, NAMES, PRONOUNS, unmarked

NUMBER = re.compile(r"\d+")
JAPANESE = re.compile(r"[぀-ヿ一-鿿]")
KEYWORD_COUNTS = (1, 2, 3, 5, 7)


class WordCountRange(Kwargs):
    """The kwargs of `count:word_count_range`."""

    min_words: Count
    max_words: Count


def word_count_range(text: Text, want: WordCountRange) -> Fault:
    """Require a number of words between two bounds, both included."""
    found = len(text.words)
    if want.min_words <= found <= want.max_words:
        return None
    return f"{found} words, {want.min_words} to {want.max_words} wanted"


class AtLeastN(Kwargs):
    """The kwargs of `count:unique_word_count`, `count:person_names` and `count:pronouns`."""

    N: Count


def unique_word_count(text: Text, want: AtLeastN) -> Fault:
    """Count different words. Tokens of marks only count as one more word, the empty one."""
    found = len({token.strip(EDGE) for token in text.lower.split()})
    return compared(found, "at least", want.N, "different words")


class AtLeastSmallN(Kwargs):
    """The kwargs of `count:conjunctions`."""

    small_n: Count


def conjunctions(text: Text, want: AtLeastSmallN) -> Fault:
    """Count different spellings: "and", "And" and "and," are three (defect B3)."""
    found = {token for token in text.raw.split() if token.strip(EDGE).lower() in CONJUNCTIONS}
    return compared(len(found), "at least", want.small_n, "different conjunctions")


def person_names(text: Text, want: AtLeastN) -> Fault:
    """Count different names of the official list."""
    found = len(set(NAMES.findall(text.raw)))
    return compared(found, "at least", want.N, "different names of the list")


class ExactlyN(Kwargs):
    """The kwargs of `count:numbers`."""

    N: Count


def numbers(text: Text, want: ExactlyN) -> Fault:
    """Count numbers after deleting marks: "1,000.5" and "2024-05-06" are one number each."""
    return equal(len(NUMBER.findall(unmarked(text.raw))), want.N, "numbers")


def punctuation(text: Text, _: NoKwargs) -> Fault:
    """Require every standard mark and an interrobang. A spelt-out one does not count as `!` and `?`."""
    if not any(mark in text.raw for mark in ("!?", "?!", "‽")):
        return "no interrobang"
    rest = text.raw.replace("?!", "", 1) if "?!" in text.raw else text.raw.replace("!?", "", 1)
    missing = [mark for mark in ".,!?;:" if mark not in rest]
    return f"no {' '.join(missing)} besides the interrobang" if missing else None


class EveryNth(Kwargs):
    """The kwargs of `count:words_japanese`."""

    N: Ordinal


def words_japanese(text: Text, want: EveryNth) -> Fault:
    """Require Japanese for every N-th word. Numbers are exempt."""
    for token in text.raw.split()[want.N - 1 :: want.N]:
        word = token.strip(EDGE)
        if word and not word.isdigit() and not JAPANESE.search(word):
            return f"{quoted(word)} is not Japanese, as every word at a multiple of {want.N} must be"
    return None


def pronouns(text: Text, want: AtLeastN) -> Fault:
    """Count pronouns. Words with a slash between them count as two."""
    tokens = text.of(text.raw.replace("/", " ").lower()).tokens
    found = sum(1 for token in tokens if token in PRONOUNS)
    return compared(found, "at least", want.N, "pronouns")


class KeywordsMultiple(Kwargs):
    """The kwargs of `count:keywords_multiple`."""

    keyword1: Trimmed
    keyword2: Trimmed
    keyword3: Trimmed
    keyword4: Trimmed
    keyword5: Trimmed


def keywords_multiple(text: Text, want: KeywordsMultiple) -> Fault:
    """Require five keywords 1, 2, 3, 5 and 7 times. They are also counted inside other words."""
    keywords = (want.keyword1, want.keyword2, want.keyword3, want.keyword4, want.keyword5)
    for keyword, times in zip(keywords, KEYWORD_COUNTS, strict=True):
        if fault := equal(text.lower.count(keyword.lower()), times, f"times {quoted(keyword)}"):
            return fault
    return None


RULES: Rules = (
    Rule("count:word_count_range", WordCountRange, word_count_range),
    Rule("count:unique_word_count", AtLeastN, unique_word_count),
    Rule("count:conjunctions", AtLeastSmallN, conjunctions),
    Rule("count:person_names", AtLeastN, person_names),
    Rule("count:numbers", ExactlyN, numbers),
    Rule("count:punctuation", NoKwargs, punctuation),
    Rule("count:words_japanese", EveryNth, words_japanese),
    Rule("count:pronouns", AtLeastN, pronouns),
    Rule("count:keywords_multiple", KeywordsMultiple, keywords_multiple),
)
