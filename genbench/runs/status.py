"""The status of run folders, read from outside without writing or locking anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from genbench.runs.merge import run_folders
from genbench.runs.status_record import RunProgress, RunsStatus, RunState, TaskProgress, WriterRecord
from genbench.store.folder import RunFolder
from genbench.store.lock import Writer, writer_of
from genbench.store.storedrun import StoredRun, StoredTask


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
    done, total = sum(task.done for task in tasks.values()), sum(task.total for task in tasks.values())
    verified = sum(task.verified for task in tasks.values())
    return RunProgress(
        path=str(path),
        model=manifest.model.name,
        suite=manifest.suite.name,
        shard=manifest.origin.shard,
        state=_state(live, is_live, attempt, done == verified == total, folder),
        writer=None if writer is None else _writer(writer),
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


def _writer(writer: Writer) -> WriterRecord:
    """Return the record of the process that writes the folder."""
    return WriterRecord(host=writer.host, pid=writer.pid, started=writer.started, alive=writer.alive)


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
    counted = live["tasks"].get(task.name) if live else None
    return TaskProgress(
        done=counted if counted is not None else task.drawn(),
        total=task.planned,
        verified=len(seen),
        status_counts=dict(statuses.most_common()),
    )
