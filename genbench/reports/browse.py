"""A run looked at in the terminal: a task's problems, one problem's samples, what changed in a second run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.models.prepared import Reasoning
from genbench.store.folder import RunFolder
from genbench.types import STATUSES, Completion, Verdict

Record = dict[str, Any]
Pair = tuple[Record, Record | None]
FLIPS = ("gained", "lost")


@dataclass(frozen=True, slots=True)
class Filter:
    """What to keep of a task's problems, or of a problem's samples; None keeps all.

    `min_tokens` is the least length of a sample (a problem is kept for its longest one), `flip` what a second
    run made of it: `gained` scores more there, `lost` less.
    """

    status: str | None = None
    sample: int | None = None
    min_tokens: int | None = None
    flip: str | None = None

    def __post_init__(self) -> None:
        for option, value, valid in (("status", self.status, STATUSES), ("flip", self.flip, FLIPS)):
            if value is not None and value not in valid:
                raise ConfigError(f"--{option} {value}: there is no such {option}{nearest(value, valid)}")

    def keeps(self, record: Record) -> bool:
        """Whether the record (of a problem or of a sample) itself passes."""
        if self.status is not None and self.status not in record.get("statuses", [record.get("status")]):
            return False
        if self.sample is not None and record.get("sample_index", self.sample) != self.sample:
            return False
        return self.min_tokens is None or (record["completion_tokens"] or 0) >= self.min_tokens

    def keeps_pair(self, pair: Pair) -> bool:
        """Whether the two records of one problem or sample flipped as wanted."""
        first, second = pair[0]["score"], pair[1]["score"] if pair[1] else None
        if self.flip is None:
            return True
        if first is None or second is None:
            return False
        return bool(second > first if self.flip == "gained" else second < first)


def task_rows(path: Path, task: str, wanted: Filter) -> list[Record]:
    """One record a problem: its mean score, statuses, answers, and the tokens of its longest sample."""
    folder = _opened(path, task)
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in folder.verdicts(task):
        verdicts[verdict.sample.problem_id].append(verdict)
    # Completions are much the largest file: read where their lengths are asked for.
    longest = _longest(folder, task) if wanted.min_tokens is not None else {}
    rows: list[Record] = []
    for problem_id, record in folder.problems(task).items():
        judged = sorted(verdicts.get(problem_id, []), key=lambda verdict: verdict.sample.sample_index)
        scores = [verdict.score for verdict in judged if verdict.score is not None]
        rows.append(
            {
                "problem_id": problem_id,
                "score": sum(scores) / len(scores) if scores else None,
                "samples": len(judged),
                "statuses": [verdict.status for verdict in judged],
                "extracted": [verdict.extracted for verdict in judged],
                "completion_tokens": longest.get(problem_id),
                "strata": record["strata"],
            }
        )
    return [row for row in rows if wanted.keeps(row)]


def _longest(folder: RunFolder, task: str) -> dict[str, int]:
    found: defaultdict[str, int] = defaultdict(int)
    for item in folder.completions(task):
        problem_id = item.sample.problem_id
        found[problem_id] = max(found[problem_id], item.completion_tokens or 0)
    return found


def sample_records(path: Path, task: str, problem_id: str, wanted: Filter) -> list[Record]:
    """Every sample of a problem: prompt, trace, answer, reference, verdict; one record a turn."""
    folder = _opened(path, task)
    known = folder.problems(task)
    if problem_id not in known:
        raise ConfigError(f"{path}: task {task} has no problem '{problem_id}'{nearest(problem_id, known)}")
    reasoning = Reasoning.from_record(folder.require_manifest()["reasoning"])
    verdicts = {v.sample: v for v in folder.verdicts(task) if v.sample.problem_id == problem_id}
    items = [item for item in folder.completions(task) if item.sample.problem_id == problem_id]
    items.sort(key=lambda item: (item.sample.sample_index, item.turn))
    asks = folder.asks(task).get(problem_id, [])
    records = [_sample_record(item, verdicts.get(item.sample), reasoning, asks) for item in items]
    return [record for record in records if wanted.keeps(record)]


def _sample_record(
    item: Completion, verdict: Verdict | None, reasoning: Reasoning, asks: list[Record]
) -> Record:
    """Prompt and reference are None where the folder did not keep them."""
    answer = reasoning.split(item)
    ask = next((ask for ask in asks if item.sample.sample_index in ask["samples"]), None)
    return {
        "task": item.sample.task,
        "problem_id": item.sample.problem_id,
        "sample_index": item.sample.sample_index,
        "turn": item.turn,
        "seed": item.seed,
        "finish_reason": item.finish_reason,
        "completion_tokens": item.completion_tokens,
        "trace_status": answer.trace_status,
        "trace": answer.trace,
        "answer": answer.text,
        "score": verdict.score if verdict else None,
        "status": verdict.status if verdict else None,
        "extracted": verdict.extracted if verdict else None,
        "detail": dict(verdict.detail) if verdict else None,
        "parts": dict(verdict.parts) if verdict else None,
        "prompt": item.prompt if item.turn else ask and ask["prompt"],
        "reference": ask and ask["reference"],
    }


def paired(
    first: Path, second: Path, read: Callable[[Path, Filter], list[Record]], wanted: Filter
) -> list[Pair]:
    """Each record of the first run that passes, with the same problem, sample and turn of the second."""
    keys = ("problem_id", "sample_index", "turn")
    other = {tuple(record.get(key) for key in keys): record for record in read(second, Filter())}
    pairs = [(record, other.get(tuple(record.get(key) for key in keys))) for record in read(first, wanted)]
    return [pair for pair in pairs if wanted.keeps_pair(pair)]


def _opened(path: Path, task: str) -> RunFolder:
    folder = RunFolder(path)
    tasks = folder.require_manifest()["tasks"]
    if task not in tasks:
        raise ConfigError(f"{path}: no task '{task}'{nearest(task, tasks)}")
    return folder
