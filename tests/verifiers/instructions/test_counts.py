"""IFBench's `count:` rules, each at the edge between followed and broken."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.verifiers.instructions import ifbench_counts
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(("words", "followed"), [(2, False), (3, True), (5, True), (6, False)])
def test_a_range_of_words_includes_both_ends(tools: Toolbox, words: int, followed: bool) -> None:
    want: dict[str, Any] = {"min_words": 3, "max_words": 5}
    found = ifbench_counts.word_count_range(Text("word " * words, tools), **want)
    assert (found is None) is followed
    assert followed or found == f"{words} words, 3 to 5 wanted"


def test_different_words_ignore_case_and_outer_marks(tools: Toolbox) -> None:
    text = Text("Cat, cat (CAT) dog!", tools)
    assert ifbench_counts.unique_word_count(text, N=2) is None
    assert ifbench_counts.unique_word_count(text, N=3) == "2 different words, at least 3 wanted"


def test_a_token_of_marks_is_one_more_different_word(tools: Toolbox) -> None:
    assert ifbench_counts.unique_word_count(Text("cat - dog ...", tools), N=3) is None


def test_spellings_of_one_conjunction_count_as_different(tools: Toolbox) -> None:
    text = Text("and And and, or", tools)
    assert ifbench_counts.conjunctions(text, small_n=4) is None
    assert ifbench_counts.conjunctions(text, small_n=5) is not None


def test_names_count_once_and_as_whole_words(tools: Toolbox) -> None:
    text = Text("Emma and Emma met Liamson, Noah and emma.", tools)
    assert ifbench_counts.person_names(text, N=2) is None
    assert ifbench_counts.person_names(text, N=3) is not None


@pytest.mark.parametrize(
    ("text", "numbers"), [("1,000.5", 1), ("2024-05-06", 1), ("1 and 2", 2), ("none", 0)]
)
def test_marks_inside_a_number_do_not_part_it(tools: Toolbox, text: str, numbers: int) -> None:
    assert ifbench_counts.numbers(Text(text, tools), N=numbers) is None
    assert ifbench_counts.numbers(Text(text, tools), N=numbers + 1) is not None


def test_every_mark_and_an_interrobang_are_needed(tools: Toolbox) -> None:
    whole = "A; b: c, d. e! f? g?!"
    assert ifbench_counts.punctuation(Text(whole, tools)) is None
    assert ifbench_counts.punctuation(Text(whole.replace("?!", ""), tools)) == "no interrobang"
    alone = ifbench_counts.punctuation(Text("A; b: c, d. g?!", tools))
    assert alone == "no ! ? besides the interrobang"


def test_every_nth_word_must_be_japanese_unless_it_is_a_number(tools: Toolbox) -> None:
    want: dict[str, Any] = {"N": 2}
    assert ifbench_counts.words_japanese(Text("one 二 three 4", tools), **want) is None
    found = ifbench_counts.words_japanese(Text("one two", tools), **want)
    assert found is not None and "'two' is not Japanese" in found


def test_pronouns_are_counted_each_time(tools: Toolbox) -> None:
    text = Text("He saw her, and she/they saw him.", tools)
    assert ifbench_counts.pronouns(text, N=5) is None
    assert ifbench_counts.pronouns(text, N=6) is not None


def test_five_keywords_have_their_own_numbers_of_times(tools: Toolbox) -> None:
    want: dict[str, Any] = {
        "keyword1": "ant",
        "keyword2": "bee",
        "keyword3": "cow",
        "keyword4": "dog",
        "keyword5": "elk",
    }
    text = " ".join(["ant"] + ["bee"] * 2 + ["cow"] * 3 + ["dog"] * 5 + ["elk"] * 7)
    assert ifbench_counts.keywords_multiple(Text(text, tools), **want) is None
    assert (
        ifbench_counts.keywords_multiple(Text(f"{text} bee", tools), **want)
        == "3 times 'bee', exactly 2 wanted"
    )
