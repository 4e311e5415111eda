"""The record of each task of a track: its newest points, and the last step between two of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from genbench.ledger.records import TaskSeries, TrackHistory
from genbench.stats.bestof import rerun_errors
from genbench.trend.budget import is_tested
from genbench.trend.record import Numbers, TrendChange, TrendColumns, TrendTask

RERUN_MOVE = 3.0
"""Standard errors of a re-run beyond which a single step is remarked."""


_FIELDS = {
    name: name
    for name in (
        *("value", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference", "difference_low"),
        *("difference_high", "difference_rerun_low", "difference_rerun_high", "tokens"),
    )
} | {"truncated_share": "truncated"}
"""Columns of a record that are numbers, and where a series has them."""


@dataclass(frozen=True, slots=True)
class _LastStep:
    """The step from the last but one score of a task to the newest."""

    size: float | None
    z: float | None


def task_records(history: TrackHistory, changes: Sequence[TrendChange], points: int) -> tuple[TrendTask, ...]:
    """Return the tasks of a track, those with an open change first, then the gating ones.

    Args:
        points: newest points of each task.
    """
    moved = {change.task for change in changes if change.state == "open"}
    labels = {night.uid: night.label for night in history.points}
    found = []
    for series in history.series.values():
        step = _last_step(series)
        found.append(
            TrendTask(
                task=series.task,
                gating=series.gating,
                n=series.n,
                tested=is_tested(series),
                chance=series.chance,
                since_last=step.size,
                rerun_z=step.z,
                moved_here_only=series.task not in moved and step.z is not None and abs(step.z) > RERUN_MOVE,
                points=_columns(series, labels, points),
            )
        )
    return tuple(sorted(found, key=lambda task: (task.task not in moved, not task.gating)))


def _last_step(series: TaskSeries) -> _LastStep:
    """Return the step between the two newest scores under one key."""
    values = series.value.tolist()
    newest = (row for row in range(len(values) - 1, -1, -1) if not math.isnan(values[row]))
    rows = list(islice(newest, 2))[::-1]
    if len(rows) < 2 or series.keys[rows[1]] != series.keys[rows[0]]:
        return _LastStep(None, None)
    size = values[rows[1]] - values[rows[0]]
    errors = rerun_errors(series.rerun_low[rows], series.rerun_high[rows])
    error = float(np.sqrt((errors**2).sum()))
    return _LastStep(size, None if math.isnan(error) or error == 0 else size / error)


def _columns(series: TaskSeries, labels: Mapping[str, str], points: int) -> TrendColumns:
    shown = slice(max(0, len(series.uids) - points), None)
    epochs = {key: number for number, key in enumerate(dict.fromkeys(series.keys))}

    # One array of all columns: 300 tasks with 12 columns each are many small arrays.
    stacked = np.array([getattr(series, _FIELDS[name])[shown] for name in _FIELDS])
    found = stacked.tolist()
    if math.isnan(stacked.sum()):
        found = [[None if math.isnan(value) else value for value in column] for column in found]
    numbers: dict[str, Numbers] = dict(zip(_FIELDS, map(tuple, found), strict=True))
    return TrendColumns(
        uid=tuple(series.uids[shown]),
        label=tuple(labels.get(uid, "") for uid in series.uids[shown]),
        position=tuple(series.positions[shown].tolist()),
        epoch=tuple(epochs[key] for key in series.keys[shown]),
        **numbers,
    )
