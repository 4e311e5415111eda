"""The words that announce answers."""

from __future__ import annotations

import re

import pytest

from genbench.verifiers.language.announcements import CONNECTIVES, alternation, announcement
from tests.table import each_row

ANNOUNCED = re.compile(announcement(), re.IGNORECASE | re.MULTILINE)


@each_row(
    "text",
    [
        "The answer is 7",
        "Final answer: 7",
        "**Answer:** 7",
        "#### 7",
        "<answer>7",
        "答案：7",
        "Die Antwort lautet 7",
        "La réponse est 7",
        "La respuesta es 7",
        "La risposta è 7",
        "A resposta é 7",
        "The answer to the question is therefore 7",
        '"answer": 7',
    ],
)
def test_announcements_end_before_the_answer(text: str) -> None:
    match = ANNOUNCED.search(text)
    assert match is not None
    assert text[match.end() :].strip() == "7"


@pytest.mark.parametrize("text", ["7", "We answered all 7", "The total is 7"])
def test_other_sentences_announce_nothing(text: str) -> None:
    assert ANNOUNCED.search(text) is None


def test_longer_words_come_first() -> None:
    words = alternation(CONNECTIVES).split("|")
    assert [len(word) for word in words] == sorted((len(word) for word in words), reverse=True)
