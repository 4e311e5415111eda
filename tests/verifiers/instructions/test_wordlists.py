"""The word lists, held to the numbers that the benchmark states."""

from __future__ import annotations

from genbench.verifiers.instructions.word_lists import (
    CONJUNCTIONS,
    NAMES,
    PRONOUNS,
    PUNCTUATION,
    STOP_WORDS,
    unmarked,
    words,
)


def test_the_lists_have_their_official_lengths() -> None:
    assert (len(PRONOUNS), len(STOP_WORDS), len(CONJUNCTIONS), len(PUNCTUATION)) == (63, 153, 7, 32)
    assert NAMES.pattern.count("|") == 49


def test_lists_are_in_small_letters_without_marks() -> None:
    for listed in (PRONOUNS, STOP_WORDS, CONJUNCTIONS):
        assert all(word == word.lower() and word.isalpha() for word in listed)


def test_a_list_is_written_as_text() -> None:
    assert words("a b\n a  c") == {"a", "b", "c"}


def test_ascii_marks_are_taken_out_and_others_stay() -> None:
    assert unmarked("it's — “so”, (no)!") == "its — “so” no"
