"""What a page says before its results: alarms, notes on runs, and what changes how a score is read."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.results.alarms import joined_alarms
from genbench.reports.benchmark_groups import (
    FoldedLine,
    TaskLine,
    fold_alarm,
    fold_lines,
    task_groups,
    task_line,
)
from genbench.reports.record import Report
from genbench.reports.terminal.run import forgeable_words, task_notices

_SHOWN_ALARMS = 8
"""Alarms above the fold. The page folds the others, which weigh less."""


def notices(report: Report) -> dict[str, list[FoldedLine]]:
    """Return `alarms`, `further_alarms`, `notes` and `task_notices`, joined by group."""
    found = [fold_alarm(alarm) for alarm in joined_alarms({run.name: run.results for run in report.runs})]
    groups = task_groups(report)
    return {
        "alarms": found[:_SHOWN_ALARMS],
        "further_alarms": found[_SHOWN_ALARMS:],
        "notes": fold_lines(_notes(report), groups),
        "task_notices": fold_lines(_task_notices(report), groups),
    }


def brief_notices(report: Report) -> list[str]:
    """Return what a short text says before its tables: failures, warnings and refused comparisons."""
    said = [TaskLine(run.name, None, line) for run in report.runs for line in run.results.failed]
    for run in report.runs:
        said += [task_line(run.name, line, run.results.tasks) for line in run.results.warnings]
    said += [
        TaskLine(run.name, name, forgeable_words(task.forgeable))
        for run in report.runs
        for name, task in run.results.tasks.items()
        if task.forgeable
    ]
    for item in report.comparisons:
        said += [task_line("", line, report.tasks) for line in (item.record.warnings if item.record else ())]
        said += [TaskLine("", None, line) for line in (item.refused or "").splitlines()]
    return [line.text for line in fold_lines(said, task_groups(report))]


def _notes(report: Report) -> Iterator[TaskLine]:
    """Yield the warnings of runs and comparisons. The page folds them if they are many."""
    for run in report.runs:
        yield from (task_line(run.name, line, run.results.tasks) for line in run.results.warnings)
        if run.results.trust_remote_code:
            yield TaskLine(run.name, None, "the model's own code was run (trust_remote_code)")
    for item in report.comparisons:
        for line in item.record.warnings if item.record else ():
            yield task_line("", line, report.tasks)


def _task_notices(report: Report) -> Iterator[TaskLine]:
    """Yield what changes how the scores of tasks are read."""
    for run in report.runs:
        for name, task in run.results.tasks.items():
            yield from (TaskLine(run.name, name, line) for line in task_notices(task))
