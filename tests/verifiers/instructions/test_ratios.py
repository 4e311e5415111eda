"""IFBench's `ratio:` rules: shares at their bounds."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from genbench.verifiers.instructions import ifbench_counts
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


def test_the_share_of_stop_words_may_reach_the_bound(tools: Toolbox) -> None:
    text = Text("The cat and dog", tools)
    assert ifbench_counts.stop_words(text, percentage=50) is None
    found = ifbench_counts.stop_words(text, percentage=49)
    assert found == "50.0 % of the words are stop words, at most 49 % wanted"


def test_a_text_without_words_has_no_share(tools: Toolbox) -> None:
    assert ifbench_counts.stop_words(Text("!!!", tools), percentage=100) == "no words"


def test_a_percentage_is_between_0_and_100() -> None:
    for percentage in (-1, 101):
        with pytest.raises(ValidationError):
            ifbench_counts.RULES["ratio:stop_words"].kwargs.model_validate({"percentage": percentage})


def test_statements_are_twice_the_questions(tools: Toolbox) -> None:
    assert ifbench_counts.sentence_type(Text("It is. So it is. Is it?", tools)) is None
    assert ifbench_counts.sentence_type(Text("It is. Is it?", tools)) is not None


def test_the_three_endings_are_balanced(tools: Toolbox) -> None:
    assert ifbench_counts.sentence_balance(Text("It is. Is it? It is!", tools)) is None
    found = ifbench_counts.sentence_balance(Text("It is. Is it?", tools))
    assert found is not None and "0 in '!'" in found


@pytest.mark.parametrize(("percentage", "followed"), [(50, True), (48, True), (52, True), (47.9, False)])
def test_the_overlap_is_within_two_points(tools: Toolbox, percentage: float, followed: bool) -> None:
    # "abcd" has the trigrams abc and bcd; the reference contains the first only.
    want: dict[str, Any] = {"reference_text": "abc", "percentage": percentage}
    assert (ifbench_counts.overlap(Text("abcd", tools), **want) is None) is followed


def test_a_text_shorter_than_a_trigram_has_no_overlap(tools: Toolbox) -> None:
    want: dict[str, Any] = {"reference_text": "abc", "percentage": 0}
    assert ifbench_counts.overlap(Text("ab", tools), **want) == "shorter than one trigram"


def test_three_sentences_of_one_length(tools: Toolbox) -> None:
    assert ifbench_counts.sentence_words(Text("A cat. A dog. A cow.", tools)) is None
    assert ifbench_counts.sentence_words(Text("A cat. A dog.", tools)) == "2 sentences, exactly 3 wanted"
    longer = ifbench_counts.sentence_words(Text("A cat. A dog. A horse.", tools))
    assert longer == "the sentences have 6, 6 and 8 characters, the same wanted"
