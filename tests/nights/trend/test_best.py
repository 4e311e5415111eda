"""The best of several checkpoints, and what is left of it without luck."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.nights.trend.compose import compared, compose
from genbench.nights.trend.detect import aligned_tasks
from genbench.stats.comparison.paired import paired
from genbench.stats.tracks.winners_curse import best_of
from tests.nights.trend.histories import K, drawn, history, losses


def test_two_checkpoints_are_compared_as_compare_does() -> None:
    found = history({"gpqa": drawn(losses(3, 2))}, kind="step")
    task = aligned_tasks(found)["gpqa"]
    test = compared(task, 0, 2)
    wide = task.values[[0, 2]].repeat(1, axis=0)
    theirs = paired(wide[0][:, None], wide[1][:, None])
    assert theirs.ci is not None
    assert test.interval(0) == pytest.approx(theirs.ci)


def test_the_best_checkpoint_is_reported_for_each_task() -> None:
    rising = losses(12)
    rising[:6] = np.linspace(0.6, 0.1, 6)
    rising[8] = -0.05
    record = compose(history({"gpqa": np.minimum(K, drawn(np.maximum(rising, 0)))}, kind="step"))
    best = record.best[0]
    assert best.checkpoints == 12
    assert best.value == max(value for value in record.tasks[0].points.value if value is not None)
    assert best.shrunk < best.value
    assert best.luck == pytest.approx(best_of(12) * 0.02 / 1.959964, rel=1e-3)
    assert 3 <= best.not_worse <= 8


def test_the_newest_checkpoint_is_compared_with_the_one_before_and_the_best() -> None:
    record = compose(history({"gpqa": drawn(losses(8, 7, share=0.5))}, kind="step"))
    best = record.best[0]
    assert best.difference_to_previous is not None
    assert best.difference_to_previous < -0.1
    assert best.previous_ci is not None
    assert best.previous_ci[1] < 0
    assert best.difference_to_best is not None
    assert best.best_ci is not None


def test_the_best_checkpoint_is_not_compared_with_itself() -> None:
    sums = drawn(losses(6))
    sums[-1] = K
    best = compose(history({"gpqa": sums}, kind="step")).best[0]
    assert best.best.label == "step-500"
    assert (best.difference_to_best, best.best_ci) == (None, None)


def test_nights_have_no_best() -> None:
    assert compose(history({"gpqa": drawn(losses(8))})).best == ()


def test_the_sentence_of_a_sweep_names_the_best_and_its_luck() -> None:
    text = compose(history({"gpqa": drawn(losses(8))}, kind="step")).sentence
    assert text.startswith("2 checkpoints since step 600: ")
    assert "without the luck of the best of 8" in text
