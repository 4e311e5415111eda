"""Words and hashed n-grams, against plain Python on the same texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.data.overlap import Powers, WordBatch, normalised, words
from tests.table import each_row


@each_row(
    "text, found",
    [
        ("Hello, World!", ["hello", "world"]),
        ("a-b_c  d\n\te", ["a", "b", "c", "d", "e"]),
        ("x = 3.14", ["x", "3", "14"]),
        ("ÉCOLE straße", ["école", "straße"]),
        ("ﬁne ②", ["fine", "2"]),
        ("数学 ok", ["数", "学", "ok"]),
        ("“quoted” — text", ["quoted", "text"]),
        ("", []),
        ("!!!", []),
    ],
)
def test_words_are_lower_case_runs_of_letters_and_digits(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_ascii_text_is_left_as_it_is() -> None:
    assert normalised("Hello, World!") == "Hello, World!"


def test_words_of_a_batch_are_counted_by_text() -> None:
    batch = WordBatch(["one two", "", "three"], [0, 1, 2])
    assert batch.count == 3
    assert batch.texts.tolist() == [0, 0, 2]


def test_equal_words_have_equal_ngrams_in_any_case_and_punctuation() -> None:
    plain = WordBatch(["the quick brown fox jumps"], [0])
    loud = WordBatch(["xyz  THE -- quick, Brown\nfox (jumps)"], [0])
    assert plain.ngrams(5)[0] == loud.ngrams(5)[1]


def test_other_words_or_another_order_have_other_ngrams() -> None:
    found = [WordBatch([text], [0]).ngrams(3)[0] for text in ("a b c", "a c b", "a b d", "ab c d", "a bc d")]
    assert len(set(found)) == 5


def test_a_text_shorter_than_the_ngram_has_none() -> None:
    assert len(WordBatch(["one two"], [0]).ngrams(3)) == 0
    assert len(WordBatch([""], [0]).ngrams(1)) == 0


def test_ngrams_do_not_cross_documents() -> None:
    batch = WordBatch(["a b", "c d", "e f"], [0, 0, 1])
    places = np.arange(len(batch.ngrams(3)))
    assert batch.within(places, 3).tolist() == [0, 1]


def test_shown_text_is_that_of_the_file() -> None:
    assert WordBatch(["So, THE end!"], [0]).shown(1, 2) == "THE end"


def test_powers_of_an_earlier_batch_give_the_same_hashes() -> None:
    powers = Powers()
    WordBatch(["some words before"], [0], powers)
    again = WordBatch(["four words are here"], [0], powers).ngrams(2)
    assert again.tolist() == WordBatch(["four words are here"], [0]).ngrams(2).tolist()


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=6), st.integers(1, 4))
def test_ngrams_are_equal_exactly_if_their_words_are(texts: list[str], length: int) -> None:
    batch = WordBatch(texts, range(len(texts)))
    flat = [word for text in texts for word in words(text)]
    assert batch.count == len(flat)
    hashes = batch.ngrams(length).tolist()
    spelled = [tuple(flat[at : at + length]) for at in range(len(flat) - length + 1)]
    assert len(hashes) == max(0, len(spelled))
    assert len(set(hashes)) == len(set(spelled))
    assert len(set(zip(hashes, spelled, strict=True))) == len(set(spelled))
