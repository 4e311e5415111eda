"""Ready responses instead of an engine: a JSON Lines file, checked line by line before anything is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from genbench.errors import ResponsesError, nearest
from genbench.store.folder import Drawn
from genbench.tasks.loaded import LoadedTask
from genbench.types import Completion, FinishReason, Problem, SampleId

_KNOWN_FINISH = frozenset(get_args(FinishReason))


@dataclass(frozen=True, slots=True)
class Responses:
    """A file of ready responses that has been checked against the suite's tasks.

    `problems` are the ids that it answers, by task; reading it again yields its completions.
    """

    path: Path
    model: str
    several_models: bool
    problems: Mapping[str, frozenset[str]]
    samples: Mapping[str, Drawn]

    @property
    def identity(self) -> str:
        """Who "the model" is: the file itself."""
        with self.path.open("rb") as stream:
            return f"responses:{hashlib.file_digest(stream, 'sha256').hexdigest()}"

    def completions(self) -> Iterator[Completion]:
        """The file's lines for this model as completions."""
        for _, record in _lines(self.path):
            if self.several_models and record["model"] != self.model:
                continue
            item = _completion(record)
            if item.sample.problem_id in self.problems.get(item.sample.task, ()):
                yield item


def read_responses(
    path: Path,
    tasks: Sequence[LoadedTask],
    model: str,
    models: Sequence[str],
    *,
    subset: bool,
    other_tasks: Sequence[str] = (),
) -> Responses:
    """Checks the whole file, keeping none of its texts.

    Args:
        other_tasks: tasks of the suite that this run leaves out; their lines are passed over.
        model: the model of the suite that the responses stand for.
        models: all models of the suite; with more than one a line must name its own.
        subset: problems without any line are left out of the run instead of refused.

    Raises:
        ResponsesError: by line number for a bad, unknown or second line; by problem for lacking ones.
    """
    by_name = {task.name: {problem.problem_id: problem for problem in task.problems} for task in tasks}
    left_out = {task.name: task.left_out for task in tasks} | dict.fromkeys(other_tasks)
    k = {task.name: task.k for task in tasks}
    samples = {task.name: Drawn() for task in tasks}
    answered: dict[str, set[str]] = {task.name: set() for task in tasks}
    several = len(models) > 1
    for number, record in _lines(path):
        where = f"{path}:{number}"
        if several and not _is_ours(record, where, model, models):
            continue
        if _is_left_out(record, left_out):
            continue
        item, problem = _checked(record, where, by_name, k)
        sample = item.sample
        if not samples[sample.task].add(sample.problem_id, sample.sample_index, item.turn):
            raise ResponsesError(
                f"{where}: a second line for task {sample.task}, problem {sample.problem_id}, "
                f"sample {sample.sample_index}; remove one of them"
            )
        answered[sample.task].add(problem.problem_id)
    for task in tasks:
        _complete(path, task, samples[task.name], answered[task.name], subset)
    return Responses(path, model, several, {name: frozenset(ids) for name, ids in answered.items()}, samples)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Splits on newlines only: texts may hold U+2028."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, _parse(path, number, line)
    except OSError as error:
        raise ResponsesError(f"{path}: cannot be read: {error.strerror}") from error


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise ResponsesError(f"{path}:{number}: not valid JSON: {error}") from error
    if not isinstance(record, dict):
        raise ResponsesError(f"{path}:{number}: wanted an object, found {type(record).__name__}")
    return record


def _is_ours(record: Mapping[str, Any], where: str, model: str, models: Sequence[str]) -> bool:
    named = record.get("model")
    if named is None:
        raise ResponsesError(
            f"{where}: the suite has the models {', '.join(models)}: add 'model' to the line, or pick one "
            "with --model NAME"
        )
    if named not in models:
        raise ResponsesError(f"{where}: unknown model '{named}'{nearest(str(named), models)}")
    return bool(named == model)


def _is_left_out(record: Mapping[str, Any], left_out: Mapping[str, frozenset[str] | None]) -> bool:
    """A line of a task that is not run, or of a problem beyond the limit: neither wanted nor wrong."""
    task = str(record.get("task"))
    if task not in left_out:
        return False
    beyond = left_out[task]
    return beyond is None or str(record.get("problem_id")) in beyond


def _checked(
    record: Mapping[str, Any], where: str, tasks: Mapping[str, Mapping[str, Problem]], k: Mapping[str, int]
) -> tuple[Completion, Problem]:
    try:
        item = _completion(record)
    except (KeyError, TypeError, ValueError) as error:
        raise ResponsesError(
            f"{where}: {_field_error(error)}; a line is "
            '{"task": …, "problem_id": …, "sample_index": 0, "text": …, "finish_reason": "stop"}'
        ) from error
    sample = item.sample
    if sample.task not in tasks:
        raise ResponsesError(f"{where}: unknown task '{sample.task}'{nearest(sample.task, tasks)}")
    problem = tasks[sample.task].get(sample.problem_id)
    if problem is None:
        hint = nearest(sample.problem_id, tasks[sample.task]) if len(tasks[sample.task]) <= 2000 else ""
        raise ResponsesError(f"{where}: task {sample.task} has no problem '{sample.problem_id}'{hint}")
    if sample.sample_index >= k[sample.task]:
        raise ResponsesError(
            f"{where}: sample_index {sample.sample_index}, but task {sample.task} has k = {k[sample.task]} "
            "(indices count from 0)"
        )
    if item.turn >= problem.turns:
        raise ResponsesError(f"{where}: turn {item.turn}, but the problem has {problem.turns} turn(s)")
    return item, problem


def _field_error(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _completion(record: Mapping[str, Any]) -> Completion:
    finish: Any = record.get("finish_reason") or "stop"
    if finish not in _KNOWN_FINISH:
        raise ValueError(f"'finish_reason' is {finish!r}, wanted stop or length")
    text = record["text"]
    if not isinstance(text, str):
        raise TypeError(f"'text' is {type(text).__name__}, wanted text")
    return Completion(
        sample=SampleId(str(record["task"]), str(record["problem_id"]), _count(record, "sample_index")),
        turn=_count(record, "turn") if "turn" in record else 0,
        seed=record.get("seed"),
        prompt_digest=None,
        text=text,
        finish_reason=finish,
        prompt_tokens=_tokens(record, "prompt_tokens"),
        completion_tokens=_tokens(record, "completion_tokens"),
        trace_tokens=_tokens(record, "trace_tokens"),
        max_tokens=None,
        attempt=0,
        seconds=None,
    )


def _count(record: Mapping[str, Any], key: str) -> int:
    value = record[key]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"'{key}' is {value!r}, wanted a whole number from 0")
    return value


def _tokens(record: Mapping[str, Any], key: str) -> int | None:
    return None if record.get(key) is None else _count(record, key)


def _complete(path: Path, task: LoadedTask, samples: Drawn, answered: set[str], subset: bool) -> None:
    """All k samples of every problem, or the problem is named."""
    wanted = [problem for problem in task.problems if not subset or problem.problem_id in answered]
    lacking = [
        problem.problem_id
        for problem in wanted
        if not all(
            samples.has(problem.problem_id, index, turn)
            for index in range(task.k)
            for turn in range(problem.turns)
        )
    ]
    if lacking:
        shown = ", ".join(lacking[:5]) + (" …" if len(lacking) > 5 else "")
        hint = "" if subset else "; --subset responses leaves out problems without any line"
        raise ResponsesError(
            f"{path}: task {task.name}: {len(lacking)} of {len(wanted)} problems lack some of their "
            f"{task.k} samples: {shown}{hint}"
        )
