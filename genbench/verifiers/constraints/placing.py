"""IFBench's `words:` and `sentence:` rules on the places of words and keywords."""

from __future__ import annotations

import re
import string
from itertools import islice, pairwise

from genbench.verifiers.constraints.rule import (
    Fault,
    Kwargs,
    NoKwargs,
    Ordinal,
    Rule,
    Rules,
    Trimmed,
    quoted,
)
from genbench.verifiers.constraints.text import Text
from genbench.verifiers.constraints.wordlists import EDGE, unmarked


def last_first(text: Text, _: NoKwargs) -> Fault:
    """Require each sentence to begin with the last word of the one before."""
    for first, second in pairwise(text.sentences):
        ending, beginning = first.rstrip(EDGE).split(), second.lstrip(EDGE).split()
        if not ending or not beginning:
            return f"{quoted(first if not ending else second)} has no words"
        if ending[-1].lower() != beginning[0].lower():
            return f"a sentence ends with {quoted(ending[-1])}, the next begins with {quoted(beginning[0])}"
    return None


def paragraph_last_first(text: Text, _: NoKwargs) -> Fault:
    """Require each line to begin and end with the same word."""
    for line in text.lines:
        words = line.strip().lower().strip(EDGE).split()
        if words and words[0] != words[-1]:
            return f"a paragraph begins with {quoted(words[0])} and ends with {quoted(words[-1])}"
    return None


class KeywordAtPlace(Kwargs):
    """The kwargs of `words:keywords_specific_position`."""

    keyword: Trimmed
    n: Ordinal
    m: Ordinal


def keywords_specific_position(text: Text, want: KeywordAtPlace) -> Fault:
    """Require the keyword as word `m` of sentence `n`. Marks are not words."""
    if len(text.sentences) < want.n:
        return f"{len(text.sentences)} sentences, so none has number {want.n}"
    tokens = text.tools.tokens(text.sentences[want.n - 1])
    spoken = (token for token in tokens if any(char.isalnum() for char in token))
    words = list(islice(spoken, want.m))
    if len(words) < want.m:
        return f"sentence {want.n} has {len(words)} words, so none has number {want.m}"
    found = words[want.m - 1]
    if found.lower() == want.keyword.lower():
        return None
    return f"word {want.m} of sentence {want.n} is {quoted(found)}, {quoted(want.keyword)} wanted"


class KeywordAtEnds(Kwargs):
    """The kwargs of `words:words_position`."""

    keyword: Trimmed


def words_position(text: Text, want: KeywordAtEnds) -> Fault:
    """Require the keyword as second and second-last word. A final mark is not a word."""
    tokens = text.tokens
    last = 3 if tokens and tokens[-1] in string.punctuation else 2
    if len(tokens) < last:
        return "too few words"
    for place, found in (("second", tokens[1]), ("second-last", tokens[-last])):
        if found.lower() != want.keyword.lower():
            return f"the {place} word is {quoted(found)}, {quoted(want.keyword)} wanted"
    return None


class KeywordInSentence(Kwargs):
    """The kwargs of `sentence:keyword`."""

    word: Trimmed
    N: Ordinal


def keyword(text: Text, want: KeywordInSentence) -> Fault:
    """Look for the keyword as a whole word in sentence `N`."""
    if len(text.sentences) < want.N:
        return f"{len(text.sentences)} sentences, so none has number {want.N}"
    if re.search(rf"\b{re.escape(want.word)}\b", text.sentences[want.N - 1], re.IGNORECASE):
        return None
    return f"sentence {want.N} does not hold {quoted(want.word)}"


def alliteration_increment(text: Text, _: NoKwargs) -> Fault:
    """Require each sentence to alliterate more than the one before."""
    before = -1
    for place, sentence in enumerate(text.sentences, 1):
        score = _alliteration(sentence)
        if score <= before:
            return f"sentence {place} alliterates no more than the one before ({score} after {before})"
        before = score
    return None


def _alliteration(sentence: str) -> int:
    """Score runs of words that begin with the same character. Scores must rise from sentence to sentence."""
    words = [word for token in sentence.lower().split() if (word := token.lstrip(EDGE))]
    score, in_run = 0, False
    for first, second in pairwise(words):
        same = first[0] == second[0]
        score += same * (1 if in_run else 2)
        in_run = same
    return score


class Increment(Kwargs):
    """The kwargs of `sentence:increment`."""

    small_n: int


def increment(text: Text, want: Increment) -> Fault:
    """Require each sentence to have `small_n` words more than the one before."""
    counts = [len(unmarked(sentence).split()) for sentence in text.sentences]
    for place in range(1, len(counts)):
        if counts[place] != counts[place - 1] + want.small_n:
            return (
                f"sentence {place + 1} has {counts[place]} words after {counts[place - 1]}, "
                f"{want.small_n} more wanted"
            )
    return None


RULES: Rules = (
    Rule("words:last_first", NoKwargs, last_first),
    Rule("words:paragraph_last_first", NoKwargs, paragraph_last_first),
    Rule("words:keywords_specific_position", KeywordAtPlace, keywords_specific_position),
    Rule("words:words_position", KeywordAtEnds, words_position),
    Rule("sentence:keyword", KeywordInSentence, keyword),
    Rule("sentence:alliteration_increment", NoKwargs, alliteration_increment),
    Rule("sentence:increment", Increment, increment),
)
