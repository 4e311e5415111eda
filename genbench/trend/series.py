"""Problem means of a track's tasks, aligned by its points and joined over epochs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from genbench.ledger.records import Epoch, TaskSeries, TrackHistory
from genbench.stats.scores import Floats, Ints
from genbench.stats.tracks.changepoints import MIN_PROBLEMS
from genbench.stats.tracks.sequential_detection import join_epochs


@dataclass(frozen=True, slots=True)
class AlignedTask:
    """Problem means of one task, (points, problems), with a row for every point of the track.

    A row of NaN is a point without the task, or in an epoch that cannot be joined with the newest.
    """

    name: str
    gating: bool
    values: Floats
    groups: Sequence[str | None] | None

    @property
    def is_tested(self) -> bool:
        """Whether the task has enough problems to take part in alarms."""
        return bool(self.values.shape[1] >= MIN_PROBLEMS)


def aligned_tasks(history: TrackHistory) -> dict[str, AlignedTask]:
    """Return every task of a history that has problem means."""
    rows = {point.uid: row for row, point in enumerate(history.points)}
    return {
        name: _aligned(series, rows, len(history.points))
        for name, series in history.series.items()
        if series.epochs
    }


def problem_means(sums: Floats, counts: Ints) -> Floats:
    """Return sums / counts, NaN for a problem without a scored sample."""
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _aligned(series: TaskSeries, rows: Mapping[str, int], points: int) -> AlignedTask:
    epochs = series.epochs
    joined, first = join_epochs([problem_means(epoch.sums, epoch.counts) for epoch in epochs], _bases(epochs))
    uids = [uid for epoch in epochs for uid in epoch.uids][first:]
    values = np.full((points, joined.shape[1]), np.nan)
    for row, uid in enumerate(uids):
        if uid in rows:
            values[rows[uid]] = joined[row]
    return AlignedTask(series.task, series.gating, values, epochs[-1].groups)


def _bases(epochs: Sequence[Epoch]) -> list[Floats | None]:
    return [
        None
        if epoch.base_sums is None or epoch.base_counts is None
        else problem_means(epoch.base_sums, epoch.base_counts)
        for epoch in epochs
    ]
