"""The record of each task: its points, its order, and its last step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from genbench.nights.trend.compose import RERUN_MOVE, compose, task_records
from tests.nights.trend.histories import (
    FIRST,
    K,
    base_of,
    change,
    drawn,
    epoch,
    history,
    losses,
    night,
    series,
)

NIGHTS = 30
TASKS = {"gpqa": drawn(losses(NIGHTS)), "aime": drawn(losses(NIGHTS), 40, seed=2)}


def test_points_are_the_newest_ones() -> None:
    columns = compose(history(TASKS), points=10).tasks[0].points
    assert len(columns.value) == 10
    assert columns.label[-1] == night(NIGHTS - 1).label
    assert columns.position[-1] == FIRST + NIGHTS - 1


def test_values_and_differences_are_those_of_the_ledger() -> None:
    record = compose(history(TASKS))
    gpqa = next(task for task in record.tasks if task.task == "gpqa")
    assert gpqa.points.value[-1] == pytest.approx(TASKS["gpqa"][-1].mean() / K)
    base = base_of(TASKS["gpqa"]).mean() / K
    assert gpqa.points.difference[-1] == pytest.approx(TASKS["gpqa"][-1].mean() / K - base)


def test_what_is_not_known_is_null() -> None:
    record = compose(history(TASKS, bases=False))
    assert set(record.tasks[0].points.difference) == {None}
    assert record.base is None


def test_a_task_with_few_problems_is_shown_and_not_tested() -> None:
    record = compose(history({**TASKS, "tiny": drawn(losses(NIGHTS), 10)}))
    tested = {task.task: task.tested for task in record.tasks}
    assert tested == {"gpqa": True, "aime": True, "tiny": False}
    assert record.budget.series == 3


def test_tasks_with_an_open_change_come_first() -> None:
    record = compose(history(TASKS, changes=[change(20, 22, task="gpqa")]))
    assert [task.task for task in record.tasks] == ["gpqa", "aime"]
    record = compose(history(TASKS, changes=[change(20, 22, task="aime")]))
    assert [task.task for task in record.tasks] == ["aime", "gpqa"]


def test_epochs_are_numbered() -> None:
    points = [night(number) for number in range(NIGHTS)]
    sums = TASKS["gpqa"]
    parts = [
        epoch("gpqa", sums[:12], points[:12], base_of(sums), key="old"),
        epoch("gpqa", sums[12:], points[12:], base_of(sums), key="new"),
    ]
    record = compose(replace(history({"gpqa": sums}), series={"gpqa": series("gpqa", parts)}))
    assert record.tasks[0].points.epoch == (0,) * 12 + (1,) * 18
    assert record.tasks[0].since_last is not None


def test_the_first_score_under_new_terms_has_no_step() -> None:
    points = [night(number) for number in range(NIGHTS)]
    sums = TASKS["gpqa"]
    parts = [
        epoch("gpqa", sums[:-1], points[:-1], key="old"),
        epoch("gpqa", sums[-1:], points[-1:], key="new"),
    ]
    record = compose(replace(history({"gpqa": sums}), series={"gpqa": series("gpqa", parts)}))
    assert record.tasks[0].since_last is None


def test_a_step_beyond_re_run_noise_without_a_change_is_marked() -> None:
    sums = TASKS["gpqa"].copy()
    sums[-1] = np.maximum(0, sums[-1] - 1)
    record = compose(history({"gpqa": sums}))
    assert record.tasks[0].moved_here_only
    assert record.tasks[0].rerun_z is not None
    assert record.tasks[0].rerun_z < -3
    with_change = compose(history({"gpqa": sums}, changes=[change(28, 29)]))
    assert not with_change.tasks[0].moved_here_only


def test_the_remark_begins_at_three_standard_errors() -> None:
    sums = TASKS["gpqa"].copy()
    sums[-1] = sums[-2]
    task = task_records(history({"gpqa": sums}), (), 5)[0]
    assert (task.since_last, task.rerun_z, task.moved_here_only) == (0, 0, False)
    assert RERUN_MOVE == 3.0
