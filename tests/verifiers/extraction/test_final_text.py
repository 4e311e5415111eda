"""Which words of a response are its answer."""

from __future__ import annotations

import time

import pytest

from genbench.verifiers.extraction.final_text import StatedText, final_text, plain
from tests.table import each_row


def text_of(response: str) -> str | None:
    found = final_text(response)
    return None if found is None or found.retracted or found.denied else found.text


@each_row(
    "response",
    [
        "Answer: Paris",
        "It is in France.\n\n**Answer:** Paris.",
        "The answer is **Paris**.",
        "So the final answer is: Paris",
        "Paris",
        "Let me think.\nParis.",
        "\\boxed{\\text{Paris}}",
        "Answer:\n\nParis\n",
        "Answer: $\\text{Paris}$",
        '{"answer": "Paris"}',
        "<answer>Paris</answer>",
        "### Answer: “Paris”",
        "Answer: Paris I hope it is correct.",
        "Answer: Paris<|im_end|>",
        "Antwort: Paris",
        "Answer: London\nOn reflection, more.\nAnswer: Paris",
    ],
)
def test_the_answer_is_found_without_the_marks_around_it(response: str) -> None:
    assert text_of(response) == "Paris"


def test_a_box_after_the_line_takes_its_place_and_a_line_after_the_box_too() -> None:
    assert text_of("Answer: London\nThus \\boxed{Paris}") == "Paris"
    assert text_of("\\boxed{London}\nAnswer: Paris") == "Paris"


def test_a_line_of_its_own_counts_before_a_sentence_about_the_answer() -> None:
    assert text_of("Answer: Paris\nThe answer is in the second paragraph.") == "Paris"


@pytest.mark.parametrize(
    "response",
    [
        "Answer: Paris\n\nThat is wrong.",
        "Answer: Paris\nWait, it's London.",
        "Answer: Paris\nNo wait, London",
        "Answer: Paris. \nNo, scratch that.",
        "Answer: not Paris",
        "The answer is not Paris",
    ],
)
def test_an_answer_that_is_taken_back_or_denied_is_none(response: str) -> None:
    assert text_of(response) is None


def test_a_second_thought_that_comes_back_to_the_answer_leaves_it() -> None:
    assert text_of("Answer: Paris\nWait, let me check. Yes, it is Paris.") == "Paris"


def test_a_word_such_as_actually_in_a_remark_takes_nothing_back() -> None:
    assert text_of("Answer: 1969\nActually a famous year.") == "1969"


def test_a_response_that_was_cut_off_has_no_last_line() -> None:
    assert final_text("I think that\nthe city of", guess=False) is None
    assert final_text("Answer: Paris\nbecause", guess=False) == StatedText("Paris", "label")


@pytest.mark.parametrize("response", ["", " \n ", "***\n---"])
def test_nothing_is_no_answer(response: str) -> None:
    assert final_text(response) is None


def test_the_way_in_which_it_was_found_is_told() -> None:
    ways = {"\\boxed{a}": "box", "Answer: a": "label", "a": "whole", "I think:\na": "guess"}
    found = {response: final_text(response) for response in ways}
    assert {response: item.how for response, item in found.items() if item} == ways


@each_row(
    "written, wanted",
    [
        ("**Paris**.", "Paris"),
        ("`x`", "x"),
        ("\\(a b\\)", "a b"),
        ("U.S.", "U.S"),
        ("$5", "$5"),
        (") ]", ") ]"),
    ],
)
def test_marks_go_and_what_belongs_to_the_answer_stays(written: str, wanted: str) -> None:
    assert plain(written) == wanted


@pytest.mark.parametrize(
    "before",
    [
        "I doubt that",
        "I don't think",
        "I am not sure",
        "It is unlikely that",
        "It is not true that",
        "I cannot believe",
    ],
)
def test_an_answer_that_is_doubted_is_not_given(before: str) -> None:
    found = final_text(f"{before} the answer is Paris.")
    assert found is not None and found.retracted


@pytest.mark.parametrize(
    "before",
    ["I have no doubt that", "Without a doubt", "I do not know why, but", "That is not sure. Still,"],
)
def test_an_answer_after_other_denials_is_given(before: str) -> None:
    found = final_text(f"{before} the answer is Paris.")
    assert found is not None and not found.retracted and found.text == "Paris"


@pytest.mark.parametrize(
    "text", ["Answer: No\n\nNo.", "The answer is No.\n\n**No**", "Answer: No\n\nIt is no."]
)
def test_an_answer_said_again_is_not_taken_back(text: str) -> None:
    stated = final_text(text)
    assert stated is not None
    assert (stated.text, stated.retracted) == ("No", False)


def test_an_answer_no_can_be_taken_back() -> None:
    stated = final_text("Answer: No\n\nNo, wait.")
    assert stated is not None
    assert stated.retracted


def test_many_empty_lines_after_a_box_are_read_at_once() -> None:
    start = time.process_time()
    final_text("\\boxed{42}" + 3_000 * "\n")
    assert time.process_time() - start < 0.3
