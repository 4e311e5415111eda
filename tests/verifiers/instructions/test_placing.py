"""IFBench's rules on places of words."""

from __future__ import annotations

import pytest

from genbench.verifiers.instructions import ifbench_words
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(
    ("text", "followed"),
    [("I like cats. Cats purr.", True), ("I like cats. Dogs bark.", False), ("One sentence.", True)],
)
def test_a_sentence_begins_as_the_last_one_ended(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_words.last_first(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"),
    [
        ("Day by day.\n\nWord", True),
        ("Day by night.", False),
        ("(Day by *day*!", False),
        ("*Day by day*!", True),
    ],
)
def test_a_line_begins_and_ends_with_one_word(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_words.paragraph_last_first(Text(text, tools)) is None) is followed


def test_a_keyword_stands_at_its_sentence_and_word(tools: Toolbox) -> None:
    text = Text("One two. Three, FOUR five.", tools)
    assert ifbench_words.keywords_specific_position(text, keyword="four", n=2, m=2) is None
    missing = ifbench_words.keywords_specific_position(text, keyword="four", n=3, m=1)
    assert missing == "2 sentences, so none has number 3"
    short = ifbench_words.keywords_specific_position(text, keyword="four", n=1, m=3)
    assert short == "sentence 1 has 2 words, so none has number 3"
    other = ifbench_words.keywords_specific_position(text, keyword="four", n=1, m=1)
    assert other == "word 1 of sentence 1 is 'One', 'four' wanted"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("A cat saw a cat there.", None),
        ("A cat saw a cat there", None),
        ("A dog saw a cat there.", "the second word is 'dog', 'cat' wanted"),
        ("A cat saw a dog there.", "the second-last word is 'dog', 'cat' wanted"),
        ("Cat", "too few words"),
    ],
)
def test_a_keyword_stands_second_and_second_last(tools: Toolbox, text: str, fault: str | None) -> None:
    assert ifbench_words.words_position(Text(text, tools), keyword="cat") == fault


def test_a_keyword_is_a_whole_word_of_its_sentence(tools: Toolbox) -> None:
    text = Text("A dog. A Cat. A dog.", tools)
    assert ifbench_words.keyword(text, word="cat", N=2) is None
    assert ifbench_words.keyword(text, word="ca", N=2) is not None
    assert ifbench_words.keyword(text, word="cat", N=4) is not None
