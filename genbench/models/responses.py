"""Ready responses of a model: a JSON Lines file, its check against the suite's tasks, and its engine."""

from __future__ import annotations

import asyncio
import hashlib
import json
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, get_args

from genbench.engines.kind import EngineKind, EngineSettings, FoundModel, ModelSource, PromptFacts
from genbench.errors import EngineDiedError, ResponsesError, nearest
from genbench.protocols import Engine
from genbench.store.lines import logged_from_record
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import ChoiceScore, Completion, FinishReason, Problem, Request, SampleId, ScoreRequest

_KNOWN_FINISH = frozenset(get_args(FinishReason))
_MOST = 1 << 64


def response_lines(path: Path) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Read a file of responses as (line number, offset in bytes, object). Only newlines separate lines.

    Raises:
        ResponsesError: the file cannot be read, or a line is not a JSON object.
    """
    offset = 0
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, offset, _parse(path, number, line)
                offset += len(line)
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> ResponsesError:
    """Return the error of a file that cannot be read."""
    return ResponsesError(f"{path}: cannot be read: {error.strerror}")


def _parse(path: Path, number: int, line: bytes) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ResponsesError(f"{path}:{number}: not valid JSON: {error}") from error
    if not isinstance(record, dict):
        raise ResponsesError(f"{path}:{number}: wanted an object, found {type(record).__name__}")
    return record


def completion_of(record: Mapping[str, Any]) -> Completion:
    """Return the completion of a line.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or wrong.
    """
    finish: Any = record.get("finish_reason") or "stop"
    if finish not in _KNOWN_FINISH:
        raise ValueError(f"'finish_reason' is {finish!r}, wanted stop or length")
    scored = record.get("choices")
    text = record["text"] if scored is None else ""
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
        choices=tuple(map(_choice, scored or ())),
        logged=logged_from_record(record.get("logged")),
        prompt=asked if isinstance(asked := record.get("asked"), str) else None,
    )


def _choice(record: Any) -> ChoiceScore:
    """Return the scores of one choice of a line: logprob, tokens, greedy and, if it was asked for, prior."""
    if not isinstance(record, dict):
        raise TypeError(f"'choices' has {record!r:.60}, wanted objects with 'logprob' and 'tokens'")
    prior = record.get("prior")
    return ChoiceScore(
        logprob=_logprob(record["logprob"]),
        tokens=_count(record, "tokens"),
        chars=0,
        bytes=0,
        words=0,
        greedy=record.get("greedy") is True,
        prior=None if prior is None else _logprob(prior),
    )


def _logprob(value: Any) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not ChoiceScore.LEAST_LOGPROB <= value <= 0
    ):
        raise ValueError(
            f"a log-probability is {value!r:.60}, wanted a finite number up to 0, and at least -1e15"
        )
    return float(value)


def _count(record: Mapping[str, Any], key: str) -> int:
    value = record[key]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
        raise TypeError(f"'{key}' is {value!r:.60}, wanted a whole number from 0")
    return value


def _tokens(record: Mapping[str, Any], key: str) -> int | None:
    return None if record.get(key) is None else _count(record, key)


_COMPLETIONS_A_STEP = 100
"""Completions after which the event loop gets a turn: the heartbeat, signals and verifiers need it."""


class ResponseIndex:
    """Where the line of each (problem, sample, turn) of one task begins in the file, in bytes.

    Args:
        turns: the turns of each problem.
        ends_early: the problems whose conversation may have fewer turns.
    """

    def __init__(self, k: int, turns: Mapping[str, int], ends_early: Collection[str] = ()) -> None:
        self._k, self._ends_early = k, ends_early
        self._several = {problem_id: count for problem_id, count in turns.items() if count != 1}
        self._starts: dict[str, int] = {}
        self._offsets = array("q")
        for problem_id, count in turns.items():
            self._starts[problem_id] = len(self._offsets)
            self._offsets.extend([-1] * (k * count))

    def add(self, problem_id: str, sample_index: int, turn: int, offset: int) -> bool:
        """Record a line. Return False if there is one already."""
        place = self._place(problem_id, sample_index, turn)
        if self._offsets[place] >= 0:
            return False
        self._offsets[place] = offset
        return True

    def find(self, problem_id: str, sample_index: int, turn: int) -> int | None:
        """Return the offset of a line, or None if there is none."""
        if problem_id not in self._starts:
            return None
        offset = self._offsets[self._place(problem_id, sample_index, turn)]
        return None if offset < 0 else offset

    def answered(self) -> frozenset[str]:
        """Return the problems that have a line."""
        return frozenset(
            problem_id
            for problem_id, start in self._starts.items()
            if any(offset >= 0 for offset in self._offsets[start : start + self._k * self._turns(problem_id)])
        )

    def is_whole(self, problem_id: str) -> bool:
        """Tell whether all samples of a problem have all their turns.

        A conversation that may end early has an unknown number of turns. It needs the first one.
        """
        start, turns = self._starts[problem_id], self._turns(problem_id)
        step = turns if problem_id in self._ends_early else 1
        return -1 not in self._offsets[start : start + self._k * turns : step]

    def _place(self, problem_id: str, sample_index: int, turn: int) -> int:
        return self._starts[problem_id] + sample_index * self._turns(problem_id) + turn

    def _turns(self, problem_id: str) -> int:
        return self._several.get(problem_id, 1)


@dataclass(frozen=True, slots=True)
class ReplayKind(EngineKind):
    """The engine of `run --responses FILE`.

    Args:
        index: of each task, where its lines are.
        digest: the digest of the model's own lines. None means the whole file.
    """

    path: Path
    index: Mapping[str, ResponseIndex]
    digest: str | None = None

    def check(self) -> str:
        """Return what is read."""
        return f"replay: ready responses of {self.path}"

    def find(self, model: ModelSource) -> ReplayModel:
        """Return the model's lines of the file as the model. Two models of one file have two identities."""
        digest = self.digest
        if digest is None:
            with self.path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        settings = ReplaySettings(self.path, self.index, tuple(model.decodings))
        return ReplayModel(settings, identity=f"responses:{model.name}@{digest}")


@dataclass(frozen=True, slots=True)
class ReplayModel(FoundModel):
    """The model whose responses a file contains. Its identity is its name with the digest of its lines."""

    ready: ReplaySettings

    def settings(self, prompts: PromptFacts) -> ReplaySettings:
        """Return what the file is read with."""
        return self.ready


@dataclass(frozen=True, slots=True)
class ReplaySettings(EngineSettings):
    """What a file of responses is read with."""

    path: Path
    index: Mapping[str, ResponseIndex] = field(repr=False)
    tasks: tuple[str, ...]

    @property
    def terms(self) -> dict[str, Any]:
        """Return that nothing is known of how the responses were sampled."""
        decoding = dict.fromkeys(self.tasks, "as the responses were drawn")
        return {"engine": {"name": "responses"}, "decoding": decoding}

    @property
    def workers(self) -> int:
        """Return 1: the file is read in the order of the queue."""
        return 1

    @property
    def opening(self) -> str:
        """Return what starting the engine means, for people."""
        return f"reading {self.path}"

    @property
    def no_scores(self) -> str:
        """Return nothing: a line may have `choices` instead of a text."""
        return ""

    @property
    def no_loop_stop(self) -> str:
        """Return nothing: the responses were drawn elsewhere, by whatever decoding."""
        return ""

    @property
    def generates(self) -> bool:
        """Return False: completions are only read."""
        return False

    @property
    def members(self) -> dict[str, ReplaySettings]:
        """Return the settings of the one reader."""
        return {"responses": self}

    def make(self) -> ReplayEngine:
        """Return a new reader of the file."""
        return ReplayEngine(self)


class ReplayEngine(Engine):
    """Answers each request with its line of a file of responses."""

    def __init__(self, settings: ReplaySettings) -> None:
        self.settings = settings
        self._file: BinaryIO | None = None
        self._given = 0

    async def start(self) -> None:
        """Open the file.

        Raises:
            ResponsesError: it cannot be read.
        """
        try:
            self._file = self.settings.path.open("rb")
        except OSError as error:
            raise unreadable(self.settings.path, error) from error

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of the file for one request, with the counts that the file gives.

        Raises:
            ResponsesError: the file has changed since it was checked.
        """
        if self._file is None:
            raise EngineDiedError("the file of responses is not open")
        self._given += 1
        if self._given % _COMPLETIONS_A_STEP == 0:
            await asyncio.sleep(0)
        sample = request.sample
        offset = self.settings.index[sample.task].find(sample.problem_id, sample.sample_index, request.turn)
        if offset is None and request.turn:
            goes_on = f"the conversation goes on after turn {request.turn - 1}; add turn {request.turn}"
            raise ResponsesError(f"{self.settings.path}: {sample}: {goes_on}")
        try:
            self._file.seek(-1 if offset is None else offset)
            item = completion_of(json.loads(self._file.readline()))
        except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise self._changed(request) from error
        if (item.sample, item.turn) != (sample, request.turn):
            raise self._changed(request)
        return item

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        """Return the scores of the file for one request. Sizes of texts are those of the task.

        Raises:
            ResponsesError: the line has another number of choices than the problem.
        """
        item = await self.generate(request, attempt)
        if len(item.choices) != len(request.sizes):
            sample = request.sample
            raise ResponsesError(
                f"{self.settings.path}: task {sample.task}, problem {sample.problem_id}: the line has "
                f"{len(item.choices)} choices, wanted {len(request.sizes)}"
            )
        choices = [
            replace(choice, chars=size.chars, bytes=size.bytes, words=size.words)
            for choice, size in zip(item.choices, request.sizes, strict=True)
        ]
        return replace(item, choices=tuple(choices))

    def _changed(self, request: Request) -> ResponsesError:
        sample = request.sample
        return ResponsesError(
            f"{self.settings.path}: no longer has the line of task {sample.task}, problem "
            f"{sample.problem_id}, sample {sample.sample_index}; leave the file as it is while it is read"
        )

    async def close(self) -> None:
        """Close the file."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


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
    picked: bool
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
    picked: bool = False,
    other_tasks: Sequence[str] = (),
) -> Responses:
    """Check the whole file. Its texts are not kept.

    Args:
        other_tasks: tasks of the suite that this run leaves out. Their lines are ignored.
        model: the model of the suite that gave the responses.
        models: all models of the suite. If there are several, each line must name its own.
        picked: the run is of this model only. So a line that does not name a model of the suite is its own.
        subset: leave problems without any line out of the run, instead of refusing the file.

    Raises:
        ResponsesError: names the line that is bad, unknown or repeated, or the problems that lack lines.
    """
    wanted = _Wanted(
        model,
        models,
        picked or len(models) == 1,
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
    named = record.get("model")
    if wanted.picked:
        return named == wanted.model or named not in wanted.models
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
