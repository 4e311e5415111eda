"""The thresholds of a track, from its budget of false alarms."""

from __future__ import annotations

from dataclasses import dataclass

from genbench.ledger.records import TaskSeries, TrackHistory
from genbench.stats.changepoints import MIN_PROBLEMS, alarm_threshold


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The z values that open a change, and the numbers of series that share each budget.

    Gating tasks and their pooled line share one budget, and the other tasks a second one. A threshold is None
    if no series has it.
    """

    gating: float | None
    others: float | None
    gating_series: int
    other_series: int

    def of(self, *, gating: bool) -> float:
        """Return the threshold of a series that is known to have one."""
        found = self.gating if gating else self.others
        assert found is not None
        return found


def is_tested(series: TaskSeries) -> bool:
    """Return whether a task has enough problems to take part in alarms."""
    return series.n >= MIN_PROBLEMS


def thresholds(history: TrackHistory) -> Thresholds:
    """Return the thresholds of a track."""
    tested = [series for series in history.series.values() if is_tested(series)]
    gating = sum(series.gating for series in tested)
    others = len(tested) - gating
    pooled = int(gating > 1)
    return Thresholds(
        _threshold(history, gating + pooled), _threshold(history, others), gating + pooled, others
    )


def _threshold(history: TrackHistory, series: int) -> float | None:
    track = history.track
    return alarm_threshold(series, track.alarms_per_year, track.nights_per_year) if series else None
