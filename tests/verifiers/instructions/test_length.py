"""IFEval's `length_constraints:` rules."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.verifiers.instructions import ifeval_rules
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(
    ("text", "sentences"),
    [("One. Two! Three?", 3), ("Mr. Smith left.", 1), ("no end marks\nat all", 1), ("1. First 2. Second", 3)],
)
def test_sentences_are_those_of_the_splitter(tools: Toolbox, text: str, sentences: int) -> None:
    least: dict[str, Any] = {"num_sentences": sentences, "relation": "at least"}
    fewer: dict[str, Any] = {"num_sentences": sentences, "relation": "less than"}
    assert ifeval_rules.number_sentences(Text(text, tools), **least) is None
    assert ifeval_rules.number_sentences(Text(text, tools), **fewer) is not None


@pytest.mark.parametrize(("text", "words"), [("Don't", 2), ("well-known", 2), ("snake_case", 1), ("3.5", 2)])
def test_words_are_runs_of_word_characters(tools: Toolbox, text: str, words: int) -> None:
    assert ifeval_rules.number_words(Text(text, tools), num_words=words, relation="at least") is None
    assert ifeval_rules.number_words(Text(text, tools), num_words=words, relation="less than")


@pytest.mark.parametrize(
    ("text", "followed"),
    [
        ("a\n***\nb", True),
        ("***\na***b", True),
        ("a\n\nb", False),
        ("a\n******\nb", False),
        ("a***b***c", False),
    ],
)
def test_two_paragraphs_are_parted_by_stars(tools: Toolbox, text: str, followed: bool) -> None:
    want: dict[str, Any] = {"num_paragraphs": 2}
    assert (ifeval_rules.number_paragraphs(Text(text, tools), **want) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"),
    [("One\n\nTwo words", True), ("One\n\n'\"Two, words", True), ("One\n\n*Two*", False), ("One", False)],
)
def test_a_numbered_paragraph_begins_with_a_word(tools: Toolbox, text: str, followed: bool) -> None:
    want: dict[str, Any] = {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "two"}
    assert (ifeval_rules.nth_paragraph_first_word(Text(text, tools), **want) is None) is followed


@pytest.mark.parametrize(
    ("paragraph", "word"), [("Hello, you", "hello"), ('\'"Hi" there', "hi"), ("(So) it", "(so)")]
)
def test_the_leading_word_ends_at_a_mark(paragraph: str, word: str) -> None:
    assert ifeval_rules.leading_word(paragraph) == word
