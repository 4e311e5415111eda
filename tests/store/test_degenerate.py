"""Completions that no working model gives are told from short, odd and repetitive ones."""

from __future__ import annotations

import time

import pytest

from genbench.store.degenerate import alarm, degeneracy_of
from genbench.store.stored_run import TokenCount
from genbench.types import Completion, FinishReason, SampleId
from tests.table import each_row


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u3000"])
def test_blanks_are_empty(text: str) -> None:
    assert degeneracy_of(text) == "empty"


@each_row(
    "text",
    [
        "!" * 96,
        "<pad>" * 96,
        "<|endoftext|>" * 8,
        "<|finetune_right_pad_id|>" * 20,
        "<｜▁pad▁｜>" * 9,
        " the" * 40,
        "\u0000" * 30,
        "ab" * 50 + "a",
        "\n" * 7 + "0" + ("\n" * 7 + "0") * 12,
    ],
)
def test_one_unit_many_times_is_a_repetition(text: str) -> None:
    assert degeneracy_of(text) == "one token repeated"


@pytest.mark.parametrize("text", ["<pad>", "<|im_end|>", "<|a|> <|b|>"])
def test_a_few_special_tokens_are_padding(text: str) -> None:
    assert degeneracy_of(text) == "padding"


@each_row(
    "text",
    [
        "4",
        "A",
        "1111",
        "\\boxed{2}",
        "no no no no no",
        "The answer is 77777777.",
        "<b>text</b>",
        "!" * 50 + " and then an answer",
        "answer " + "!" * 100,
        "a sentence that is longer than any token. " * 20,
        "<think>short</think>4",
    ],
)
def test_answers_are_not_degenerate(text: str) -> None:
    assert degeneracy_of(text) is None


def test_a_long_text_is_looked_at_quickly() -> None:
    text = "ab" * 2_000_000 + "c"
    started = time.process_time()
    assert degeneracy_of(text) is None
    assert time.process_time() - started < 1.0


def test_half_is_an_alarm_and_less_is_none() -> None:
    assert alarm({"empty": 24}, 50, "the first 50 samples") is None
    assert alarm({}, 0, "nothing") is None
    line = alarm({"empty": 5, "one token repeated": 20}, 50, "the first 50 samples")
    assert line is not None
    assert line.startswith("25 of the first 50 samples are degenerate (5 empty, 20 one token repeated): ")


def completion(text: str, finish_reason: FinishReason = "stop") -> Completion:
    return Completion(SampleId("t", "p", 0), 0, 1, None, text, finish_reason, 1, 1, 0, 8, 1, None)


def test_the_count_of_a_task_leaves_out_requests_that_failed() -> None:
    count = TokenCount()
    for item in (completion(""), completion("", "error"), completion("4"), completion("!" * 20, "length")):
        count.add(item, 8)
    assert count.degenerate == {"empty": 1, "one token repeated": 1}
    assert count.items == 4
