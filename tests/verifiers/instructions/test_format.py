"""IFEval's rules on marks."""

from __future__ import annotations

import pytest

from genbench.verifiers.instructions import ifeval_rules as marks
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(("text", "found"), [("[a] [b]", 2), ("[]", 1), ("[[a]]", 1), ("[a\nb]", 0), ("", 0)])
def test_placeholders_are_counted_within_lines(tools: Toolbox, text: str, found: int) -> None:
    assert marks.number_placeholders(Text(text, tools), num_placeholders=found) is None
    more = {"num_placeholders": found + 1}
    assert marks.number_placeholders(Text(text, tools), **more) is not None


@pytest.mark.parametrize(
    ("text", "found"), [("* a\n* b", 2), ("- a\n* b", 2), ("**bold**", 0), ("---", 1), ("+ a\n1. b", 0)]
)
def test_bullets_are_stars_and_dashes(tools: Toolbox, text: str, found: int) -> None:
    assert marks.number_bullet_lists(Text(text, tools), num_bullets=found) is None


@pytest.mark.parametrize(
    ("text", "found"), [("*x*", 1), ("**x**", 1), ("***x***", 2), ("* a * b", 1), ("x", 0)]
)
def test_highlights_are_counted_in_two_scans(tools: Toolbox, text: str, found: int) -> None:
    want = {"num_highlights": found}
    assert marks.number_highlighted_sections(Text(text, tools), **want) is None
    more = {"num_highlights": found + 1}
    assert marks.number_highlighted_sections(Text(text, tools), **more) is not None


@pytest.mark.parametrize(
    ("marker", "text", "followed"),
    [
        ("P.S.", "bye\np. s. more", True),
        ("P.S.", "P.P.S. x", True),
        ("P.P.S", "P.S. x", False),
        ("PS:", "ps: x", True),
    ],
)
def test_a_postscript_is_found_anywhere(tools: Toolbox, marker: str, text: str, followed: bool) -> None:
    want = {"postscript_marker": marker}
    assert (marks.postscript(Text(text, tools), **want) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"), [("So: My answer is yes.", True), ("My answer is Yes.", False), ("Yes.", False)]
)
def test_one_of_three_sentences_is_contained(tools: Toolbox, text: str, followed: bool) -> None:
    assert (marks.constrained_response(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"), [("```json\n{}\n```", True), ("[1]", True), ("NaN", True), ("{'a': 1}", False)]
)
def test_json_may_be_fenced_and_bare(tools: Toolbox, text: str, followed: bool) -> None:
    assert (marks.json_format(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"), [("<<A title>>\nx", True), ("<< >>", False), ("<A title>", False)]
)
def test_a_title_is_in_double_brackets(tools: Toolbox, text: str, followed: bool) -> None:
    assert (marks.title(Text(text, tools)) is None) is followed
