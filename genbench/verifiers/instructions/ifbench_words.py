"""IFBench's `words:` and `sentence:` rules: single words, and the places of words and keywords."""

from __future__ import annotations

import re
import string
from collections import Counter
from itertools import islice, pairwise

import syllapy  # type: ignore[import-untyped]

from genbench.verifiers.instructions.rule import (
    Count,
    Fault,
    Ordinal,
    RuleTable,
    Text,
    Trimmed,
    compared,
    quoted,
)
from genbench.verifiers.instructions.word_lists import EDGE, unmarked

RULES = RuleTable()

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
CONSONANT_PAIR = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
PRIMES = frozenset(n for n in range(2, 100) if all(n % divisor for divisor in range(2, 10) if divisor < n))


def plain_words(text: Text) -> list[str]:
    """Return the tokens between blanks, in small letters and without marks."""
    return unmarked(text.lower).split()


@RULES.rule("words:alphabet")
def alphabet(text: Text) -> Fault:
    """Require initials in alphabetical order, with `a` after `z`."""
    initials = [word[0].lower() for word in unmarked(text.raw).split()]
    if not initials or initials[0] not in ALPHABET:
        return "the first word does not begin with a letter from a to z"
    start = ALPHABET.index(initials[0])
    for place, initial in enumerate(initials):
        wanted = ALPHABET[(start + place) % 26]
        if initial != wanted:
            return f"word {place + 1} begins with '{initial}', '{wanted}' wanted"
    return None


@RULES.rule("words:vowel")
def vowel(text: Text) -> Fault:
    """Require one paragraph with at most three different vowels."""
    if "\n" in text.stripped:
        return "more than one paragraph"
    found = sorted(set("aeiou") & set(text.stripped.lower()))
    return f"the vowels {', '.join(found)}, at most 3 wanted" if len(found) > 3 else None


@RULES.rule("words:consonants")
def consonants(text: Text) -> Fault:
    """Require two consonants in a row in each word."""
    for token in text.lower.split():
        if not CONSONANT_PAIR.search(token):
            return f"{quoted(token)} has no two consonants in a row"
    return None


@RULES.rule("words:palindrome")
def palindrome(text: Text) -> Fault:
    """Count palindromes of at least five letters."""
    found = sum(1 for word in plain_words(text) if len(word) >= 5 and word == word[::-1])
    return compared(found, "at least", 10, "palindromes of five letters or more")


@RULES.rule("words:prime_lengths")
def prime_lengths(text: Text) -> Fault:
    """Require each word's length to be a prime below 100."""
    for word in unmarked(text.raw).split():
        if len(word) not in PRIMES:
            return f"{quoted(word)} has {len(word)} letters, a prime below 100 wanted"
    return None


@RULES.rule("words:start_verb", tagger=True)
def start_verb(text: Text) -> Fault:
    """Require a verb as first word."""
    tag = text.tools.first_tag(text.tokens) if text.tokens else "nothing"
    return None if "VB" in tag else f"the first word is tagged {tag}, not as a verb"


@RULES.rule("words:repeats")
def repeats(text: Text, small_n: Count) -> Fault:
    """Require that no word comes more often than wanted."""
    word, times = max(Counter(plain_words(text)).items(), key=lambda pair: pair[1], default=("", 0))
    if times <= small_n:
        return None
    return f"{quoted(word)} comes {times} times, at most {small_n} wanted"


@RULES.rule("words:odd_even_syllables")
def odd_even_syllables(text: Text) -> Fault:
    """Require odd and even syllables by turns. Words with digits have none, which is even."""
    words = plain_words(text)
    counts = [syllapy.count(word) for word in words]
    for place in range(1, len(counts)):
        if counts[place] % 2 == counts[place - 1] % 2:
            return (
                f"{quoted(words[place - 1])} and {quoted(words[place])} have {counts[place - 1]} and "
                f"{counts[place]} syllables, odd and even by turns wanted"
            )
    return None


@RULES.rule("words:no_consecutive")
def no_consecutive(text: Text) -> Fault:
    """Require different initials of neighbouring words."""
    words = plain_words(text)
    for first, second in pairwise(words):
        if first[0] == second[0]:
            return f"{quoted(first)} and {quoted(second)} begin with the same letter"
    return None


@RULES.rule("words:last_first")
def last_first(text: Text) -> Fault:
    """Require each sentence to begin with the last word of the one before."""
    for first, second in pairwise(text.sentences):
        ending, beginning = first.rstrip(EDGE).split(), second.lstrip(EDGE).split()
        if not ending or not beginning:
            return f"{quoted(first if not ending else second)} has no words"
        if ending[-1].lower() != beginning[0].lower():
            return f"a sentence ends with {quoted(ending[-1])}, the next begins with {quoted(beginning[0])}"
    return None


@RULES.rule("words:paragraph_last_first")
def paragraph_last_first(text: Text) -> Fault:
    """Require each line to begin and end with the same word."""
    for line in text.lines:
        words = line.strip().lower().strip(EDGE).split()
        if words and words[0] != words[-1]:
            return f"a paragraph begins with {quoted(words[0])} and ends with {quoted(words[-1])}"
    return None


@RULES.rule("words:keywords_specific_position")
def keywords_specific_position(text: Text, keyword: Trimmed, n: Ordinal, m: Ordinal) -> Fault:
    """Require the keyword as word `m` of sentence `n`. Marks are not words."""
    if len(text.sentences) < n:
        return f"{len(text.sentences)} sentences, so none has number {n}"
    tokens = text.tools.tokens(text.sentences[n - 1])
    spoken = (token for token in tokens if any(char.isalnum() for char in token))
    words = list(islice(spoken, m))
    if len(words) < m:
        return f"sentence {n} has {len(words)} words, so none has number {m}"
    found = words[m - 1]
    if found.lower() == keyword.lower():
        return None
    return f"word {m} of sentence {n} is {quoted(found)}, {quoted(keyword)} wanted"


@RULES.rule("words:words_position")
def words_position(text: Text, keyword: Trimmed) -> Fault:
    """Require the keyword as second and second-last word. A final mark is not a word."""
    tokens = text.tokens
    last = 3 if tokens and tokens[-1] in string.punctuation else 2
    if len(tokens) < last:
        return "too few words"
    for place, found in (("second", tokens[1]), ("second-last", tokens[-last])):
        if found.lower() != keyword.lower():
            return f"the {place} word is {quoted(found)}, {quoted(keyword)} wanted"
    return None


@RULES.rule("sentence:keyword")
def keyword(text: Text, word: Trimmed, N: Ordinal) -> Fault:
    """Look for the keyword as a whole word in sentence `N`."""
    if len(text.sentences) < N:
        return f"{len(text.sentences)} sentences, so none has number {N}"
    if re.search(rf"\b{re.escape(word)}\b", text.sentences[N - 1], re.IGNORECASE):
        return None
    return f"sentence {N} does not hold {quoted(word)}"


@RULES.rule("sentence:alliteration_increment")
def alliteration_increment(text: Text) -> Fault:
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


@RULES.rule("sentence:increment")
def increment(text: Text, small_n: int) -> Fault:
    """Require each sentence to have `small_n` words more than the one before."""
    counts = [len(unmarked(sentence).split()) for sentence in text.sentences]
    for place in range(1, len(counts)):
        if counts[place] != counts[place - 1] + small_n:
            return (
                f"sentence {place + 1} has {counts[place]} words after {counts[place - 1]}, "
                f"{small_n} more wanted"
            )
    return None
