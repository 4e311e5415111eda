"""Tasks of one benchmark group together: what all of them share is said once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.reports.numbers import points, signed
from genbench.reports.record import Report, TaskHealthRecord


@dataclass(frozen=True, slots=True)
class Series:
    """Lengths and scores of one run's samples of one task. `unit` is tokens or characters."""

    run: str
    unit: str
    trace: Sequence[int]
    answer: Sequence[int]
    completion: Sequence[int]
    scores: Sequence[float]


@dataclass(frozen=True, slots=True)
class GroupChanges:
    """The comparisons of the tasks of a group, as cells of a table. Means are over the tasks."""

    base: str
    tuned: str
    change: str
    verdicts: str


@dataclass(frozen=True, slots=True)
class GroupHealth:
    """The sums of a group's signs of defects. Rates of tasks are not averaged: their range is given."""

    problems: int
    always_right: int
    never_right: int
    lost: str
    doubtful: int
    duplicates: int
    copies: int


def counted(tasks: Collection[str]) -> str:
    """Return `20 tasks`."""
    return f"{len(tasks)} task" + ("" if len(tasks) == 1 else "s")


def task_groups(report: Report) -> dict[str, tuple[str, ...]]:
    """Return the tasks of each group that a run names. A report folds them into one row."""
    return {name: group.tasks for run in report.runs for name, group in run.results.groups.items()}


def group_series(tasks: Sequence[Sequence[Series]]) -> list[Series]:
    """Return the samples of all tasks of a group together, one entry for each run.

    Nothing is returned if the lengths of some are in tokens and those of others in characters.
    """
    rows = [row for task in tasks for row in task]
    if len({row.unit for row in rows}) != 1:
        return []
    runs = {name: [row for row in rows if row.run == name] for name in dict.fromkeys(row.run for row in rows)}
    return [
        Series(
            run=name,
            unit=own[0].unit,
            trace=list(chain.from_iterable(row.trace for row in own)),
            answer=list(chain.from_iterable(row.answer for row in own)),
            completion=list(chain.from_iterable(row.completion for row in own)),
            scores=list(chain.from_iterable(row.scores for row in own)),
        )
        for name, own in runs.items()
    ]


def group_health(tasks: Collection[str], health: Mapping[str, TaskHealthRecord]) -> GroupHealth | None:
    """Return the health of a group's data, or None if the run has none of its tasks."""
    own = [health[task] for task in tasks if task in health]
    if not own:
        return None
    rates = [item.extraction_failure_rate for item in own if item.extraction_failure_rate is not None]
    return GroupHealth(
        problems=sum(item.problems for item in own),
        always_right=sum(item.always_right for item in own),
        never_right=sum(item.never_right for item in own),
        lost=_span([f"{points(rate)}%" for rate in sorted(rates)]),
        doubtful=sum(len(item.suspicious_references) for item in own),
        duplicates=sum(len(item.duplicates) for item in own),
        copies=sum(item.prompt_copies for item in own),
    )


def group_changes(tasks: Collection[str], compared: Mapping[str, ComparedTask]) -> GroupChanges | None:
    """Return what changed in a group, or None if none of its tasks was compared."""
    own = [compared[task] for task in tasks if task in compared]
    if not own:
        return None
    verdicts = Counter(item.verdict.replace("_", " ").lower() for item in own)
    changes = sorted(item.difference for item in own if item.difference is not None)
    return GroupChanges(
        base=_mean([item.base for item in own]),
        tuned=_mean([item.tuned for item in own]),
        change=_span([signed(change) for change in changes]),
        verdicts=", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()),
    )


def _mean(values: Sequence[float | None]) -> str:
    """Return the mean of all values in points of 100, or a dash if one is missing."""
    known = [value for value in values if value is not None]
    return points(sum(known) / len(known)) if len(known) == len(values) else "-"


def _span(ordered: Sequence[str]) -> str:
    """Return the first and the last of some values, or a dash if there is none."""
    if not ordered:
        return "-"
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"
