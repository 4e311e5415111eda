"""Estimates of stored runs and score files, which agree with results.json."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import genbench
from genbench.analysis.comparison.compare import compare
from genbench.analysis.estimate import estimate
from genbench.errors import InputError
from genbench.reports.terminal.estimate import estimate_text
from tests.known import known
from tests.ready_runs import OPEN, RIGHT, SILENT, SUITE, WRONG, MakeRun, write_lines


def answers(i: int) -> list[str]:
    return [RIGHT, WRONG if i % 2 else RIGHT, SILENT, OPEN]


def test_a_run_estimates_to_its_own_results(make_run: MakeRun) -> None:
    run = make_run("r", answers)
    found = estimate(run).tasks["sums"]
    stored = json.loads((run / "results.json").read_text())["tasks"]["sums"]
    task = found.to_json()
    for key in ("metric", "value", "n", "k", "se", "ci", "ci_method", "rerun_ci", "metrics", "status_counts"):
        assert task[key] == stored[key], key


def test_asked_metrics_of_a_run_are_those_of_its_verdicts(make_run: MakeRun) -> None:
    run = make_run("r", answers)
    task = estimate(run, metrics=["pass@1", "pass@4", "maj@3"]).tasks["sums"]
    assert list(task.metrics) == ["pass@1", "pass@4", "maj@3"]
    assert task.metrics["pass@4"].value == 1.0
    with pytest.raises(InputError, match="pass@5"):
        estimate(run, metrics=["pass@5"])


def test_a_score_file_has_the_metrics_that_its_lines_allow(tmp_path: Path) -> None:
    rows = [
        {"task": "t", "problem_id": str(i), "sample_index": j, "score": int(j <= i), "answer": str(j <= i)}
        for i in range(3)
        for j in range(3)
    ]
    task = estimate(write_lines(tmp_path / "s", rows)).tasks["t"]
    assert {name: item.value for name, item in task.metrics.items()} == pytest.approx(
        {"avg@3": 2 / 3, "pass@3": 1.0, "maj@3": 2 / 3}
    )
    assert task.status_counts is None


def test_strata_are_estimated_and_printed(make_run: MakeRun) -> None:
    record = estimate(make_run("r", answers))
    table = record.tasks["sums"].strata["level"]
    assert (table["hard"].value, table["easy"].value) == (0.5, 0.25)
    text = estimate_text(record)
    assert "sums avg@4 = 37.5 (95% CI [" in text
    assert "question population" in text
    assert "by level:" in text


def test_ragged_scores_are_flagged(tmp_path: Path) -> None:
    rows = [
        {"task": "t", "problem_id": i, "sample_index": j, "score": 1} for i in range(3) for j in range(i + 1)
    ]
    record = estimate(write_lines(tmp_path / "s", rows))
    assert record.tasks["t"].ragged
    assert "ragged: 1 to 3 samples" in record.tasks["t"].ci_method
    assert "warning: ragged" in estimate_text(record)


def test_draws_of_ragged_scores_say_how_many_they_are(tmp_path: Path) -> None:
    rows = [
        {"task": "t", "problem_id": i, "sample_index": j, "score": 0} for i in range(3) for j in range(2 + i)
    ]
    path = write_lines(tmp_path / "s", rows)
    found = estimate(path, metrics=["pass@k"]).tasks["t"]
    assert (found.metric, found.k) == ("pass@2", 2)


@pytest.mark.slow
def test_questions_that_are_asked_again_say_little_new(make_run: MakeRun) -> None:
    """The question of a problem is its level, of which there are two."""
    suite = SUITE.replace("question: problem", "question: level")
    texts = [[RIGHT] * 4, [WRONG] * 4]
    apart, same = (
        make_run(name, lambda i: texts[i % 2], n=40, suite=own)
        for name, own in (("apart", SUITE), ("same", suite))
    )
    assert "40 problems" in estimate(apart).tasks["sums"].ci_method
    found = estimate(same).tasks["sums"]
    assert "2 groups" in found.ci_method and found.ci == genbench.latest_results(same).tasks["sums"].ci
    assert any(
        "38 of 40 problems have the prompt and the reference of another one" in line
        for line in compare(same, same).warnings
    )


def test_a_run_without_all_its_verdicts_has_no_value(make_run: MakeRun) -> None:
    run = make_run("r", answers)
    path = run / "sums" / "verdicts.jsonl"
    path.write_text("\n".join(path.read_text().splitlines()[:-5]) + "\n")
    record = estimate(run)
    task = record.tasks["sums"]
    assert (task.value, task.lacking) == (None, 5)
    assert task.missing == "5 of 48 samples have no verdict"
    assert sum(known(task.status_counts).values()) == 43
    assert "is missing: 5 of 48" in estimate_text(record)


def test_a_task_that_is_not_there_is_named(make_run: MakeRun) -> None:
    with pytest.raises(InputError, match="did you mean 'sums'"):
        estimate(make_run("r", answers), tasks=["sum"])
