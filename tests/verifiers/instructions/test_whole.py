"""IFEval's rules on a whole text."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.verifiers.instructions import ifeval_rules
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(
    ("text", "followed"),
    [
        ("a******b", True),
        ("******a******b******", True),
        ("a******a", False),
        ("a******\n******b", False),
        ("a", False),
    ],
)
def test_two_different_responses_are_parted_by_six_stars(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifeval_rules.two_responses(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"), [(" write a poem. Roses", True), ("Roses. Write a poem.", False)]
)
def test_the_prompt_comes_first(tools: Toolbox, text: str, followed: bool) -> None:
    want: dict[str, Any] = {"prompt_to_repeat": "Write a poem."}
    assert (ifeval_rules.repeat_prompt(Text(text, tools), **want) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"), [("Well. THE END", True), ('"The end" ', True), ("The end.", False)]
)
def test_the_end_phrase_comes_last_up_to_quotes(tools: Toolbox, text: str, followed: bool) -> None:
    want: dict[str, Any] = {"end_phrase": "the end"}
    assert (ifeval_rules.end_checker(Text(text, tools), **want) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"), [(' "a" ', True), ('"', False), ("'a'", False), ("“a”", False)]
)
def test_a_quotation_is_in_straight_double_quotes(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifeval_rules.quotation(Text(text, tools)) is None) is followed


def test_commas_are_counted(tools: Toolbox) -> None:
    assert ifeval_rules.no_comma(Text("a b", tools)) is None
    assert ifeval_rules.no_comma(Text("a, b, c", tools)) == "holds commas (2), none wanted"
