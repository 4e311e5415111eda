"""What the text after an answer makes of it."""

from __future__ import annotations

import time

import pytest

from genbench.verifiers.language.retraction import is_withdrawn, standing
from tests.table import each_row


@each_row(
    "text, wanted",
    [
        ("Scratch that.", "withdrawn"),
        ("That is wrong.", "withdrawn"),
        ("Wait, let me check.", ""),
        ("No, wait.", "withdrawn"),
        ("Wait, no. Let me see. Yes, that is right.", "confirmed"),
        ("That is right. Oh no, it is wrong.", "withdrawn"),
        ("Is another one possible? No.", ""),
        ("Is that right? No.", "withdrawn"),
        ("- Yes\n- No", ""),
        ("Many would say five, but that is wrong.", ""),
        ("I was wrong to doubt it.", ""),
        ("At that point I was wrong about Paris.", ""),
        ("Now I see that I was wrong about it.", "withdrawn"),
        ("It is not true for smaller values.", ""),
        ("Clearly it's false that size matters.", ""),
        ("In step 2 I made a mistake, which I fixed.", ""),
        ("In step 2 I made a mistake, which is bad.", "withdrawn"),
        ("Trying 41: 41 is odd. That does not work.", ""),
        ("You may get 17. That is not correct.", ""),
        ("나머지는 틀렸습니다.", ""),
        ("틀렸습니다.", "withdrawn"),
        ("disregarding the rest", ""),
    ],
)
def test_the_last_word_on_an_answer_counts(text: str, wanted: str) -> None:
    assert standing(text) == wanted


def test_a_sentence_with_another_letter_is_about_another_option() -> None:
    assert is_withdrawn("D: that is wrong.")
    assert not is_withdrawn("D: that is wrong.", about_options=True)


def test_an_option_with_the_text_no_denies_nothing() -> None:
    assert is_withdrawn("No.")
    assert not is_withdrawn("No.", spared={"no"})


@pytest.mark.parametrize(
    "unit", ["No, wait. ", "no ", "wait, ", "that is wrong, ", "I was wrong to ", ";", "不"]
)
def test_long_texts_take_linear_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.process_time()
    is_withdrawn(text)
    assert time.process_time() - start < 1.0
