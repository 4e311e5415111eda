"""Metrics that are asked for instead of those of the tasks."""

from __future__ import annotations

from math import comb
from pathlib import Path

import pytest

from genbench.analysis.estimate import estimate
from genbench.errors import InputError
from genbench.reports.terminal.estimate import estimate_text
from genbench.store.folder import RunFolder
from tests.ready_runs import write_lines
from tests.store.stored import stored_run, verdict


def scores(folder: Path, *, answers: bool = True, k: int = 6) -> Path:
    """Write a score file of 4 problems; problem i has i right samples of k."""
    rows = [
        {"task": "t", "problem_id": str(i), "sample_index": j, "score": int(j < i)}
        | ({"answer": "right" if j < i else f"wrong {j}"} if answers else {})
        for i in range(4)
        for j in range(k)
    ]
    return write_lines(folder / "scores", rows)


def test_asked_metrics_are_those_of_the_closed_forms(tmp_path: Path) -> None:
    task = estimate(scores(tmp_path), metrics=["pass@1", "pass@5", "maj@3"]).tasks["t"]
    assert list(task.metrics) == ["pass@1", "pass@5", "maj@3"] and task.metric == "pass@1"
    for draws in (1, 5):
        wanted = sum(1 - comb(6 - right, draws) / comb(6, draws) for right in range(4)) / 4
        assert task.metrics[f"pass@{draws}"].value == pytest.approx(wanted)
    assert task.metrics["maj@3"].ci is not None


def test_without_metrics_those_of_the_task_are_estimated(tmp_path: Path) -> None:
    assert list(estimate(scores(tmp_path)).tasks["t"].metrics) == ["avg@6", "pass@6", "maj@6"]


def test_the_text_has_a_sentence_for_each_asked_metric(tmp_path: Path) -> None:
    text = estimate_text(estimate(scores(tmp_path), metrics=["pass@1", "pass@5"]))
    assert "t pass@1 = 25.0" in text and "t pass@5 = " in text and "avg@" not in text


@pytest.mark.parametrize(
    ("metric", "answers", "words"),
    [
        ("pas@1", True, "unknown metric 'pas@1'"),
        ("pass@9", True, "task t: .*9"),
        ("maj@3", False, "task t: .*answers"),
    ],
)
def test_a_metric_that_cannot_be_estimated_is_refused(
    tmp_path: Path, metric: str, answers: bool, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        estimate(scores(tmp_path, answers=answers), metrics=[metric])


def test_a_metric_next_to_the_suite_is_found_for_a_stored_run(tmp_path: Path) -> None:
    """The run folder is elsewhere: the manifest knows where the suite was."""
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite" / "metric_of_a_suite.py").write_text(
        "def first(problem):\n    return problem.scores[0]\n"
    )
    run = stored_run(tmp_path / "run")
    with RunFolder.writer(run) as folder:
        described = folder.require_manifest()
        place = described.suite.model_copy(update={"path": str(tmp_path / "suite" / "suite.yaml")})
        folder.write_manifest(described.model_copy(update={"suite": place}))
        folder.append_verdict(verdict("p1", 1))
    task = estimate(run, metrics=["metric_of_a_suite:first"]).tasks["t"]
    assert task.value == pytest.approx(2 / 3)


def test_a_score_file_has_no_suite_to_search(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no module 'metric_of_nobody'"):
        estimate(scores(tmp_path), metrics=["metric_of_nobody:first"])
