"""What a run folder is doing, seen from outside: nothing is written, nothing is locked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from genbench.analysis.storedrun import ids_in_force
from genbench.runs.merge import run_folders
from genbench.store.folder import RunFolder
from genbench.store.lock import Writer, writer_of

FORMAT = 1


def status(path: Path) -> dict[str, Any]:
    """The record of docs/json.md of one run folder, or of all runs of a folder (models, shards).

    Raises:
        RunFolderError: no run folder, or a damaged line.
    """
    return {"format": FORMAT, "runs": [_run_record(run) for run in run_folders(path)]}


def _run_record(path: Path) -> dict[str, Any]:
    folder = RunFolder(path)
    manifest = folder.require_manifest()
    writer = writer_of(path)
    is_live = writer is not None and writer.alive is not False
    live = folder.live() if is_live else None
    attempt = manifest["attempts"][-1] if manifest["attempts"] else {}
    tasks = {name: _task_record(folder, name, manifest, live) for name in manifest["tasks"]}
    done, total = (sum(task[key] for task in tasks.values()) for key in ("done", "total"))
    verified = sum(task["verified"] for task in tasks.values())
    return {
        "path": str(path),
        "model": manifest["model"]["name"],
        "suite": manifest["suite"]["name"],
        "shard": manifest["origin"].get("shard"),
        "state": _state(live, is_live, attempt, done == verified == total, folder),
        "writer": None if writer is None else _writer_record(writer),
        "attempt": len(manifest["attempts"]),
        "stopped_by": attempt.get("interrupted"),
        "done": done,
        "total": total,
        "verified": verified,
        "tasks": tasks,
        "drawn_now": live["drawn"] if live else attempt.get("drawn"),
        "completion_tokens": live["tokens"] if live else attempt.get("completion_tokens"),
        "tokens_per_s": live["tokens_per_s"] if live else _rate(attempt),
        "left_s": live["left_s"] if live else None,
        "elapsed_s": live["elapsed_s"] if live else attempt.get("seconds"),
        "updated": live["at"] if live else attempt.get("ended"),
    }


def _state(
    live: Mapping[str, Any] | None,
    is_live: bool,
    attempt: Mapping[str, Any],
    complete: bool,
    folder: RunFolder,
) -> str:
    """`starting`, `loading the engine`, `drawing` or `verifying` while a writer is at work; then `finished`,
    `stopped` (cleanly, by a signal or a limit), `failed` (an error), or `killed` in the middle.
    """
    if is_live:
        return str(live["state"]) if live else "starting"
    if complete and folder.results_path.is_file():
        return "finished"
    if "ended" not in attempt:
        return "killed" if attempt else "failed"
    return "stopped" if attempt.get("interrupted") else "failed"


def _writer_record(writer: Writer) -> dict[str, Any]:
    return {"host": writer.host, "pid": writer.pid, "started": writer.started, "alive": writer.alive}


def _rate(attempt: Mapping[str, Any]) -> float | None:
    seconds, tokens = attempt.get("generation_s"), attempt.get("completion_tokens")
    return round(tokens / seconds, 1) if seconds and tokens else None


def _task_record(
    folder: RunFolder, name: str, manifest: Mapping[str, Any], live: Mapping[str, Any] | None
) -> dict[str, Any]:
    """While a writer is at work its own count is taken: completions may have gigabytes."""
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
    return {
        "done": counted if counted is not None else _drawn(folder, name, {i: stored[i] for i in ids}, k),
        "total": len(ids) * k,
        "verified": len(seen),
        "status_counts": dict(statuses.most_common()),
    }


def _drawn(folder: RunFolder, name: str, problems: Mapping[str, Mapping[str, Any]], k: int) -> int:
    drawn = folder.drawn(name)
    return sum(
        drawn.has(problem_id, index, record["turns"] - 1)
        for problem_id, record in problems.items()
        for index in range(k)
    )
