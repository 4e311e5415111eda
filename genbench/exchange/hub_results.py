"""The hub's `.eval_results`: one YAML file for each task whose rows are of a dataset of the hub."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from genbench.analysis.results.record import Results, TaskResults
from genbench.errors import InputError
from genbench.store.json_files import replace
from genbench.store.manifest import TaskRecord
from genbench.store.stored_run import StoredRun

Written = list[Path]


def hub_results(run: StoredRun, results: Results, output: Path) -> Written:
    """Write `.eval_results/<task>.yaml` below `output`, to be put into the model's repository.

    Raises:
        InputError: no task has a value and rows of a dataset of the hub.
    """
    written = []
    for name, task in results.tasks.items():
        described = run.manifest.tasks[name]
        repo = _repo(described)
        if repo is None or task.value is None:
            continue
        path = output / ".eval_results" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        entry = _entry(repo, name, task, described, str(run.manifest.created))
        # JSON is valid YAML, and its quoting is safe for every name.
        replace(path, (json.dumps([entry], indent=2) + "\n").encode())
        written.append(path)
    if not written:
        raise InputError(
            f"{run.folder.path}: no task has a value and rows of a dataset of the hub; both are needed"
        )
    return written


def _repo(described: TaskRecord) -> str | None:
    """Return the dataset of a task's rows. That of an imported task is in its list of datasets."""
    repo = described.data.get("repo")
    listed = described.data.get("datasets") or [{}]
    found = repo or listed[0].get("repo")
    return str(found) if found else None


def _entry(repo: str, name: str, task: TaskResults, described: TaskRecord, created: str) -> dict[str, Any]:
    assert task.value is not None
    bounds = "" if task.ci is None else f", 95% interval {100 * task.ci[0]:.2f} to {100 * task.ci[1]:.2f}"
    dataset: dict[str, Any] = {"id": repo, "task_id": name}
    revision = described.data.get("revision") or (described.data.get("datasets") or [{}])[0].get("revision")
    if revision:
        dataset["revision"] = revision
    decoding = described.decoding
    return {
        "dataset": dataset,
        "value": round(100 * task.value, 4),
        "date": created[:10],
        "notes": f"genbench, {task.metric} in points of 100, n={task.n}, k={task.k}{bounds}, temperature "
        f"{decoding.get('temperature')}, max_tokens {decoding.get('max_tokens')}",
    }
