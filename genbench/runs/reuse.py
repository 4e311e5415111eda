"""Reuse of a stored run that a command names, if it is the run that the command asks for."""

from __future__ import annotations

from genbench.analysis.results_record import Results, TaskResults, read_results
from genbench.errors import RunFolderError
from genbench.runs.asked import asked_records
from genbench.runs.job import Job
from genbench.runs.record import binding_record
from genbench.store import manifest as manifests
from genbench.store.folder import RunFolder
from genbench.tasks.loaded import LoadedTask


def stored_results(job: Job) -> Results | None:
    """Return the results of a reused job's folder, which is only read. None means that the job must run.

    Raises:
        RunFolderError: the folder contains another run, or more than this command asks for.
    """
    if not job.reused:
        return None
    folder = RunFolder(job.path)
    manifests.check_same_run(folder, folder.require_manifest().binding, binding_record(job))
    results = read_results(folder)
    for task in job.tasks:
        records, _ = asked_records(job, task)
        lacking = {record["problem_id"] for record in records} - folder.problems(task.name).keys()
        manifests.check_problems(folder, task.name, records)
        found = results.tasks.get(task.name) if results else None
        if lacking or found is None or not _is_as_asked(job, task, found):
            return None
    if results is None:
        return None
    return results.model_copy(update={"tasks": {task.name: results.tasks[task.name] for task in job.tasks}})


def _is_as_asked(job: Job, task: LoadedTask, found: TaskResults) -> bool:
    """Return whether the stored task is finished at this size. It is not if this command makes it larger."""
    if found.n > len(task.problems) or found.k > task.k:
        raise RunFolderError(
            f"{job.path}: task {task.name} has {found.n} problems x {found.k} samples, this command "
            f"asks for {len(task.problems)} x {task.k}: ask for the same, or leave --reuse out"
        )
    return found.n == len(task.problems) and found.k == task.k and not found.lacking
