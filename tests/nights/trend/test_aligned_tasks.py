"""Alignment of tasks by the points of a track."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from genbench.nights.ledger.vectors import problem_means
from genbench.nights.trend.detect import aligned_tasks
from tests.nights.trend.histories import K, base_of, drawn, epoch, history, losses, night, series

NIGHTS = 12
SUMS = drawn(losses(NIGHTS))


def test_means_are_sums_by_counts() -> None:
    means = problem_means(np.array([2.0, 0.0]), np.array([4, 0]))
    assert means[0] == 0.5
    assert np.isnan(means[1])


def test_every_point_has_a_row() -> None:
    task = aligned_tasks(history({"gpqa": SUMS}))["gpqa"]
    np.testing.assert_allclose(task.values, SUMS / K)
    assert (task.gating, task.is_tested) == (True, True)


def test_points_without_the_task_are_rows_of_nan() -> None:
    found = history({"gpqa": SUMS, "late": drawn(losses(4), 40)})
    values = aligned_tasks(found)["late"].values
    assert values.shape == (NIGHTS, 40)
    assert np.isnan(values[4:]).all()


def test_epochs_are_joined_by_their_bases_and_older_ones_left_out() -> None:
    points = [night(number) for number in range(NIGHTS)]
    parts = [
        epoch("gpqa", SUMS[:3], points[:3], None, key="a"),
        epoch("gpqa", SUMS[3:8], points[3:8], base_of(SUMS), key="b"),
        epoch("gpqa", SUMS[8:], points[8:], base_of(SUMS), key="c"),
    ]
    found = replace(history({"gpqa": SUMS}), series={"gpqa": series("gpqa", parts)})
    values = aligned_tasks(found)["gpqa"].values
    assert np.isnan(values[:3]).all()
    np.testing.assert_allclose(values[3:], (SUMS[3:] - base_of(SUMS)) / K)


def test_a_task_without_problem_means_is_left_out() -> None:
    found = history({"gpqa": SUMS})
    bare = replace(found.series["gpqa"], epochs=())
    assert aligned_tasks(replace(found, series={"gpqa": bare})) == {}


def test_few_problems_are_not_tested() -> None:
    assert not aligned_tasks(history({"gpqa": drawn(losses(4), 19)}))["gpqa"].is_tested
