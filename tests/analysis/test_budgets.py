"""Token budgets of stored runs, and what has none."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import genbench
from genbench.cli.app import app
from genbench.errors import InputError
from genbench.reports.terminal.show import budgets_text

from ..ready_runs import RIGHT, SUITE, WRONG, rows, score_responses, write_lines

Said = tuple[str, int, int]
"""Text, tokens, tokens of the trace."""
QUICK, SLOW, LATE = (RIGHT, 8, 0), (RIGHT, 16, 12), (f"<think>a</think>{RIGHT}", 16, 6)


def made(
    place: Path, said: Sequence[Said], more: Mapping[str, Any] | None = None, suite: str = SUITE
) -> Path:
    """A run of 20 problems whose four samples are these, turned by the number of the problem."""
    place.mkdir()
    (place / "suite.yaml").write_text(suite)
    write_lines(place / "rows.jsonl", rows(20))
    lines = [
        {
            "task": "sums",
            "problem_id": f"p{number:02}",
            "sample_index": index,
            "text": text,
            "completion_tokens": tokens,
            "trace_tokens": trace,
            **(more or {}),
        }
        for number in range(20)
        for index, (text, tokens, trace) in enumerate(said)
    ]
    write_lines(place / "responses.jsonl", lines)
    return score_responses(place)


def test_a_stored_run_says_what_it_would_have_scored_with_fewer_tokens(tmp_path: Path) -> None:
    run = made(tmp_path / "a", [QUICK, SLOW, LATE, (WRONG, 8, 0)])
    found = genbench.budgets(run, at=[8, 10, 16]).tasks["sums"]
    assert found.unknown is None
    assert [(point.budget, point.low, point.high) for point in found.points] == [
        (8, 0.25, 0.5),  # LATE has begun its answer
        (10, 0.25, 0.5),
        (16, 0.75, 0.75),
    ]
    assert [point.tokens for point in found.points] == [8.0, 9.0, 12.0]
    whole = genbench.latest_results(run).tasks["sums"].value
    assert found.points[-1].low == whole
    usual = genbench.budgets(run).tasks["sums"].points
    assert [point.budget for point in usual] == [16]


def test_two_runs_are_compared_and_shown(tmp_path: Path) -> None:
    base = made(tmp_path / "a", [QUICK, QUICK, (WRONG, 8, 0), (WRONG, 8, 0)])
    tuned = made(tmp_path / "b", [SLOW, SLOW, SLOW, SLOW])
    record = genbench.budgets(tuned, base, at=[8, 16])
    first, last = record.tasks["sums"].differences
    assert (first.difference, last.difference) == (-0.5, 0.5)
    assert first.ci == (-0.5, -0.5) and last.bounds == (0.5, 0.5)
    text = budgets_text(record)
    assert "at 8 tokens 50.0 [50.0, 50.0] below base, at 16 50.0 [50.0, 50.0] above base" in text
    done = CliRunner().invoke(
        app, ["show", str(tuned), "sums", "--budgets", "8,16", "--with", str(base), "--json"]
    )
    assert json.loads(done.stdout) == record.to_json()


def test_a_budget_is_known_up_to_the_smallest_limit_of_all_problems(tmp_path: Path) -> None:
    run = made(tmp_path / "a", [QUICK] * 4)
    path = run / "sums" / "problems.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[3]["max_tokens"] = 12  # its prompt left no more room
    write_lines(path, lines)
    assert [point.budget for point in genbench.budgets(run).tasks["sums"].points] == [12]
    with pytest.raises(InputError, match="had at most 12"):
        genbench.budgets(run, at=[16])


@pytest.mark.parametrize(
    ("at", "why"),
    [
        ([17], "a budget of 17 tokens, and its replies had at most 16"),
        ([0], "a budget of 0 tokens: wanted 1 or more"),
        (list(range(1, 10)), "9 budgets: wanted at most 8"),
    ],
)
def test_budgets_that_cannot_be_known_are_refused(tmp_path: Path, at: list[int], why: str) -> None:
    run = made(tmp_path / "a", [QUICK] * 4)
    with pytest.raises(InputError, match=why):
        genbench.budgets(run, at=at)


def test_tasks_without_counted_tokens_or_with_a_budget_have_no_curve(tmp_path: Path) -> None:
    bare = made(tmp_path / "a", [QUICK] * 4, {"trace_tokens": None})
    found = genbench.budgets(bare).tasks["sums"]
    assert found.points == () and found.unknown is not None
    assert "the tokens of 80 of 80 samples were not counted" in found.unknown
    assert "sums: no budgets: the tokens of 80 of 80" in budgets_text(genbench.budgets(bare))
    wrong = CliRunner().invoke(app, ["show", str(bare), "--budgets", "a"])
    assert wrong.exit_code == 2 and "wanted whole numbers" in wrong.output
