"""Tasks of one benchmark group together: what all of them share is said once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from genbench.analysis.comparison.compared_task import ComparedTask
from genbench.analysis.results.alarms import JoinedAlarm
from genbench.analysis.results.record import Results
from genbench.reports.explanations import signed
from genbench.reports.numbers import points
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


_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True, slots=True)
class FoldedLine:
    """A line, with those that it stands for in `parts`. A line of its own has none."""

    text: str
    parts: tuple[str, ...] = ()
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class TaskLine:
    """What there is to say about a task of a run. `task` is None if it is about the run."""

    run: str
    task: str | None
    text: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.run, self.task, self.text) if part)


def task_line(run: str, line: str, tasks: Collection[str]) -> TaskLine:
    """Return a line that may begin with the name of a task and a colon."""
    named = [task for task in tasks if line.startswith(f"{task}: ")]
    task = max(named, key=len, default=None)
    return TaskLine(run, task, line if task is None else line.removeprefix(f"{task}: "))


def groups_of(results: Results) -> dict[str, tuple[str, ...]]:
    """Return the tasks of each group of a run."""
    return {name: group.tasks for name, group in results.groups.items()}


def fold_lines(lines: Iterable[TaskLine], groups: Mapping[str, Collection[str]]) -> list[FoldedLine]:
    """Return lines in their order. Those on tasks of one group that differ only in numbers are joined."""
    group_of = {task: name for name, tasks in groups.items() for task in tasks}
    found: dict[tuple[object, ...], list[TaskLine]] = {}
    for number, line in enumerate(lines):
        group = group_of.get(line.task or "")
        key = (number,) if group is None else (line.run, group, _NUMBER.sub("0", line.text))
        found.setdefault(key, []).append(line)
    return [
        FoldedLine(str(own[0])) if len(own) == 1 else _folded(group_of[own[0].task or ""], own)
        for own in found.values()
    ]


def _folded(group: str, lines: list[TaskLine]) -> FoldedLine:
    """Return the line of several tasks. If their numbers differ, it has those of the first task."""
    first = lines[0]
    same = {line.text for line in lines} == {first.text}
    which = f"{group}, {len(lines)} tasks" + ("" if same else f", such as {first.task}")
    return FoldedLine(str(TaskLine(first.run, which, first.text)), tuple(map(str, lines)))


def fold_alarm(alarm: JoinedAlarm) -> FoldedLine:
    """Return the line of an alarm."""
    parts = tuple(map(str, alarm.parts)) if alarm.of else ()
    return FoldedLine(str(alarm), parts, is_bad=alarm.weight >= 1)
