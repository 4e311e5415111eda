"""One pass over a run's samples: columns for plots and index, long texts, health, samples.parquet."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.analysis.samples import Sample, TaskSamples, task_samples
from genbench.errors import RunFolderError
from genbench.exchange.parquet import SampleTable
from genbench.reports.health import TaskHealth, first_prompts
from genbench.reports.texts import TextStore
from genbench.store.folder import RunFolder
from genbench.types import STATUSES

PARQUET = "samples.parquet"


@dataclass(slots=True)
class TaskColumns:
    """A task's samples in few bytes; position of a sample: row of its problem x k + sample_index.

    `status` holds indices into STATUSES, -1 where nothing was drawn; `scores` are NaN where there is
    none; `tokens` of completions, `trace` and `answer` are lengths, tokens where the engine counted
    them, else characters. `chunks` and `ask_chunks` say where the long texts are.
    """

    name: str
    problem_ids: tuple[str, ...]
    k: int
    counted: bool = True
    status: array[int] = field(init=False)
    scores: array[float] = field(init=False)
    tokens: array[int] = field(init=False)
    trace: array[int] = field(init=False)
    answer: array[int] = field(init=False)
    chunks: array[int] = field(init=False)
    ask_chunks: list[int] = field(init=False)
    characters: tuple[array[int], array[int]] = field(init=False)
    rows: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.problem_ids) * self.k
        self.rows = {name: row for row, name in enumerate(self.problem_ids)}
        self.status, self.chunks = array("b", [-1]) * size, array("i", [-1]) * size
        self.scores = array("d", [math.nan]) * size
        self.tokens, self.trace, self.answer, *characters = (array("i", [0]) * size for _ in range(5))
        self.characters = (characters[0], characters[1])
        self.ask_chunks = [-1] * len(self.problem_ids)

    def add(self, sample: Sample, chunk: int) -> None:
        at = self.rows[sample.problem_id] * self.k + sample.sample_index
        self.status[at] = STATUSES.index(sample.verdict.status) if sample.verdict else -1
        self.scores[at] = math.nan if sample.score is None else sample.score
        self.chunks[at] = chunk
        trace = sum(len(turn.answer.trace) for turn in sample.turns)
        answer = sum(len(turn.answer.text) for turn in sample.turns)
        self.characters[0][at], self.characters[1][at] = trace, answer
        if sample.completion_tokens is None or sample.trace_tokens is None:
            self.counted = False
        else:
            self.tokens[at], self.trace[at] = sample.completion_tokens, sample.trace_tokens
            self.answer[at] = sample.completion_tokens - sample.trace_tokens

    def settle(self) -> None:
        """Falls back to characters where any sample's tokens were not counted."""
        if not self.counted:
            self.trace, self.answer = self.characters
            self.tokens = array("i", (t + a for t, a in zip(*self.characters, strict=True)))

    def score(self, at: int) -> float | None:
        """The score at a position, None where there is none."""
        score = self.scores[at]
        return None if math.isnan(score) else score

    @property
    def unit(self) -> str:
        return "tokens" if self.counted else "characters"


@dataclass(frozen=True, slots=True)
class GatheredRun:
    """One run of a report; `name` is unique among them."""

    name: str
    path: Path
    manifest: Mapping[str, Any]
    results: Mapping[str, Any]
    columns: Mapping[str, TaskColumns]
    health: Mapping[str, Mapping[str, Any]]


def gather(path: Path, name: str, number: int, texts: TextStore, parquet: bool) -> GatheredRun:
    """Reads a finished run once; `number` is its place among the runs of the report.

    Raises:
        RunFolderError: no run folder, a damaged line, or a run without results.
    """
    folder = RunFolder(path)
    manifest, results = folder.require_manifest(), folder.results()
    if results is None:
        raise RunFolderError(f"{path}: the run is not finished; continue it, or run: genbench score {path}")
    columns: dict[str, TaskColumns] = {}
    health: dict[str, Mapping[str, Any]] = {}
    with ExitStack() as stack:
        table = stack.enter_context(SampleTable(path / PARQUET)) if parquet else None
        for task in results["tasks"]:
            samples = task_samples(folder, task)
            columns[task], found = _task(samples, name, (number, task), texts, table)
            asks = samples.asks()
            health[task] = found.record(first_prompts(asks, samples.problem_ids))
            for row, problem_id in enumerate(samples.problem_ids):
                if asks.get(problem_id):
                    chunk = texts.add(text_key(number, task, problem_id), _asks(asks[problem_id]))
                    columns[task].ask_chunks[row] = chunk
    return GatheredRun(name, path, manifest, results, columns, health)


def _task(
    samples: TaskSamples, name: str, place: tuple[int, str], texts: TextStore, table: SampleTable | None
) -> tuple[TaskColumns, TaskHealth]:
    columns = TaskColumns(samples.name, samples.problem_ids, samples.k)
    health = TaskHealth(samples.k)
    for sample in samples:
        chunk = texts.add(text_key(*place, sample.problem_id, sample.sample_index), sample_text(sample))
        columns.add(sample, chunk)
        health.add(sample)
        if table is not None:
            table.add(name, sample)
    columns.settle()
    return columns, health


def text_key(run: int, *parts: str | int) -> str:
    """The key of a record of long texts; the page's script builds the same one."""
    return "\n".join(str(part) for part in (run, *parts))


def sample_text(sample: Sample) -> dict[str, Any]:
    """What the browser shows of a sample when it is opened."""
    verdict, seed = sample.verdict, sample.turns[0].completion.seed
    return {
        "turns": [
            {
                "prompt": turn.prompt,
                "trace": turn.answer.trace,
                "trace_status": turn.answer.trace_status,
                "answer": turn.answer.text,
                "finish_reason": turn.completion.finish_reason,
                "completion_tokens": turn.completion.completion_tokens,
                "trace_tokens": turn.completion.trace_tokens,
            }
            for turn in sample.turns
        ],
        "seed": None if seed is None else str(seed),  # JavaScript rounds above 2^53
        "extracted": verdict.extracted if verdict else None,
        "detail": dict(verdict.detail) if verdict else {},
        "parts": dict(verdict.parts) if verdict else {},
    }


def _asks(asks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: ask[key] for key in ("samples", "prompt", "reference")} for ask in asks]


def drawn(columns: TaskColumns) -> Iterator[int]:
    """Positions of the samples that were drawn and verified."""
    return (at for at, status in enumerate(columns.status) if status >= 0)
