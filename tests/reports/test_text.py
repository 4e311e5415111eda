"""The table of a run for the terminal, and the notices that must not be overlooked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.instruction_accuracy import InstructionsRecord
from genbench.analysis.records import Bounded
from genbench.analysis.results.record import TotalTokens
from genbench.protocols import PublishedScore
from genbench.reports.terminal.run import run_table
from tests.reports.made import TASK, TOTALS, results, task


def table(**changes: Any) -> str:
    return run_table({"m": results(**changes)}, {})


def test_a_row_has_value_both_intervals_size_and_statuses() -> None:
    row = next(line for line in table().splitlines() if line.startswith("m  "))
    assert row.split() == [
        "m",
        "sums",
        "avg@2",
        "50.0",
        "[30.0,",
        "70.0]",
        "±5.0",
        "10",
        "x",
        "2",
        "correct",
        "10,",
        "wrong",
        "10",
    ]


def test_the_legend_names_the_method_without_its_numbers() -> None:
    assert "question population (bootstrap)" in table()


def test_a_metric_that_is_missing_says_why() -> None:
    text = table(
        tasks={"sums": task(value=None, ci=None, rerun_ci=None, missing="3 of 20 samples have no verdict")}
    )
    assert " missing " in text
    assert "m/sums: avg@2 is missing: 3 of 20 samples have no verdict" in text


def test_samples_speed_and_folder_are_told() -> None:
    text = run_table({"m": results()}, {"m": Path("runs/n/m")})
    assert "m: 20 samples (15 drawn now, 5 on disk), 50 tokens/s -> runs/n/m" in text


def test_tokens_devices_and_cost_are_told_if_they_are_known() -> None:
    totals = TOTALS.model_copy(
        update={
            "tokens": TotalTokens(prompt=40, trace=60, answer=None, completion=None),
            "gpu_busy": 0.875,
            "cost": 1.25,
            "currency": "EUR",
        }
    )
    text = table(totals=totals, tasks={"sums": task(cost=1.25), "unpriced": task(cost=None)})
    assert "m: 40 prompt + 60 trace tokens; GPU busy 88% of the drawing; 1.25 EUR (sums 1.25)" in text


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"warnings": ("a tagger is missing",)}, "warning: m: a tagger is missing"),
        ({"trust_remote_code": True}, "warning: m: the model's own code was run (trust_remote_code)"),
        ({"test_uses": 3}, "m: tasks of role test have been used 3 time(s) in this folder"),
        ({"failed": ("sums: too many",)}, "FAILED: m: sums: too many"),
    ],
)
def test_a_notice_on_the_run_is_a_line_of_its_own(changes: dict[str, object], line: str) -> None:
    assert line in table(**changes).splitlines()


def test_a_shard_says_how_to_join_it() -> None:
    assert "genbench merge" in table(shard="2/8")
    assert "genbench merge" not in table()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"of": 30}, "m/sums: 10 of 30 problems"),
        (
            {"excluded": 2, "bounds": (0.4, 0.6)},
            "m/sums: 2 of 20 samples excluded (defects of ours); between 40.0 and 60.0 with them",
        ),
        ({"clamped": 4}, "m/sums: max_tokens was lowered to the context for 4 samples"),
        (
            {"published": (PublishedScore(model="X", value=0.9, source="s", decoding="d", of="the suite"),)},
            "m/sums: published: X 90.0 (sources and decodings: in the report)",
        ),
    ],
)
def test_a_notice_on_a_task_names_it(changes: dict[str, object], line: str) -> None:
    assert line in table(tasks={"sums": task(**changes)}).splitlines()


def test_accuracies_of_instructions_are_told_turn_by_turn() -> None:
    turn = {"inst_level_strict_acc": Bounded(value=0.5, ci=(0.25, 0.75))}
    record = InstructionsRecord(turns=(turn, turn), kinds=(), mean_of_turns=0.5)
    lines = table(tasks={"sums": task(instructions=record)}).splitlines()
    assert "m/sums: inst level strict 50.0 [25.0, 75.0]" in lines
    assert "m/sums: turn 2: inst level strict 50.0 [25.0, 75.0]" in lines
    assert "m/sums: mean of the four over turns (as Multi-IF is published): 50.0" in lines


def test_a_task_without_a_notice_has_only_its_row() -> None:
    assert not any(line.startswith("m/sums") for line in table(tasks={"sums": TASK}).splitlines())


def test_further_measures_are_told_next_to_the_score() -> None:
    parts = {"cells": Bounded(value=0.83, ci=(0.8, 0.86))}
    assert "m/sums: cells 83.0 [80.0, 86.0]" in table(tasks={"sums": task(parts=parts)}).splitlines()
