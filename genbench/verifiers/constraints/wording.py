"""IFBench's `words:` rules on single words: their letters, their lengths, how often they come."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import syllapy  # type: ignore[import-untyped]

from genbench.verifiers.constraints.rule import Count, Fault, Kwargs, NoKwargs, Rule, Rules, compared, quoted
from genbench.verifiers.constraints.text import Text
from genbench.verifiers.constraints.wordlists import unmarked

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
CONSONANT_PAIR = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
PRIMES = frozenset(n for n in range(2, 100) if all(n % divisor for divisor in range(2, 10) if divisor < n))


def plain_words(text: Text) -> list[str]:
    """Return the tokens between blanks, in small letters and without marks."""
    return unmarked(text.lower).split()


def alphabet(text: Text, _: NoKwargs) -> Fault:
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


def vowel(text: Text, _: NoKwargs) -> Fault:
    """Require one paragraph with at most three different vowels."""
    if "\n" in text.stripped:
        return "more than one paragraph"
    found = sorted(set("aeiou") & set(text.stripped.lower()))
    return f"the vowels {', '.join(found)}, at most 3 wanted" if len(found) > 3 else None


def consonants(text: Text, _: NoKwargs) -> Fault:
    """Require two consonants in a row in each word."""
    for token in text.lower.split():
        if not CONSONANT_PAIR.search(token):
            return f"{quoted(token)} has no two consonants in a row"
    return None


def palindrome(text: Text, _: NoKwargs) -> Fault:
    """Count palindromes of at least five letters."""
    found = sum(1 for word in plain_words(text) if len(word) >= 5 and word == word[::-1])
    return compared(found, "at least", 10, "palindromes of five letters or more")


def prime_lengths(text: Text, _: NoKwargs) -> Fault:
    """Require each word's length to be a prime below 100."""
    for word in unmarked(text.raw).split():
        if len(word) not in PRIMES:
            return f"{quoted(word)} has {len(word)} letters, a prime below 100 wanted"
    return None


def start_verb(text: Text, _: NoKwargs) -> Fault:
    """Require a verb as first word."""
    tag = text.tools.first_tag(text.tokens) if text.tokens else "nothing"
    return None if "VB" in tag else f"the first word is tagged {tag}, not as a verb"


class Repeats(Kwargs):
    """The kwargs of `words:repeats`."""

    small_n: Count


def repeats(text: Text, want: Repeats) -> Fault:
    """Require that no word comes more often than wanted."""
    word, times = max(Counter(plain_words(text)).items(), key=lambda pair: pair[1], default=("", 0))
    if times <= want.small_n:
        return None
    return f"{quoted(word)} comes {times} times, at most {want.small_n} wanted"


def odd_even_syllables(text: Text, _: NoKwargs) -> Fault:
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


def no_consecutive(text: Text, _: NoKwargs) -> Fault:
    """Require different initials of neighbouring words."""
    words = plain_words(text)
    for first, second in pairwise(words):
        if first[0] == second[0]:
            return f"{quoted(first)} and {quoted(second)} begin with the same letter"
    return None


RULES: Rules = (
    Rule("words:alphabet", NoKwargs, alphabet),
    Rule("words:vowel", NoKwargs, vowel),
    Rule("words:consonants", NoKwargs, consonants),
    Rule("words:palindrome", NoKwargs, palindrome),
    Rule("words:prime_lengths", NoKwargs, prime_lengths),
    Rule("words:start_verb", NoKwargs, start_verb, tagger=True),
    Rule("words:repeats", Repeats, repeats),
    Rule("words:odd_even_syllables", NoKwargs, odd_even_syllables),
    Rule("words:no_consecutive", NoKwargs, no_consecutive),
)
