"""Ready responses of a model: a JSON Lines file that is checked against the suite's tasks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.engines.replay import ReplayKind, ResponseIndex, completion_of, response_lines
from genbench.errors import ResponsesError, nearest
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Completion, Problem


@dataclass(frozen=True, slots=True)
class Responses:
    """A file of ready responses that has been checked: `problems` are the ids that it answers, by task."""

    engine: ReplayKind
    problems: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the lines of one model may say."""

    model: str
    models: Sequence[str]
    tasks: Mapping[str, LoadedTask]
    problems: Mapping[str, Mapping[str, Problem]]
    left_out: Mapping[str, frozenset[str] | None]
    """Task -> problems that are not run; None: the whole task is not."""


def read_responses(
    path: Path,
    tasks: Sequence[LoadedTask],
    model: str,
    models: Sequence[str],
    *,
    subset: bool,
    other_tasks: Sequence[str] = (),
) -> Responses:
    """Check the whole file. Its texts are not kept.

    Args:
        other_tasks: tasks of the suite that this run leaves out. Their lines are ignored.
        model: the model of the suite that gave the responses.
        models: all models of the suite. If there are several, each line must name its own.
        subset: leave problems without any line out of the run, instead of refusing the file.

    Raises:
        ResponsesError: names the line that is bad, unknown or repeated, or the problems that lack lines.
    """
    wanted = _Wanted(
        model,
        models,
        {task.name: task for task in tasks},
        {task.name: {problem.problem_id: problem for problem in task.problems} for task in tasks},
        {task.name: task.left_out for task in tasks} | dict.fromkeys(other_tasks),
    )
    index = {
        task.name: ResponseIndex(
            task.k,
            {item.problem_id: item.turns for item in task.problems},
            {item.problem_id for item in task.problems if item.ends_early},
        )
        for task in tasks
    }
    digest = hashlib.sha256()
    for number, offset, record in response_lines(path):
        where = f"{path}:{number}"
        if not _is_ours(record, where, wanted):
            continue
        digest.update(json.dumps(record, sort_keys=True).encode() + b"\n")
        if _is_left_out(record, wanted):
            continue
        item = _checked(record, where, wanted)
        sample = item.sample
        if not index[sample.task].add(sample.problem_id, sample.sample_index, item.turn, offset):
            raise ResponsesError(
                f"{where}: a second line for task {sample.task}, problem {sample.problem_id}, "
                f"sample {sample.sample_index}; remove one of them"
            )
    for task in tasks:
        _check_whole(path, task, index[task.name], subset)
    answered = {name: found.answered() for name, found in index.items()}
    return Responses(ReplayKind(path, index, digest.hexdigest()), answered)


def _is_ours(record: Mapping[str, Any], where: str, wanted: _Wanted) -> bool:
    if len(wanted.models) <= 1:
        return True
    named = record.get("model")
    if named is None:
        raise ResponsesError(
            f"{where}: the suite has the models {', '.join(wanted.models)}: add 'model' to the line, or pick "
            "one with --model NAME"
        )
    if named not in wanted.models:
        raise ResponsesError(f"{where}: unknown model '{named}'{nearest(str(named), wanted.models)}")
    return bool(named == wanted.model)


def _is_left_out(record: Mapping[str, Any], wanted: _Wanted) -> bool:
    """Tell whether a line is of a task or a problem that is not run, which is allowed."""
    task = str(record.get("task"))
    if task not in wanted.left_out:
        return False
    beyond = wanted.left_out[task]
    return beyond is None or str(record.get("problem_id")) in beyond


def _checked(record: Mapping[str, Any], where: str, wanted: _Wanted) -> Completion:
    try:
        item = completion_of(record)
    except (KeyError, TypeError, ValueError) as error:
        raise ResponsesError(
            f"{where}: {_field_error(error)}; a line is "
            '{"task": …, "problem_id": …, "sample_index": 0, "text": …, "finish_reason": "stop"}'
        ) from error
    sample = item.sample
    if sample.task not in wanted.tasks:
        raise ResponsesError(f"{where}: unknown task '{sample.task}'{nearest(sample.task, wanted.tasks)}")
    problems, k = wanted.problems[sample.task], wanted.tasks[sample.task].k
    problem = problems.get(sample.problem_id)
    if problem is None:
        hint = nearest(sample.problem_id, problems) if len(problems) <= 2000 else ""
        raise ResponsesError(f"{where}: task {sample.task} has no problem '{sample.problem_id}'{hint}")
    if sample.sample_index >= k:
        raise ResponsesError(
            f"{where}: sample_index {sample.sample_index}, but task {sample.task} has k = {k} "
            "(indices count from 0)"
        )
    if item.turn >= problem.turns:
        raise ResponsesError(f"{where}: turn {item.turn}, but the problem has {problem.turns} turn(s)")
    return item


def _field_error(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _check_whole(path: Path, task: LoadedTask, index: ResponseIndex, subset: bool) -> None:
    """Refuse problems that lack some of their samples."""
    answered = index.answered() if subset else ()
    wanted = [problem for problem in task.problems if not subset or problem.problem_id in answered]
    lacking = [problem.problem_id for problem in wanted if not index.is_whole(problem.problem_id)]
    if lacking:
        shown = ", ".join(lacking[:5]) + (" …" if len(lacking) > 5 else "")
        hint = "" if subset else "; --subset responses leaves out problems without any line"
        raise ResponsesError(
            f"{path}: task {task.name}: {len(lacking)} of {len(wanted)} problems lack some of their "
            f"{task.k} samples: {shown}{hint}"
        )
