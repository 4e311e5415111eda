"""The tasks that a command selects, with the problems of its limit and its shard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from genbench.data.subset import Shard
from genbench.runs.inputs import data_dir
from genbench.runs.options import RunOptions
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_all, selected_entries


def load_tasks(suite: Suite, options: RunOptions) -> list[LoadedTask]:
    """Return the tasks that a command runs, with their rows.

    Raises:
        ConfigError: a task that is named is not in the suite.
        DataError: its rows cannot be read.
    """
    entries = selected_entries(suite, options.tasks, options.with_test)
    return load_all(suite, entries, data_dir(options), options.limit)


def in_shard(tasks: Sequence[LoadedTask], part: Shard | None) -> list[LoadedTask]:
    """Return the tasks with the problems of one shard only. Tasks without any are left out."""
    if part is None:
        return list(tasks)
    kept = [
        only(task, frozenset(p.problem_id for p in task.problems if part.contains(task.name, p.problem_id)))
        for task in tasks
    ]
    return [task for task in kept if task.problems]


def only(task: LoadedTask, ids: frozenset[str]) -> LoadedTask:
    """Return the task with the problems `ids`. The others count as left out."""
    kept = tuple(problem for problem in task.problems if problem.problem_id in ids)
    gone = {problem.problem_id for problem in task.problems} - ids
    return replace(task, problems=kept, left_out=task.left_out | gone)


def origin_record(
    whole: Sequence[LoadedTask], tasks: Sequence[LoadedTask], options: RunOptions
) -> dict[str, Any]:
    """Return the record from which `score` and `merge` read the same data again.

    Args:
        whole: the tasks before they were cut to a shard.
    """
    data = data_dir(options)
    return {
        "data_dir": str(data.resolve()) if data else None,
        "limit": options.limit,
        "problems": None,
        "tasks": [task.name for task in tasks],
        "shard": None if options.part is None else str(options.part),
        "whole": {task.name: len(task.problems) for task in whole},
        "command": options.command,
    }
