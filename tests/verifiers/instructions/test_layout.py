"""IFBench's `format:` rules on lines."""

from __future__ import annotations

import pytest

from genbench.verifiers.instructions import ifbench_format
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(("text", "followed"), [("one\ntwo\n", True), ("one two\nthree", False)])
def test_each_word_has_a_line(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.newline(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(("text", "followed"), [("Hi there 😀", True), ("Hi there.", False)])
def test_a_sentence_ends_with_an_emoji(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.emoji(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(("text", "followed"), [("a\n b\n  c", True), ("a\n b\n b", False)])
def test_every_line_is_indented_more(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.line_indent(Text(text, tools)) is None) is followed


def test_a_separator_comes_twice_anywhere(tools: Toolbox) -> None:
    assert ifbench_format.listed(Text("a!?b!?c", tools), sep="!?") is None
    assert ifbench_format.listed(Text("a!?b", tools), sep="!?") is not None


@pytest.mark.parametrize(
    ("text", "followed"),
    [("<i>So it is.</i> Because.", True), ("<i>So it is.</i>", False), ("<i></i> x", False), ("So.", False)],
)
def test_a_thesis_is_in_italics_with_text_after_it(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.thesis(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"), [("* a\n - b\n* c\n - d", True), ("* a\n* b - c", False), ("x", True)]
)
def test_every_star_has_a_dash_below(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.sub_bullets(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"),
    [("One. Two.\n* a\n* b", True), ("One.\n* a\n* b", False), ("One. Two.\n* a", False)],
)
def test_two_sentences_then_two_bullets(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.no_bullets_bullets(Text(text, tools)) is None) is followed
