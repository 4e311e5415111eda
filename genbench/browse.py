"""A run looked at in the terminal: its table, a task's problems, one problem's samples in full."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.prepare import Reasoning
from genbench.report.safe import one_line, printable
from genbench.store.folder import RunFolder
from genbench.types import STATUSES, Completion, Verdict

_TEXT_LIMIT = 4000


def task_rows(path: Path, task: str) -> list[dict[str, Any]]:
    """One record a problem: its mean score, statuses and answers."""
    folder = _opened(path, task)
    verdicts: defaultdict[str, list[Verdict]] = defaultdict(list)
    for verdict in folder.verdicts(task):
        verdicts[verdict.sample.problem_id].append(verdict)
    rows: list[dict[str, Any]] = []
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
                "strata": record["strata"],
            }
        )
    return rows


def sample_records(path: Path, task: str, problem_id: str) -> list[dict[str, Any]]:
    """Every sample of a problem: prompt digest, trace, answer, verdict; one record a turn."""
    folder = _opened(path, task)
    known = folder.problems(task)
    if problem_id not in known:
        raise ConfigError(f"{path}: task {task} has no problem '{problem_id}'{nearest(problem_id, known)}")
    reasoning = Reasoning.from_record(folder.require_manifest()["reasoning"])
    verdicts = {v.sample: v for v in folder.verdicts(task) if v.sample.problem_id == problem_id}
    items = [item for item in folder.completions(task) if item.sample.problem_id == problem_id]
    items.sort(key=lambda item: (item.sample.sample_index, item.turn))
    asks = folder.asks(task).get(problem_id, [])
    records = [_sample_record(item, verdicts.get(item.sample), reasoning) for item in items]
    return [record | _asked(asks, record["sample_index"]) for record in records]


def kept(
    records: list[dict[str, Any]], status: str | None = None, sample: int | None = None
) -> list[dict[str, Any]]:
    """The records (of problems or of samples) with this status, and of this sample_index.

    Raises:
        ConfigError: no status is called so.
    """
    if status is not None and status not in STATUSES:
        raise ConfigError(f"--status {status}: no such status{nearest(status, STATUSES)}")
    return [
        record
        for record in records
        if (status is None or status in record.get("statuses", [record.get("status")]))
        and (sample is None or record.get("sample_index", sample) == sample)
    ]


def beside(
    left: list[dict[str, Any]], right: list[dict[str, Any]]
) -> list[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Each record of the first run with the same problem, sample and turn of the second."""
    keys = ("problem_id", "sample_index", "turn")
    other = {tuple(record.get(key) for key in keys): record for record in right}
    return [(record, other.get(tuple(record.get(key) for key in keys))) for record in left]


def beside_text(
    pairs: list[tuple[dict[str, Any], dict[str, Any] | None]], names: tuple[str, str]
) -> Iterator[str]:
    """Lines for the terminal: problems with both scores, or both runs' samples after one another."""
    for left, right in pairs:
        if "statuses" in left:
            change = " -> ".join(_score_text(record) for record in (left, right))
            counts = " | ".join(_counts(record) for record in (left, right) if record)
            yield f"{one_line(left['problem_id'])}  {change}  {counts}"
            continue
        for name, record in zip(names, (left, right), strict=True):
            yield f"══ {one_line(name)}"
            yield from sample_text(record) if record else ("(not drawn)",)


def _score_text(record: dict[str, Any] | None) -> str:
    return "-" if record is None or record["score"] is None else f"{100 * record['score']:.1f}"


def _counts(record: dict[str, Any]) -> str:
    counts = {status: record["statuses"].count(status) for status in dict.fromkeys(record["statuses"])}
    return " ".join(f"{status} {count}" for status, count in counts.items())


def _asked(asks: list[dict[str, Any]], sample_index: int) -> dict[str, Any]:
    """Prompt and reference of the sample's first turn; None where the folder did not keep them."""
    ask = next((ask for ask in asks if sample_index in ask["samples"]), None)
    return {key: ask[key] if ask else None for key in ("prompt", "reference")}


def _sample_record(item: Completion, verdict: Verdict | None, reasoning: Reasoning) -> dict[str, Any]:
    answer = reasoning.split(item)
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
    }


def _opened(path: Path, task: str) -> RunFolder:
    folder = RunFolder(path)
    tasks = folder.require_manifest()["tasks"]
    if task not in tasks:
        raise ConfigError(f"{path}: no task '{task}'{nearest(task, tasks)}")
    return folder


def task_text(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Lines for the terminal: one a problem, the hardest last."""
    width = max((len(row["problem_id"]) for row in rows), default=0)
    for row in sorted(rows, key=lambda row: -(row["score"] if row["score"] is not None else -1)):
        score = "   - " if row["score"] is None else f"{100 * row['score']:5.1f}"
        answers = ", ".join(
            one_line(str(text), 20) if text is not None else "∅" for text in row["extracted"][:8]
        )
        yield f"{one_line(row['problem_id']):{width}}  {score}  {_counts(row)}  [{answers}]"


def sample_text(record: dict[str, Any]) -> Iterator[str]:
    """One sample for the terminal: verdict first, then answer, then the trace cut short."""
    score = "-" if record["score"] is None else f"{record['score']:g}"
    turn = f", turn {record['turn']}" if record["turn"] else ""
    yield (
        f"── sample {record['sample_index']}{turn}: {record['status'] or 'not verified'} (score {score}), "
        f"finish {record['finish_reason']}, {record['completion_tokens']} tokens, "
        f"trace {record['trace_status']}"
    )
    if record["extracted"] is not None:
        yield f"extracted: {one_line(str(record['extracted']))}"
    if record["reference"] is not None:
        yield f"reference: {one_line(record['reference'], 300)}"
    for key, value in (record["detail"] or {}).items():
        yield f"{key}: {one_line(str(value), 300)}"
    if record["prompt"] and not record["turn"]:
        yield f"prompt ({len(record['prompt']):,} characters): {one_line(record['prompt'], 400)}"
    if record["trace"]:
        yield f"trace ({len(record['trace']):,} characters): {one_line(record['trace'], 400)}"
    yield "answer:"
    yield printable(record["answer"], _TEXT_LIMIT) or "(empty)"
