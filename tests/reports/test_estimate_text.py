"""The text of estimates."""

from __future__ import annotations

from typing import Any

from genbench.analysis.estimate import EstimatedTask, Estimation
from genbench.reports.terminal.estimate import estimate_text
from genbench.stats.estimates import EstimateRecord, estimate

SCORES = [[1.0, 0.0, 1.0, 1.0]] * 20 + [[0.0, 0.0, 1.0, 0.0]] * 20


def task(found: EstimateRecord, **more: Any) -> EstimatedTask:
    fields: dict[str, Any] = {
        **dict(found),
        "metrics": {found.metric: found},
        "samples": 160,
        "lacking": 0,
        "ragged": False,
        "seed": 1,
        "status_counts": None,
        "strata": {},
    }
    return EstimatedTask(**(fields | more))


def text(item: EstimatedTask) -> str:
    return estimate_text(
        Estimation(
            format=1,
            path="runs/m",
            kind="run",
            name="m",
            run_id="r",
            model_identity=None,
            run_seed=0,
            tasks={"gpqa": item},
        )
    )


def test_a_sentence_has_the_value_and_both_intervals_with_their_methods() -> None:
    found = text(task(estimate("avg@k", SCORES, seed=1)))
    head, _, sentence = found.splitlines()
    assert head == "run runs/m"
    assert sentence.startswith("gpqa avg@4 = 50.0 (95% CI [")
    assert "question population, cluster bootstrap" in sentence
    assert "40 x 4). A re-run on these questions: [" in sentence
    assert sentence.endswith("(Wilson on effective n within problems).")


def test_a_metric_of_draws_has_no_rerun_interval() -> None:
    assert "A re-run" not in text(task(estimate("pass@k", SCORES, seed=1)))


def test_a_missing_metric_says_why() -> None:
    found = estimate("avg@k", [[None], [1.0]], seed=1)
    assert "gpqa avg@1 is missing: 1 of 2 problems have no scored sample" in text(task(found))


def test_excluded_samples_are_counted_with_the_bounds_they_leave() -> None:
    found = estimate("avg@k", [[None, 1.0], [0.0, 0.0]], seed=1)
    assert "1 of 160 samples are excluded; with them between 25.0 and 50.0" in text(task(found))


def test_ragged_samples_are_a_warning() -> None:
    found = estimate("avg@k", [[1.0, 0.0], [0.0]], seed=1)
    assert "warning: ragged" in text(task(found, ragged=True))


def test_statuses_are_counted_and_strata_have_a_table() -> None:
    whole = estimate("avg@k", SCORES, seed=1)
    rows = {
        "easy": estimate("avg@k", SCORES[:20], seed=1),
        "none": estimate("avg@k", [[None]], seed=1),
    }
    found = text(task(whole, status_counts={"correct": 80, "wrong": 80}, strata={"level": rows}))
    assert "  correct 80, wrong 80" in found
    assert "  by level:" in found
    assert any(line.split()[:3] == ["easy", "20", "75.0"] for line in found.splitlines())
    assert any(line.split()[:3] == ["none", "1", "missing"] for line in found.splitlines())
