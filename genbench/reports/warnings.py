"""What is said before results: what needs attention, warnings of runs, and what changes how a score is read.

Warnings of the tasks of one group that differ only in numbers are one line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from genbench.analysis.results.alarms import JoinedAlarm, joined_alarms
from genbench.analysis.results.record import Results, TaskResults
from genbench.analysis.results.table import is_never_scored
from genbench.reports.numbers import points
from genbench.reports.record import Report
from genbench.reports.result_tables import task_groups
from genbench.types import OURS

_URGENT = 8
"""Warnings above the fold. The page folds the others, which weigh less."""


def page_warnings(report: Report) -> dict[str, list[FoldedWarning]]:
    """Return `urgent_warnings`, `further_warnings`, `run_warnings` and `task_warnings`, joined by group."""
    found = [fold_alarm(alarm) for alarm in joined_alarms({run.name: run.results for run in report.runs})]
    groups = task_groups(report)
    return {
        "urgent_warnings": found[:_URGENT],
        "further_warnings": found[_URGENT:],
        "run_warnings": fold_warnings(_run_warnings(report), groups),
        "task_warnings": fold_warnings(_task_warnings(report), groups),
    }


def brief_warnings(report: Report) -> list[str]:
    """Return what a short text says before its tables: failures, warnings and refused comparisons."""
    said = [TaskWarning(run.name, None, line) for run in report.runs for line in run.results.failed]
    for run in report.runs:
        said += [task_warning(run.name, line, run.results.tasks) for line in run.results.warnings]
    said += [
        TaskWarning(run.name, name, forgeable_warning(task.forgeable))
        for run in report.runs
        for name, task in run.results.tasks.items()
        if task.forgeable
    ]
    for item in report.comparisons:
        said += [
            task_warning("", line, report.tasks) for line in (item.record.warnings if item.record else ())
        ]
        said += [TaskWarning("", None, line) for line in (item.refused or "").splitlines()]
    return [line.text for line in fold_warnings(said, task_groups(report))]


def _run_warnings(report: Report) -> Iterator[TaskWarning]:
    """Yield the warnings of runs and comparisons. The page folds them if they are many."""
    for run in report.runs:
        yield from (task_warning(run.name, line, run.results.tasks) for line in run.results.warnings)
        if run.results.trust_remote_code:
            yield TaskWarning(run.name, None, "the model's own code was run (trust_remote_code)")
    for item in report.comparisons:
        for line in item.record.warnings if item.record else ():
            yield task_warning("", line, report.tasks)


def _task_warnings(report: Report) -> Iterator[TaskWarning]:
    """Yield what changes how the scores of tasks are read."""
    for run in report.runs:
        for name, task in run.results.tasks.items():
            yield from (TaskWarning(run.name, name, line) for line in task_warnings(task))


def task_warnings(task: TaskResults) -> list[str]:
    """Return what changes how a task's score is read, without the name of the task.

    Why samples were excluded is in the alarms.
    """
    lines: list[str] = []
    if is_never_scored(task):
        ours = task.excluded - (task.unanswered or 0)
        return [f"{ours} of {task.samples} samples excluded (defects of ours)"] if ours else []
    if task.missing and not (task.reasons and task.excluded == task.samples):
        lines.append(f"{task.metric} is missing: {task.missing}")
    if task.n < task.of:
        lines.append(f"{task.n} of {task.of} problems")
    bounds, silent = task.bounds, task.unanswered or 0
    between = f"; between {points(bounds[0])} and {points(bounds[1])} with them" if bounds else ""
    if task.excluded > silent:
        why = "" if any(found.status in OURS for found in task.reasons or ()) else " (defects of ours)"
        lines.append(f"{task.excluded - silent} of {task.samples} samples excluded{why}{between}")
    if silent:
        lines.append(
            f"{silent} of {task.samples} samples have no answer (empty, cut off, in an unclosed trace) and "
            f"count neither way{between}"
        )
    if task.forgeable:
        lines.append(forgeable_warning(task.forgeable))
    if task.clamped:
        lines.append(f"max_tokens was lowered to the context for {task.clamped} samples")
    return lines


def forgeable_warning(count: int) -> str:
    """Return the warning about samples that passed tests which a hostile program could fake."""
    return f"{count} samples passed tests that a hostile program could fake (`forgeable` in their detail)"


_NUMBER = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True, slots=True)
class FoldedWarning:
    """A line, with those that it stands for in `parts`. A line of its own has none."""

    text: str
    parts: tuple[str, ...] = ()
    is_bad: bool = False


@dataclass(frozen=True, slots=True)
class TaskWarning:
    """What there is to say about a task of a run. `task` is None if it is about the run."""

    run: str
    task: str | None
    text: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.run, self.task, self.text) if part)


def task_warning(run: str, line: str, tasks: Collection[str]) -> TaskWarning:
    """Return a line that may begin with the name of a task and a colon."""
    named = [task for task in tasks if line.startswith(f"{task}: ")]
    task = max(named, key=len, default=None)
    return TaskWarning(run, task, line if task is None else line.removeprefix(f"{task}: "))


def groups_of(results: Results) -> dict[str, tuple[str, ...]]:
    """Return the tasks of each group of a run."""
    return {name: group.tasks for name, group in results.groups.items()}


def fold_warnings(lines: Iterable[TaskWarning], groups: Mapping[str, Collection[str]]) -> list[FoldedWarning]:
    """Return lines in their order.

    What is said of several runs in the same words is one line. Lines on tasks of one group that differ only
    in numbers are joined.
    """
    group_of = {task: name for name, tasks in groups.items() for task in tasks}
    found: dict[tuple[object, ...], list[TaskWarning]] = {}
    for number, line in enumerate(_of_all_runs(lines)):
        group = group_of.get(line.task or "")
        key = (number,) if group is None else (line.run, group, _NUMBER.sub("0", line.text))
        found.setdefault(key, []).append(line)
    return [
        FoldedWarning(str(own[0])) if len(own) == 1 else _folded(group_of[own[0].task or ""], own)
        for own in found.values()
    ]


def _of_all_runs(lines: Iterable[TaskWarning]) -> list[TaskWarning]:
    """Return lines with the names of all runs that they are about, in the place of the first one."""
    runs: dict[tuple[str | None, str], list[str]] = {}
    for line in lines:
        runs.setdefault((line.task, line.text), []).append(line.run)
    return [
        TaskWarning(" and ".join(filter(None, dict.fromkeys(names))), task, text)
        for (task, text), names in runs.items()
    ]


def _folded(group: str, lines: list[TaskWarning]) -> FoldedWarning:
    """Return the line of several tasks. If their numbers differ, it has those of the first task."""
    first = lines[0]
    same = {line.text for line in lines} == {first.text}
    which = f"{group}, {len(lines)} tasks" + ("" if same else f", such as {first.task}")
    return FoldedWarning(str(TaskWarning(first.run, which, first.text)), tuple(map(str, lines)))


def fold_alarm(alarm: JoinedAlarm) -> FoldedWarning:
    """Return the line of an alarm."""
    parts = tuple(map(str, alarm.parts)) if alarm.of else ()
    return FoldedWarning(str(alarm), parts, is_bad=alarm.weight >= 1)
