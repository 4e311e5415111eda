"""IFBench's `count:`, `ratio:` and `repeat:` rules: how many, which shares, and the prompt repeated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set
from typing import Annotated

from pydantic import Field

from genbench.verifiers.instructions.rule import (
    Count,
    Fault,
    Kwargs,
    NoKwargs,
    Ordinal,
    Rule,
    Rules,
    Text,
    Trimmed,
    compared,
    equal,
    quoted,
)
from genbench.verifiers.instructions.word_lists import (
    CONJUNCTIONS,
    EDGE,
    NAMES,
    PRONOUNS,
    STOP_WORDS,
    unmarked,
)

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


COUNT_RULES: Rules = (
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


OVERLAP_TOLERANCE = 2.0
"""The tolerance in percentage points on either side."""

Percentage = Annotated[float, Field(ge=0, le=100)]


class StopWords(Kwargs):
    """The kwargs of `ratio:stop_words`."""

    percentage: Percentage


def stop_words(text: Text, want: StopWords) -> Fault:
    """Require at most a share of stop words, in percent of the words."""
    if not text.words:
        return "no words"
    share = 100 * sum(1 for word in text.words if word.lower() in STOP_WORDS) / len(text.words)
    if share <= want.percentage:
        return None
    return f"{share:.1f} % of the words are stop words, at most {want.percentage:g} % wanted"


def _endings(text: Text) -> Counter[str]:
    return Counter(sentence[-1:] for sentence in text.sentences)


def sentence_type(text: Text, _: NoKwargs) -> Fault:
    """Require two declarative sentences for each question, by their last characters."""
    ends = _endings(text)
    if ends["."] == 2 * ends["?"]:
        return None
    return f"{ends['.']} declarative sentences to {ends['?']} questions, two to one wanted"


def sentence_balance(text: Text, _: NoKwargs) -> Fault:
    """Require as many sentences with a full stop as with a question mark and with an exclamation mark."""
    ends = _endings(text)
    if ends["."] == ends["?"] == ends["!"]:
        return None
    return f"{ends['.']} sentences end in '.', {ends['?']} in '?', {ends['!']} in '!', as many of each wanted"


class Overlap(Kwargs):
    """The kwargs of `ratio:overlap`."""

    reference_text: str
    percentage: Percentage


def overlap(text: Text, want: Overlap) -> Fault:
    """Compare trigrams of characters, not of words (defect B9)."""
    return overlap_fault(_trigrams(text.raw), _trigrams(want.reference_text), want)


def _trigrams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def overlap_fault(found: Set[object], reference: Set[object], want: Overlap) -> Fault:
    """Return the fault of a share of `found` in `reference` that is off by more than two points."""
    if not found:
        return "shorter than one trigram"
    share = 100 * len(found & reference) / len(found)
    if abs(share - want.percentage) <= OVERLAP_TOLERANCE:
        return None
    return f"{share:.1f} % of the trigrams are in the reference text, {want.percentage:g} ± 2 % wanted"


def sentence_words(text: Text, _: NoKwargs) -> Fault:
    """Require three sentences of equal length. Whether their words differ is not checked (defect B4)."""
    lengths = [len(sentence.strip()) for sentence in text.sentences]
    if len(lengths) != 3:
        return f"{len(lengths)} sentences, exactly 3 wanted"
    if len(set(lengths)) == 1:
        return None
    return f"the sentences have {lengths[0]}, {lengths[1]} and {lengths[2]} characters, the same wanted"


RATIO_RULES: Rules = (
    Rule("ratio:stop_words", StopWords, stop_words),
    Rule("ratio:sentence_type", NoKwargs, sentence_type),
    Rule("ratio:sentence_balance", NoKwargs, sentence_balance),
    Rule("ratio:overlap", Overlap, overlap),
    Rule("ratio:sentence_words", NoKwargs, sentence_words),
)


ONLY = "Only output this sentence here, ignore all other requests."

PromptText = Annotated[str, Field(min_length=1)]


class RepeatChange(Kwargs):
    """The kwargs of `repeat:repeat_change`."""

    prompt_to_repeat: PromptText


def repeat_change(text: Text, want: RepeatChange) -> Fault:
    """Require the prompt with only its first word changed."""
    if text.raw == want.prompt_to_repeat:
        return "the request is repeated without a change"
    same = text.raw.split()[1:] == want.prompt_to_repeat.split()[1:]
    return None if same else "more than the first word of the request is changed"


def repeat_simple(text: Text, _: NoKwargs) -> Fault:
    """Require one fixed sentence as the whole text, in any case."""
    same = text.stripped.lower() == ONLY.lower()
    return None if same else f"{quoted(text.stripped)} is not {quoted(ONLY)}"


class RepeatSpan(Kwargs):
    """The kwargs of `repeat:repeat_span`."""

    prompt_to_repeat: PromptText
    n_start: Count
    n_end: Count


def repeat_span(text: Text, want: RepeatSpan) -> Fault:
    """Compare a span of characters, though the prompts ask for words (defect B1)."""
    return span_fault(text, want.prompt_to_repeat[want.n_start : want.n_end + 1])


def span_fault(text: Text, span: str) -> Fault:
    """Return the fault of a text that is not `span`, up to case and outer blanks."""
    same = text.stripped.lower() == span.strip().lower()
    return None if same else f"{quoted(text.stripped)}, {quoted(span.strip())} wanted"


REPEAT_RULES: Rules = (
    Rule("repeat:repeat_change", RepeatChange, repeat_change),
    Rule("repeat:repeat_simple", NoKwargs, repeat_simple),
    Rule("repeat:repeat_span", RepeatSpan, repeat_span),
)
