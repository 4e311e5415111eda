"""A stored run that a command names: taken as it is where it is the run asked for, and never drawn again."""

from __future__ import annotations

from typing import Any

from genbench.errors import RunFolderError
from genbench.runs.job import Job
from genbench.runs.record import asked_records, binding_record
from genbench.store import manifest as manifests
from genbench.store.folder import RunFolder
from genbench.tasks.loaded import LoadedTask


def stored_results(job: Job) -> dict[str, Any] | None:
    """The results of a reused job's folder, which is only read; None: it lacks something, run the job on it.

    Raises:
        RunFolderError: the folder holds another run, or more than this command asks for.
    """
    if not job.reused:
        return None
    folder = RunFolder(job.path)
    manifests.check_same_run(folder, folder.require_manifest(), binding_record(job))
    results = folder.results()
    for task in job.tasks:
        records, _ = asked_records(job, task)
        lacking = {record["problem_id"] for record in records} - folder.problems(task.name).keys()
        manifests.check_problems(folder, task.name, records)
        found = results["tasks"].get(task.name) if results else None
        if lacking or found is None or not _as_asked(job, task, found):
            return None
    if results is None:
        return None
    kept = {task.name: results["tasks"][task.name] for task in job.tasks}
    return {**results, "tasks": kept}


def _as_asked(job: Job, task: LoadedTask, found: dict[str, Any]) -> bool:
    """Whether the stored task is finished at this size; False where this command makes it larger."""
    if found["n"] > len(task.problems) or found["k"] > task.k:
        raise RunFolderError(
            f"{job.path}: task {task.name} holds {found['n']} problems x {found['k']} samples, this command "
            f"asks for {len(task.problems)} x {task.k}: ask for the same, or leave --reuse out"
        )
    return bool(found["n"] == len(task.problems) and found["k"] == task.k and not found["lacking"])
