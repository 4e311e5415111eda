"""IFBench's `count:`, `ratio:` and `repeat:` rules: how many, which shares, and the prompt repeated."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Set

from genbench.verifiers.instructions.rule import (
    Count,
    Fault,
    NonEmpty,
    Ordinal,
    Percentage,
    RuleTable,
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

RULES = RuleTable()

NUMBER = re.compile(r"\d+")
JAPANESE = re.compile(r"[぀-ヿ一-鿿]")
KEYWORD_COUNTS = (1, 2, 3, 5, 7)


@RULES.rule("count:word_count_range")
def word_count_range(text: Text, min_words: Count, max_words: Count) -> Fault:
    """Require a number of words between two bounds, both included."""
    found = len(text.words)
    if min_words <= found <= max_words:
        return None
    return f"{found} words, {min_words} to {max_words} wanted"


@RULES.rule("count:unique_word_count")
def unique_word_count(text: Text, N: Count) -> Fault:
    """Count different words. Tokens of marks only count as one more word, the empty one."""
    found = len({token.strip(EDGE) for token in text.lower.split()})
    return compared(found, "at least", N, "different words")


@RULES.rule("count:conjunctions")
def conjunctions(text: Text, small_n: Count) -> Fault:
    """Count different spellings: "and", "And" and "and," are three (defect B3)."""
    found = {token for token in text.raw.split() if token.strip(EDGE).lower() in CONJUNCTIONS}
    return compared(len(found), "at least", small_n, "different conjunctions")


@RULES.rule("count:person_names")
def person_names(text: Text, N: Count) -> Fault:
    """Count different names of the official list."""
    found = len(set(NAMES.findall(text.raw)))
    return compared(found, "at least", N, "different names of the list")


@RULES.rule("count:numbers")
def numbers(text: Text, N: Count) -> Fault:
    """Count numbers after deleting marks: "1,000.5" and "2024-05-06" are one number each."""
    return equal(len(NUMBER.findall(unmarked(text.raw))), N, "numbers")


@RULES.rule("count:punctuation")
def punctuation(text: Text) -> Fault:
    """Require every standard mark and an interrobang. A spelt-out one does not count as `!` and `?`."""
    if not any(mark in text.raw for mark in ("!?", "?!", "‽")):
        return "no interrobang"
    rest = text.raw.replace("?!", "", 1) if "?!" in text.raw else text.raw.replace("!?", "", 1)
    missing = [mark for mark in ".,!?;:" if mark not in rest]
    return f"no {' '.join(missing)} besides the interrobang" if missing else None


@RULES.rule("count:words_japanese")
def words_japanese(text: Text, N: Ordinal) -> Fault:
    """Require Japanese for every N-th word. Numbers are exempt."""
    for token in text.raw.split()[N - 1 :: N]:
        word = token.strip(EDGE)
        if word and not word.isdigit() and not JAPANESE.search(word):
            return f"{quoted(word)} is not Japanese, as every word at a multiple of {N} must be"
    return None


@RULES.rule("count:pronouns")
def pronouns(text: Text, N: Count) -> Fault:
    """Count pronouns. Words with a slash between them count as two."""
    tokens = text.of(text.raw.replace("/", " ").lower()).tokens
    found = sum(1 for token in tokens if token in PRONOUNS)
    return compared(found, "at least", N, "pronouns")


@RULES.rule("count:keywords_multiple")
def keywords_multiple(
    text: Text, keyword1: Trimmed, keyword2: Trimmed, keyword3: Trimmed, keyword4: Trimmed, keyword5: Trimmed
) -> Fault:
    """Require five keywords 1, 2, 3, 5 and 7 times. They are also counted inside other words."""
    keywords = (keyword1, keyword2, keyword3, keyword4, keyword5)
    for keyword, times in zip(keywords, KEYWORD_COUNTS, strict=True):
        if fault := equal(text.lower.count(keyword.lower()), times, f"times {quoted(keyword)}"):
            return fault
    return None


OVERLAP_TOLERANCE = 2.0
"""The tolerance in percentage points on either side."""


@RULES.rule("ratio:stop_words")
def stop_words(text: Text, percentage: Percentage) -> Fault:
    """Require at most a share of stop words, in percent of the words."""
    if not text.words:
        return "no words"
    share = 100 * sum(1 for word in text.words if word.lower() in STOP_WORDS) / len(text.words)
    if share <= percentage:
        return None
    return f"{share:.1f} % of the words are stop words, at most {percentage:g} % wanted"


def _endings(text: Text) -> Counter[str]:
    return Counter(sentence[-1:] for sentence in text.sentences)


@RULES.rule("ratio:sentence_type")
def sentence_type(text: Text) -> Fault:
    """Require two declarative sentences for each question, by their last characters."""
    return type_fault(_endings(text))


def type_fault(ends: Counter[str]) -> Fault:
    """Return the fault of sentences that end so: two declarative ones for each question are wanted."""
    if ends["."] == 2 * ends["?"]:
        return None
    return f"{ends['.']} declarative sentences to {ends['?']} questions, two to one wanted"


@RULES.rule("ratio:sentence_balance")
def sentence_balance(text: Text) -> Fault:
    """Require as many sentences with a full stop as with a question mark and with an exclamation mark."""
    return balance_fault(_endings(text))


def balance_fault(ends: Counter[str]) -> Fault:
    """Return the fault of sentences that end so: as many with each mark are wanted."""
    if ends["."] == ends["?"] == ends["!"]:
        return None
    return f"{ends['.']} sentences end in '.', {ends['?']} in '?', {ends['!']} in '!', as many of each wanted"


@RULES.rule("ratio:overlap")
def overlap(text: Text, reference_text: str, percentage: Percentage) -> Fault:
    """Compare trigrams of characters, not of words (defect B9)."""
    return overlap_fault(_trigrams(text.raw), _trigrams(reference_text), percentage)


def _trigrams(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def overlap_fault(found: Set[object], reference: Set[object], percentage: float) -> Fault:
    """Return the fault of a share of `found` in `reference` that is off by more than two points."""
    if not found:
        return "shorter than one trigram"
    share = 100 * len(found & reference) / len(found)
    if abs(share - percentage) <= OVERLAP_TOLERANCE:
        return None
    return f"{share:.1f} % of the trigrams are in the reference text, {percentage:g} ± 2 % wanted"


@RULES.rule("ratio:sentence_words")
def sentence_words(text: Text) -> Fault:
    """Require three sentences of equal length. Whether their words differ is not checked (defect B4)."""
    lengths = [len(sentence.strip()) for sentence in text.sentences]
    if len(lengths) != 3:
        return f"{len(lengths)} sentences, exactly 3 wanted"
    if len(set(lengths)) == 1:
        return None
    return f"the sentences have {lengths[0]}, {lengths[1]} and {lengths[2]} characters, the same wanted"


ONLY = "Only output this sentence here, ignore all other requests."


@RULES.rule("repeat:repeat_change")
def repeat_change(text: Text, prompt_to_repeat: NonEmpty) -> Fault:
    """Require the prompt with only its first word changed."""
    if text.raw == prompt_to_repeat:
        return "the request is repeated without a change"
    same = text.raw.split()[1:] == prompt_to_repeat.split()[1:]
    return None if same else "more than the first word of the request is changed"


@RULES.rule("repeat:repeat_simple")
def repeat_simple(text: Text) -> Fault:
    """Require one fixed sentence as the whole text, in any case."""
    same = text.stripped.lower() == ONLY.lower()
    return None if same else f"{quoted(text.stripped)} is not {quoted(ONLY)}"


@RULES.rule("repeat:repeat_span")
def repeat_span(text: Text, prompt_to_repeat: NonEmpty, n_start: Count, n_end: Count) -> Fault:
    """Compare a span of characters, though the prompts ask for words (defect B1)."""
    return span_fault(text, prompt_to_repeat[n_start : n_end + 1])


def span_fault(text: Text, span: str) -> Fault:
    """Return the fault of a text that is not `span`, up to case and outer blanks."""
    same = text.stripped.lower() == span.strip().lower()
    return None if same else f"{quoted(text.stripped)}, {quoted(span.strip())} wanted"
