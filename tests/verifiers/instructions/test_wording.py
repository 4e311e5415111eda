"""IFBench's `words:` rules on single words."""

from __future__ import annotations

import pytest

from genbench.verifiers.instructions import ifbench_words
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(
    ("text", "followed"),
    [("Yes zebras are big", True), ("A big cat", True), ("A cat", False), ("1 a", False)],
)
def test_words_go_through_the_alphabet_and_round_again(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_words.alphabet(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(("text", "followed"), [("abide", True), ("aeio", False), ("a\nb", False)])
def test_at_most_three_vowels_in_one_paragraph(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_words.vowel(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(("text", "followed"), [("This winds", True), ("This is", False)])
def test_every_word_has_two_consonants_in_a_row(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_words.consonants(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(("count", "followed"), [(10, True), (9, False)])
def test_ten_palindromes_of_five_letters(tools: Toolbox, count: int, followed: bool) -> None:
    text = "Level, " * count + "mom and dad"
    assert (ifbench_words.palindrome(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(("text", "followed"), [("So we eat", True), ("four", False), ("a", False)])
def test_lengths_are_primes(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_words.prime_lengths(Text(text, tools)) is None) is followed


def test_primes_are_those_below_a_hundred() -> None:
    assert (
        len(ifbench_words.PRIMES) == 25 and max(ifbench_words.PRIMES) == 97 and 1 not in ifbench_words.PRIMES
    )


def test_no_word_comes_too_often(tools: Toolbox) -> None:
    assert ifbench_words.repeats(Text("a b a", tools), small_n=2) is None
    found = ifbench_words.repeats(Text("a b A a.", tools), small_n=2)
    assert found == "'a' comes 3 times, at most 2 wanted"


@pytest.mark.parametrize(("text", "followed"), [("cat tiger cat", True), ("cat dog", False), ("cat", True)])
def test_odd_and_even_syllables_take_turns(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_words.odd_even_syllables(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(("text", "followed"), [("a big cat", True), ("big Bad wolf", False)])
def test_neighbours_begin_with_other_letters(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_words.no_consecutive(Text(text, tools)) is None) is followed
