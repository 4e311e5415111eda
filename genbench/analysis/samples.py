"""Stored samples with their reasoning traces split off."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.models.traces import Reasoning
from genbench.store.stored_run import Sample, StoredRun


def task_samples(run: StoredRun, task: str, problem_id: str | None = None) -> Iterator[Sample]:
    """Yield the samples in force of a task, or of one of its problems, one at a time.

    Raises:
        RunFolderError: a damaged line, or no such task.
    """
    reasoning = Reasoning.from_record(run.manifest.reasoning)
    return run.task(task).samples(reasoning.split, problem_id)
