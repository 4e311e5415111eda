"""The alarm rules of a track: which series are watched for a change of level, and by which budget.

A new rule is one `AlarmRule` in RULES. Search, thresholds, sentence, messages and gate follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from genbench.nights.ledger.history import TaskSeries, TrackHistory
from genbench.nights.trend.record import AlarmBudget
from genbench.stats.tracks.changepoints import MIN_PROBLEMS, alarm_threshold

Series = Mapping[str | None, Sequence[str]]
"""The tasks of each series that a rule watches, by the name of the series. Several tasks are pooled."""


@dataclass(frozen=True, slots=True)
class AlarmRule:
    """One kind of series that opens a change when its level moves.

    Args:
        name: what it watches, in a few words.
        gating: which tested tasks it looks at: those that gate, or the others. All series of gating tasks
            share the track's budget of false alarms, and their changes are in the sentence with their size.
            The others share a second budget, and their changes are on the watch list.
        series: returns its series from the names of those tasks. The name of a series is stored as the
            `task` of its changes and is its name in sentences and messages.
    """

    name: str
    gating: bool
    series: Callable[[Sequence[str]], Series]


def _each(tasks: Sequence[str]) -> Series:
    return {task: (task,) for task in tasks}


def _together(tasks: Sequence[str]) -> Series:
    return {None: tuple(tasks)} if len(tasks) > 1 else {}


RULES = (
    AlarmRule("all gating tasks together", gating=True, series=_together),
    AlarmRule("each gating task", gating=True, series=_each),
    AlarmRule("each other task", gating=False, series=_each),
)
"""The rules, in the order in which their series are searched."""


def series_words(name: str | None) -> str:
    """Return a series in words. The name of the pooled line is None."""
    return RULES[0].name if name is None else name


def is_tested(series: TaskSeries) -> bool:
    """Return whether a task has enough problems to take part in alarms."""
    return series.n >= MIN_PROBLEMS


def watched_series(tested: Mapping[str, bool], *, gating: bool) -> dict[str | None, Sequence[str]]:
    """Return every series of one budget: its name, and the tasks that are pooled in it.

    Args:
        tested: the tested tasks, and whether they gate.
        gating: the budget.
    """
    names = [name for name, is_gating in tested.items() if is_gating == gating]
    return {
        name: tasks for rule in RULES if rule.gating == gating for name, tasks in rule.series(names).items()
    }


def alarm_tasks(history: TrackHistory) -> dict[str, bool]:
    """Return the tasks that have enough problems to take part in alarms, and whether they gate."""
    return {name: series.gating for name, series in history.series.items() if is_tested(series)}


def alarm_budget(history: TrackHistory) -> AlarmBudget:
    """Return the budgets of a track, and the z values that open a change. One without series has none."""
    track = history.track
    tested = alarm_tasks(history)
    counts = [len(watched_series(tested, gating=gating)) for gating in (True, False)]
    limits = [
        alarm_threshold(count, track.alarms_per_year, track.nights_per_year) if count else None
        for count in counts
    ]
    return AlarmBudget(
        alarms_per_year=track.alarms_per_year,
        nights_per_year=track.nights_per_year,
        series=counts[0],
        threshold=limits[0],
        watched=counts[1],
        watch_threshold=limits[1],
    )
