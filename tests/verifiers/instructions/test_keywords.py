"""IFEval's `keywords:` rules."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from genbench.verifiers.instructions import ifeval_rules
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(
    ("text", "followed"), [("A CAT and a dog", True), ("concatenate dogma", True), ("A cat", False)]
)
def test_every_keyword_is_found_anywhere(tools: Toolbox, text: str, followed: bool) -> None:
    want: dict[str, Any] = {"keywords": ("cat", "dog")}
    assert (ifeval_rules.existence(Text(text, tools), **want) is None) is followed


@pytest.mark.parametrize(("times", "followed"), [(1, False), (2, True), (3, True)])
def test_a_keyword_comes_at_least_so_often(tools: Toolbox, times: int, followed: bool) -> None:
    want: dict[str, Any] = {"keyword": "Cat", "frequency": 2, "relation": "at least"}
    assert (ifeval_rules.frequency(Text("cat, " * times, tools), **want) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"), [("catalogue", True), ("a Cat.", False), ("cat-like", False), ("cat_1", True)]
)
def test_a_forbidden_word_is_a_whole_word(tools: Toolbox, text: str, followed: bool) -> None:
    want: dict[str, Any] = {"forbidden_words": ("cat",)}
    assert (ifeval_rules.forbidden_words(Text(text, tools), **want) is None) is followed


def test_a_letter_is_counted_in_both_cases(tools: Toolbox) -> None:
    text = Text("Anna and Ada", tools)
    want: dict[str, Any] = {"letter": "a", "let_frequency": 5, "let_relation": "at least"}
    assert ifeval_rules.letter_frequency(text, **want) is None
    fewer: dict[str, Any] = {"letter": "a", "let_frequency": 5, "let_relation": "less than"}
    assert ifeval_rules.letter_frequency(text, **fewer) is not None


def test_a_letter_is_one_character() -> None:
    kwargs = ifeval_rules.RULES["keywords:letter_frequency"].kwargs
    given: dict[str, Any] = {"let_frequency": 1, "let_relation": "at least"}
    assert dict(kwargs.model_validate({"letter": "#", **given}))["letter"] == "#"
    with pytest.raises(ValidationError):
        kwargs.model_validate({"letter": "ab", **given})
