"""The status of run folders, read from outside without writing or locking anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field

from genbench.json_record import Count, JsonRecord
from genbench.runs.stored.merge import run_folders
from genbench.store.folder import RunFolder
from genbench.store.lock import WriterRecord, writer_of
from genbench.store.stored_run import StoredRun, StoredTask
from genbench.suite.block import draw_of, is_headline

RunState = Literal[
    "starting",
    "loading the engine",
    "drawing",
    "verifying",
    "finished",
    "stopped",
    "failed",
    "killed",
]
"""The state of a run. The first four mean that a process is writing it. `stopped` is by a signal or a
limit."""


class TaskProgress(JsonRecord):
    """Samples of one task."""

    done: Count = Field(description="samples with all turns drawn")
    total: Count = Field(description="samples of the run")
    verified: Count = Field(description="samples with a verdict")
    status_counts: dict[str, Count] = Field(description="verdicts by status, most frequent first")


class RunProgress(JsonRecord):
    """One run. Values are of the writer while it is running, else of the last attempt."""

    path: str = Field(description="the run folder")
    model: str = Field(description="the model's name")
    suite: str = Field(description="the suite's name")
    shard: str | None = Field(description="I/N if the folder is one part of a job array")
    state: RunState = Field(description="what the run is doing, or how it ended")
    writer: WriterRecord | None = Field(
        description="the process that writes the folder; null if it ended cleanly"
    )
    attempt: Count = Field(description="number of the last attempt")
    stopped_by: str | None = Field(description="the signal or limit that stopped the last attempt")
    done: Count = Field(description="samples with all turns drawn")
    total: Count = Field(description="samples of the run")
    verified: Count = Field(description="samples with a verdict")
    tasks: dict[str, TaskProgress] = Field(description="progress by task")
    drawn_now: Count | None = Field(description="samples that the last attempt has drawn")
    completion_tokens: Count | None = Field(description="tokens that the last attempt has drawn")
    tokens_per_s: float | None = Field(description="completion tokens per second")
    left_s: float | None = Field(description="seconds of drawing left at the rate so far, without verifying")
    elapsed_s: float | None = Field(description="seconds of the last attempt")
    updated: str | None = Field(description="time of this report by the writer")


class RunsStatus(JsonRecord):
    """All runs of a folder."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[RunProgress, ...] = Field(description="one entry for each model or shard")


def status(path: str | Path) -> RunsStatus:
    """Return the status of a run folder, or of every run in a folder of models or shards.

    Raises:
        RunFolderError: there is no run folder, or a line is damaged.
    """
    return RunsStatus(format=1, runs=tuple(_run(run) for run in run_folders(Path(path))))


def _run(path: Path) -> RunProgress:
    """Return the status of one run folder."""
    run = StoredRun(path)
    folder, manifest = run.folder, run.manifest
    writer = writer_of(path)
    is_live = writer is not None and writer.alive is not False
    live = folder.live() if is_live else None
    attempt = manifest.attempts[-1].to_json() if manifest.attempts else {}
    tasks = {name: _task(run.task(name), live) for name in manifest.tasks}
    drawn = [task for name, task in tasks.items() if is_headline(name)]
    done, total = sum(task.done for task in drawn), sum(task.total for task in drawn)
    verified = sum(task.verified for task in drawn)
    is_verified = all(task.verified == task.total for task in tasks.values())
    return RunProgress(
        path=str(path),
        model=manifest.model.name,
        suite=manifest.suite.name,
        shard=manifest.origin.shard,
        state=_state(live, is_live, attempt, done == total and is_verified, folder),
        writer=writer,
        attempt=len(manifest.attempts),
        stopped_by=attempt.get("interrupted"),
        done=done,
        total=total,
        verified=verified,
        tasks=tasks,
        drawn_now=live["drawn"] if live else attempt.get("drawn"),
        completion_tokens=live["tokens"] if live else attempt.get("completion_tokens"),
        tokens_per_s=live["tokens_per_s"] if live else _rate(attempt),
        left_s=live["left_s"] if live else None,
        elapsed_s=live["elapsed_s"] if live else attempt.get("seconds"),
        updated=live["at"] if live else attempt.get("ended"),
    )


def _state(
    live: Mapping[str, Any] | None,
    is_live: bool,
    attempt: Mapping[str, Any],
    complete: bool,
    folder: RunFolder,
) -> RunState:
    """Return what the run is doing, or how it ended.

    Args:
        live: what the writer reported last.
        is_live: whether a process is writing the folder.
        attempt: the manifest's entry of the last attempt, empty if there is none.
        complete: whether every sample is drawn and verified.
    """
    if is_live:
        return _live_state(live["state"]) if live else "starting"
    if complete and folder.results_path.is_file():
        return "finished"
    if "ended" not in attempt:
        return "killed" if attempt else "failed"
    return "stopped" if attempt.get("interrupted") else "failed"


def _live_state(told: str) -> RunState:
    """Return the state that a writer reports. An engine that loads reports its own words."""
    return next((state for state in get_args(RunState) if state == told), "loading the engine")


def _rate(attempt: Mapping[str, Any]) -> float | None:
    """Return the completion tokens per second of an attempt, or None if it drew nothing."""
    seconds, tokens = attempt.get("generation_s"), attempt.get("completion_tokens")
    return round(tokens / seconds, 1) if seconds and tokens else None


def _task(task: StoredTask, live: Mapping[str, Any] | None) -> TaskProgress:
    """Count one task's samples.

    While a process is writing, its count is used, because completions may be large.
    """
    statuses = Counter[str]()
    seen: set[tuple[str, int]] = set()
    for item in task.verdicts():
        key = (item.sample.problem_id, item.sample.sample_index)
        if key not in seen:
            seen.add(key)
            statuses[item.status] += 1
    counted = live["tasks"].get(draw_of(task.name)) if live else None
    return TaskProgress(
        done=counted if counted is not None else task.drawn(),
        total=task.planned,
        verified=len(seen),
        status_counts=dict(statuses.most_common()),
    )
