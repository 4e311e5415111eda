"""The problems of a task and the samples of a problem, filtered, and paired with those of a second run."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import Field

from genbench.analysis.samples import task_samples
from genbench.analysis.transcript import TurnFacts, read_transcript
from genbench.errors import ConfigError, GenbenchError, RunFolderError, nearest
from genbench.json_record import Count, JsonRecord, Share
from genbench.store.folder import RunFolder
from genbench.store.lines import completion_from_record, verdict_from_record
from genbench.store.signature import is_sealed
from genbench.store.stored_run import Sample, StoredRun, StoredTask
from genbench.tasks.regenerate_prompts import PromptRegenerator
from genbench.types import STATUSES, Completion, FinishReason, Status, TraceStatus, Verdict


class ProblemRow(JsonRecord):
    """One problem of a task."""

    problem_id: str = Field(description="the problem")
    score: Share | None = Field(description="mean of its samples; null if none has a score")
    samples: Count = Field(description="samples with a verdict")
    statuses: tuple[Status, ...] = Field(description="statuses of its samples in order")
    extracted: tuple[str | None, ...] = Field(description="what was compared, of its samples in order")
    completion_tokens: Count | None = Field(
        description="tokens of its longest sample; null unless --min-tokens asks for it"
    )
    strata: dict[str, str] = Field(description="strata of the problem, such as level, subject and difficulty")


class SampleRow(JsonRecord):
    """One turn of one sample."""

    task: str = Field(description="the task")
    problem_id: str = Field(description="the problem")
    sample_index: Count = Field(description="index of the sample from 0")
    turn: Count = Field(description="index of the turn from 0")
    seed: int | None = Field(description="seed of the sample; null if it is not known")
    finish_reason: FinishReason = Field(description="why the completion ended")
    completion_tokens: Count | None = Field(
        description="tokens of the completion; null if they were not counted"
    )
    trace_status: TraceStatus = Field(description="of the reasoning trace")
    trace: str = Field(description="the reasoning trace")
    answer: str = Field(description="the completion without its trace")
    score: Share | None = Field(description="of the sample; null without a verdict, or if it is excluded")
    status: Status | None = Field(description="status of the sample; null without a verdict")
    extracted: str | None = Field(description="what was compared")
    detail: dict[str, Any] | None = Field(description="details that the verifier gives of the sample")
    parts: dict[str, float] | None = Field(description="named sub-scores")
    prompt: str | None = Field(description="the prompt; null if the folder did not keep it")
    seconds: float | None = Field(description="seconds in the engine; null if they are not known")
    sent: str | None = Field(
        description="what the model was sent since its reply before, such as the result of a tool; in the "
        "first turn of a rollout its whole prompt; null if the folder did not keep it"
    )
    begins_anew: bool = Field(
        description="whether `sent` is a whole prompt, because the turns before are not in it as they were"
    )
    calls: tuple[dict[str, Any], ...] = Field(
        description="function calls of a rollout's turn, as name and arguments"
    )
    touched: bool = Field(
        description="whether the turn of a rollout ran a command with which solutions are found instead of "
        "worked out, in the history of a repository or in the network"
    )
    is_ending: bool = Field(
        description="whether this is the result of an agent's harness, which is not a turn"
    )
    reference: str | None = Field(description="the reference; null if the folder did not keep it")


Row = TypeVar("Row", ProblemRow, SampleRow)
FLIPS = ("gained", "lost")
_TAIL_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class SampleFilter:
    """A filter of a task's problems, or of a problem's samples. None keeps all.

    `min_tokens` is the smallest length of a sample. A problem is kept if its longest sample is kept.
    `flip` compares with a second run: `gained` keeps what scores more there, `lost` what scores less.
    """

    status: str | None = None
    sample: int | None = None
    min_tokens: int | None = None
    flip: str | None = None

    def __post_init__(self) -> None:
        for option, value, valid in (("status", self.status, STATUSES), ("flip", self.flip, FLIPS)):
            if value is not None and value not in valid:
                raise ConfigError(f"--{option} {value}: there is no such {option}{nearest(value, valid)}")

    def keeps_problem(self, row: ProblemRow) -> bool:
        """Return whether a problem is kept."""
        return (self.status is None or self.status in row.statuses) and self._is_long(row)

    def keeps_sample(self, row: SampleRow) -> bool:
        """Return whether a sample is kept."""
        return (
            (self.status is None or self.status == row.status)
            and (self.sample is None or self.sample == row.sample_index)
            and self._is_long(row)
        )

    def _is_long(self, row: ProblemRow | SampleRow) -> bool:
        return self.min_tokens is None or (row.completion_tokens or 0) >= self.min_tokens

    def keeps_pair(self, first: ProblemRow | SampleRow, second: ProblemRow | SampleRow | None) -> bool:
        """Return whether a problem or sample of two runs flipped as the filter asks."""
        if self.flip is None:
            return True
        if second is None or first.score is None or second.score is None:
            return False
        return second.score > first.score if self.flip == "gained" else second.score < first.score


class _Outcome(NamedTuple):
    """What a row shows of a verdict. The details of a million verdicts would take gigabytes."""

    sample_index: int
    score: float | None
    status: Status
    extracted: str | None


def _outcome(verdict: Verdict) -> _Outcome:
    return _Outcome(verdict.sample.sample_index, verdict.score, verdict.status, verdict.extracted)


def task_rows(path: str | Path, task: str, wanted: SampleFilter | None = None) -> list[ProblemRow]:
    """Return one row for each problem in force that passes.

    Raises:
        ConfigError: the run has no such task.
        RunFolderError: no run folder, or a damaged line.
    """
    wanted = wanted or SampleFilter()
    stored = _opened(Path(path), task).task(task)
    verdicts: defaultdict[str, list[_Outcome]] = defaultdict(list)
    for verdict in stored.verdicts():
        verdicts[verdict.sample.problem_id].append(_outcome(verdict))
    # Completions are by far the largest file, so they are read only if their lengths are needed.
    longest = _longest(stored) if wanted.min_tokens is not None else {}
    rows = (
        _problem_row(problem_id, verdicts.get(problem_id, []), longest.get(problem_id), record["strata"])
        for problem_id, record in stored.problems.items()
    )
    return [row for row in rows if wanted.keeps_problem(row)]


def _problem_row(
    problem_id: str, verdicts: Sequence[_Outcome], longest: int | None, strata: dict[str, str]
) -> ProblemRow:
    in_order = sorted(verdicts, key=lambda verdict: verdict.sample_index)
    scores = [verdict.score for verdict in in_order if verdict.score is not None]
    return ProblemRow(
        problem_id=problem_id,
        score=sum(scores) / len(scores) if scores else None,
        samples=len(in_order),
        statuses=tuple(verdict.status for verdict in in_order),
        extracted=tuple(verdict.extracted for verdict in in_order),
        completion_tokens=longest,
        strata=strata,
    )


def _longest(stored: StoredTask) -> dict[str, int]:
    found: defaultdict[str, int] = defaultdict(int)
    for item in stored.completions():
        problem_id = item.sample.problem_id
        found[problem_id] = max(found[problem_id], item.completion_tokens or 0)
    return found


def sample_rows(
    path: str | Path, task: str, problem_id: str, wanted: SampleFilter | None = None
) -> list[SampleRow]:
    """Return one row for each turn of a problem's samples that passes, by sample and turn.

    Raises:
        ConfigError: the run has no such task or problem.
        RunFolderError: no run folder, or a damaged line.
    """
    wanted = wanted or SampleFilter()
    run = _opened(Path(path), task)
    known = run.task(task).problem_ids
    if problem_id not in known:
        raise ConfigError(f"{path}: task {task} has no problem '{problem_id}'{nearest(problem_id, known)}")
    samples = sorted(task_samples(run, task, problem_id), key=lambda sample: sample.sample_index)
    # A folder from elsewhere must not choose which files are read.
    own = is_sealed(run.folder, run.manifest)
    data_dir = run.manifest.origin.data_dir if own else None
    suite_folder = Path(run.manifest.suite.path).resolve().parent if own else None
    regenerator = PromptRegenerator(Path(data_dir) if data_dir else None, suite_folder)
    return [row for sample in samples for row in _turn_rows(sample, regenerator) if wanted.keeps_sample(row)]


def _first_prompt(sample: Sample, regenerator: PromptRegenerator) -> str | None:
    """Return the prompt of the first turn. A generated one is made again, or it is said why it cannot be."""
    if sample.recipe is None:
        return sample.prompt
    try:
        return regenerator.prompt(sample.recipe)
    except GenbenchError as error:
        return f"{sample.prompt}\n{error}"


def _turn_rows(sample: Sample, regenerator: PromptRegenerator) -> Iterator[SampleRow]:
    transcript = read_transcript(sample)
    for facts in transcript.turns:
        yield _turn_row(sample, facts, regenerator, is_ending=False)
    if transcript.is_rollout:
        ending = TurnFacts(sample.turns[-1], None, is_new=False, said="", calls=(), touched=False)
        yield _turn_row(sample, ending, regenerator, is_ending=True)


def _turn_row(
    sample: Sample, facts: TurnFacts, regenerator: PromptRegenerator, *, is_ending: bool
) -> SampleRow:
    verdict, turn, item = sample.verdict, facts.turn, facts.turn.completion
    return SampleRow(
        task=sample.task,
        problem_id=sample.problem_id,
        sample_index=sample.sample_index,
        turn=item.turn,
        seed=item.seed,
        finish_reason=item.finish_reason,
        completion_tokens=item.completion_tokens,
        trace_status=turn.answer.trace_status,
        trace=turn.answer.trace,
        answer=turn.answer.text,
        score=sample.score,
        status=verdict.status if verdict else None,
        extracted=verdict.extracted if verdict else None,
        detail=dict(verdict.detail) if verdict else None,
        parts=dict(verdict.parts) if verdict else None,
        prompt=item.prompt if item.turn or item.prompt else _first_prompt(sample, regenerator),
        reference=sample.reference,
        seconds=item.seconds,
        sent=facts.sent if item.turn or item.prompt else None,
        begins_anew=facts.is_new,
        calls=tuple(dict(call) for call in facts.calls),
        touched=facts.touched,
        is_ending=is_ending,
    )


def paired(
    first: Path, second: Path, read: Callable[[Path, SampleFilter], list[Row]], wanted: SampleFilter
) -> list[tuple[Row, Row | None]]:
    """Return each row of the first run that passes, with the same problem, sample and turn of the second."""
    other = {_key(row): row for row in read(second, SampleFilter())}
    pairs = [(row, other.get(_key(row))) for row in read(first, wanted)]
    return [pair for pair in pairs if wanted.keeps_pair(*pair)]


def _key(row: ProblemRow | SampleRow) -> Hashable:
    if isinstance(row, SampleRow):
        return row.problem_id, row.sample_index, row.turn
    return row.problem_id


def _opened(path: Path, task: str) -> StoredRun:
    run = StoredRun(path)
    if task not in run.manifest.tasks:
        raise ConfigError(f"{path}: no task '{task}'{nearest(task, run.manifest.tasks)}")
    return run


@dataclass(frozen=True, slots=True)
class SampleSearch:
    """What samples of a run are looked for. Empty texts mean any."""

    problem: str = ""
    status: str = ""
    text: str = ""
    """A part of the completion, in any case."""

    def __post_init__(self) -> None:
        if self.status and self.status not in STATUSES:
            raise ConfigError(
                f"status '{self.status[:30]}': there is no such status{nearest(self.status, STATUSES)}"
            )


@dataclass(frozen=True, slots=True)
class FoundSample:
    """One sample that was looked for."""

    task: str
    problem_id: str
    sample_index: int
    score: float | None
    status: Status
    extracted: str | None


@dataclass(frozen=True, slots=True)
class FoundSamples:
    """Some samples of one task. `after` is where the search goes on, None at the end."""

    items: list[FoundSample]
    after: int | None


def find_samples(
    folder: RunFolder, task: str, wanted: SampleSearch, *, start: int, most: int, until: float
) -> FoundSamples:
    """Return samples with a verdict, in the order of verdicts.jsonl.

    Args:
        start: byte of verdicts.jsonl at which the search begins, 0 or `after` of the search before.
        most: samples that are returned, at most.
        until: reading of `time.monotonic` after which the search stops.

    Raises:
        RunFolderError: a line is damaged.
    """
    path = folder.verdict_path(task)
    if not path.is_file():
        return FoundSamples([], None)
    told = _samples_with(folder, task, wanted.text) if wanted.text else None
    found: list[FoundSample] = []
    with path.open("rb") as file:
        file.seek(start)
        for number, line in enumerate(iter(file.readline, b"")):
            if len(found) == most or (number % 256 == 255 and time.monotonic() > until):
                return FoundSamples(found, file.tell() - len(line))
            verdict = _verdict_of(line, path)
            if verdict is not None and _is_wanted(verdict, wanted, told):
                found.append(
                    FoundSample(
                        task,
                        verdict.sample.problem_id,
                        verdict.sample.sample_index,
                        verdict.score,
                        verdict.status,
                        verdict.extracted,
                    )
                )
    return FoundSamples(found, None)


def _verdict_of(line: bytes, path: Path) -> Verdict | None:
    """Return the verdict of a line, None for a last line that was cut off."""
    if not line.endswith(b"\n"):
        return None
    try:
        return verdict_from_record(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        raise RunFolderError(f"{path}: a line is damaged: {error}") from error


def _is_wanted(verdict: Verdict, wanted: SampleSearch, told: Container[tuple[str, int]] | None) -> bool:
    sample = verdict.sample
    return (
        (not wanted.status or verdict.status == wanted.status)
        and (not wanted.problem or sample.problem_id == wanted.problem)
        and (told is None or (sample.problem_id, sample.sample_index) in told)
    )


def _samples_with(folder: RunFolder, task: str, text: str) -> set[tuple[str, int]]:
    """Return the samples of which a completion has a text, in any case."""
    sought = text.casefold()
    return {
        (item.sample.problem_id, item.sample.sample_index)
        for item in folder.completions(task)
        if sought in item.text.casefold()
    }


def newest_samples(folder: RunFolder, tasks: Iterable[str], count: int = 5) -> list[Completion]:
    """Return the completions that a run has drawn last, newest first, of any of its tasks.

    Only the end of each file is read. A line that is still being written is left out.
    """
    found: list[tuple[float, int, Completion]] = []
    for task in tasks:
        path = folder.file(task, "completions")
        try:
            changed = path.stat().st_mtime
            lines = _last_lines(path, count)
        except OSError:
            continue
        for place, line in enumerate(lines):
            with suppress(ValueError, KeyError, TypeError, GenbenchError):
                found.append((changed, place, completion_from_record(json.loads(line))))
    found.sort(key=lambda item: item[:2], reverse=True)
    return [item for _, _, item in found[:count]]


def _last_lines(path: Path, count: int) -> list[bytes]:
    """Return the last whole lines of a file, old to new, at most those of its last 256 kB."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        lines = file.read().split(b"\n")
    return lines[1 if path.stat().st_size > _TAIL_BYTES else 0 : -1][-count:]
