"""The four accuracies, the sums that a resampling of prompts needs, and the table by kind."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.verifiers.instructions.accuracies import (
    ACCURACIES,
    InstructionKind,
    accuracies,
    by_kind,
    mean_of_turns,
    part,
    tallies,
    turns_of,
)

COMMA, WORDS = "punctuation:no_comma", "length_constraints:number_words"


def sample(*results: tuple[str, int, int], turn: int = 0) -> dict[str, float]:
    """Parts of a sample from (id, strict, loose) for each instruction of one turn."""
    return {
        part(mode, turn, place, instruction): float(value)
        for place, (instruction, *both) in enumerate(results)
        for mode, value in zip(("strict", "loose"), both, strict=True)
    }


ROWS = [
    [sample((COMMA, 1, 1))],
    [sample((COMMA, 0, 1), (WORDS, 1, 1))],
    [sample((COMMA, 0, 0), (COMMA, 1, 1), (WORDS, 0, 1))],
]


def test_prompts_count_once_and_instructions_each() -> None:
    found = dict(zip(ACCURACIES, accuracies(tallies(ROWS).sum(axis=0)), strict=True))
    assert found == pytest.approx(
        {
            "prompt_level_strict_acc": 1 / 3,
            "inst_level_strict_acc": 3 / 6,
            "prompt_level_loose_acc": 2 / 3,
            "inst_level_loose_acc": 5 / 6,
        }
    )


def test_a_resampling_of_prompts_is_a_sum_of_their_tallies() -> None:
    drawn = [2, 0, 2]
    again = [ROWS[index] for index in drawn]
    assert np.array_equal(tallies(again).sum(axis=0), tallies(ROWS)[drawn].sum(axis=0))
    many = tallies(ROWS)[np.array([drawn, [0, 0, 0]])].sum(axis=1)
    assert accuracies(many).shape == (2, 4)
    assert accuracies(many)[1] == pytest.approx([1, 1, 1, 1])


def test_several_samples_of_a_problem_all_count() -> None:
    twice = [[sample((COMMA, 1, 1)), sample((COMMA, 0, 1))]]
    assert tallies(twice).tolist() == [[2, 1, 2, 2, 1, 2]]


def test_a_problem_without_scored_samples_adds_nothing() -> None:
    assert tallies([[], *ROWS]).sum(axis=0).tolist() == tallies(ROWS).sum(axis=0).tolist()
    assert np.isnan(accuracies(tallies([[]]).sum(axis=0))).all()
    assert tallies([]).shape == (0, 6)


def test_turns_are_counted_apart_and_averaged() -> None:
    long = sample((COMMA, 1, 1)) | sample((COMMA, 1, 1), (WORDS, 0, 0), turn=1)
    short = sample((COMMA, 0, 0))
    problems = [[long], [short]]
    assert turns_of([long, short]) == 2
    assert accuracies(tallies(problems, 0).sum(axis=0)) == pytest.approx([0.5] * 4)
    assert accuracies(tallies(problems, 1).sum(axis=0)) == pytest.approx([0, 0.5, 0, 0.5])
    assert mean_of_turns(problems) == pytest.approx((0.5 + 0.25) / 2)


def test_the_table_counts_every_place_of_a_kind() -> None:
    samples = [sample for samples in ROWS for sample in samples]
    assert by_kind(samples) == [
        InstructionKind(instruction=WORDS, n=2, strict=0.5, loose=1.0),
        InstructionKind(instruction=COMMA, n=4, strict=0.5, loose=0.75),
    ]
    assert by_kind(samples, groups=True) == [
        InstructionKind(instruction="length_constraints", n=2, strict=0.5, loose=1.0),
        InstructionKind(instruction="punctuation", n=4, strict=0.5, loose=0.75),
    ]
