"""What the manifest records about an attempt: its circumstances when it begins, its work when it ends."""

from __future__ import annotations

import os
from typing import Any

from genbench.draw.lengths import BY_TASK
from genbench.draw.progress import ProgressLine
from genbench.errors import DegenerateOutputError, InterruptedRunError
from genbench.runs.job import Job
from genbench.store import manifest as manifests
from genbench.store.folder import RunFolder
from genbench.store.manifest_record import AttemptRecord


def attempt_record(job: Job, number: int, folder: RunFolder, reused: int) -> AttemptRecord:
    """Return the record of an attempt that begins with `reused` samples on disk."""
    settings = job.model.settings
    return AttemptRecord(
        attempt=number,
        started=manifests.now(),
        pid=os.getpid(),
        circumstances={
            "engine": settings.circumstances,
            "queue_order": _queue_order(job) if settings.generates else None,
            "packages": manifests.package_versions(),
            "machine": dict(job.machine),
            "locks_are_advisory": folder.locks_are_advisory,
        },
        reused=reused,
    )


def _queue_order(job: Job) -> dict[str, Any]:
    return dict(BY_TASK) if job.lengths is None else job.lengths.record


def ended_attempt(
    folder: RunFolder, progress: ProgressLine, stopped_by: str | None, generation_s: float, seconds: float
) -> dict[str, Any]:
    """Return the keys that are added to an attempt's record when it ends, with or without an error."""
    return {
        "ended": manifests.now(),
        "interrupted": stopped_by,
        "drawn": progress.drawn,
        "verdicts": sum(progress.statuses.values()),
        "completion_tokens": progress.tokens,
        "generation_s": round(generation_s, 3),
        "seconds": round(seconds, 3),
        "healed_bytes": folder.healed_bytes,
    }


def check_end(job: Job, folder: RunFolder, alarm: str | None, stopped_by: str | None) -> None:
    """Raise the error that ends the command, if the attempt did not come to its end.

    Args:
        alarm: what is said of degenerate completions; None if there are few.
        stopped_by: the signal or limit that stopped the run.

    Raises:
        DegenerateOutputError: the first completions are degenerate, and the command asks to stop then.
        InterruptedRunError: the run was stopped.
    """
    if alarm is not None and job.stop_on_degenerate:
        raise DegenerateOutputError(
            f"{alarm}; stopped as --stop-on-degenerate asks (samples so far: {folder.path})"
        )
    if stopped_by is not None:
        raise InterruptedRunError(stopped_by)
