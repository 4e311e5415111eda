"""The words that take an answer back."""

from __future__ import annotations

import re

import pytest

from genbench.verifiers.language import retraction as words
from tests.table import each_row

LISTS = [name for name in vars(words) if name.isupper() and not name.startswith("_")]


@each_row("name", LISTS)
def test_every_list_is_a_pattern_that_matches_no_empty_text(name: str) -> None:
    assert re.compile(f"(?:{getattr(words, name)})").fullmatch("") is None


@pytest.mark.parametrize(
    "text",
    ["disregard what i wrote above", "that is a mistake", "my answer was not correct", "i give up", "我错了"],
)
def test_whole_sentences_take_back(text: str) -> None:
    assert re.compile(words.TAKES_BACK).fullmatch(text)
    assert not re.compile(words.CONFIRMS).fullmatch(text)
