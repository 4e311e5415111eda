"""For the Hugging Face hub: a run as a dataset repository, and its results as `.eval_results` files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from genbench.analysis.results.record import TaskResults
from genbench.errors import InputError
from genbench.interop.logs.export import ExportedRun
from genbench.reports.parquet import write_table
from genbench.store.json_files import replace
from genbench.store.manifest import TaskRecord

CARD = "README.md"
_CARD_HEAD = b"---\nconfigs: "


def hub_dataset(run: ExportedRun, output: Path) -> list[Path]:
    """Write a dataset repository: one Parquet file for each task, and a card that lists them as configs."""
    _require_own_card(output / CARD)
    results = run.results
    written = []
    for name in run.tasks:
        path = output / f"{name}.parquet"
        write_table(path, run.stored, [name], with_sensitive=run.with_sensitive)
        written.append(path)
    configs = [{"config_name": name, "data_files": f"{name}.parquet"} for name in run.tasks]
    rows = "".join(
        f"| {name} | {task.metric} | {task.value} | {task.n} x {task.k} |\n"
        for name, task in results.tasks.items()
    )
    # JSON is valid YAML, and its quoting is safe for every name.
    card = (
        f"---\nconfigs: {json.dumps(configs)}\n---\n# Samples of one run\n\n"
        f"Run {results.run_id}, suite {results.suite}, model {results.model}.\n\n"
        f"| config | metric | value | n x k |\n|---|---|---|---|\n{rows}"
    )
    replace(output / CARD, card.encode())
    return [*written, output / CARD]


def _require_own_card(path: Path) -> None:
    """Refuse to replace a README that no export wrote. The user has named its folder, not the file.

    Raises:
        InputError: there is such a file.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        if file.read(len(_CARD_HEAD)) != _CARD_HEAD:
            raise InputError(
                f"{path}: is there, and no export wrote it; move it away, or give another --output"
            )


def hub_results(run: ExportedRun, output: Path) -> list[Path]:
    """Write `.eval_results/<task>.yaml` below `output`, to be put into the model's repository.

    Raises:
        InputError: no task has a value and rows of a dataset of the hub.
    """
    written = []
    for name, task in run.results.tasks.items():
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
        raise InputError(f"{run.path}: no task has a value and rows of a dataset of the hub; both are needed")
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
