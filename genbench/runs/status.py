"""The status of run folders, read from outside without writing or locking anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from genbench.analysis.storedrun import ids_in_force
from genbench.runs.merge import run_folders
from genbench.runs.status_record import RunProgress, RunsStatus, RunState, TaskProgress, WriterRecord
from genbench.store.folder import RunFolder
from genbench.store.lock import Writer, writer_of


def status(path: Path) -> RunsStatus:
    """Return the status of a run folder, or of every run in a folder of models or shards.

    Raises:
        RunFolderError: there is no run folder, or a line is damaged.
    """
    return RunsStatus(format=1, runs=tuple(_run(run) for run in run_folders(path)))


def _run(path: Path) -> RunProgress:
    """Return the status of one run folder."""
    folder = RunFolder(path)
    manifest = folder.require_manifest()
    writer = writer_of(path)
    is_live = writer is not None and writer.alive is not False
    live = folder.live() if is_live else None
    attempt = manifest["attempts"][-1] if manifest["attempts"] else {}
    tasks = {name: _task(folder, name, manifest, live) for name in manifest["tasks"]}
    done, total = sum(task.done for task in tasks.values()), sum(task.total for task in tasks.values())
    verified = sum(task.verified for task in tasks.values())
    return RunProgress(
        path=str(path),
        model=manifest["model"]["name"],
        suite=manifest["suite"]["name"],
        shard=manifest["origin"].get("shard"),
        state=_state(live, is_live, attempt, done == verified == total, folder),
        writer=None if writer is None else _writer(writer),
        attempt=len(manifest["attempts"]),
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
        is_live: whether a writer is at work.
        attempt: the manifest's entry of the last attempt, empty if there is none.
        complete: whether every sample is drawn and verified.
    """
    if is_live:
        return cast(RunState, live["state"]) if live else "starting"
    if complete and folder.results_path.is_file():
        return "finished"
    if "ended" not in attempt:
        return "killed" if attempt else "failed"
    return "stopped" if attempt.get("interrupted") else "failed"


def _writer(writer: Writer) -> WriterRecord:
    """Return the record of the process that writes the folder."""
    return WriterRecord(host=writer.host, pid=writer.pid, started=writer.started, alive=writer.alive)


def _rate(attempt: Mapping[str, Any]) -> float | None:
    """Return the completion tokens per second of an attempt, or None if it drew nothing."""
    seconds, tokens = attempt.get("generation_s"), attempt.get("completion_tokens")
    return round(tokens / seconds, 1) if seconds and tokens else None


def _task(
    folder: RunFolder, name: str, manifest: Mapping[str, Any], live: Mapping[str, Any] | None
) -> TaskProgress:
    """Count one task's samples. While a writer is at work its own count is used: completions may be large."""
    described = manifest["tasks"][name]
    stored, k = folder.problems(name), int(described["k"])
    ids = set(ids_in_force(name, list(stored), described["n"], manifest))
    statuses = Counter[str]()
    seen: set[tuple[str, int]] = set()
    for item in folder.verdicts(name):
        key = (item.sample.problem_id, item.sample.sample_index)
        if key[0] in ids and key[1] < k and key not in seen:
            seen.add(key)
            statuses[item.status] += 1
    counted = live["tasks"].get(name) if live else None
    return TaskProgress(
        done=counted if counted is not None else _drawn(folder, name, {i: stored[i] for i in ids}, k),
        total=len(ids) * k,
        verified=len(seen),
        status_counts=dict(statuses.most_common()),
    )


def _drawn(folder: RunFolder, name: str, problems: Mapping[str, Mapping[str, Any]], k: int) -> int:
    """Count the samples whose last turn is drawn."""
    drawn = folder.drawn(name)
    return sum(
        drawn.has(problem_id, index, record["turns"] - 1)
        for problem_id, record in problems.items()
        for index in range(k)
    )
