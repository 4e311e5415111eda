"""The choice of the job that starts next: priority, then round robin over tracks, then age."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """A job that may start, as far as its own time is concerned."""

    id: int
    track: str
    priority: int
    slots: int
    max_hours: float | None
    run_dir: str


@dataclass(frozen=True, slots=True)
class Busy:
    """A job that this worker runs: its devices, and the seconds after which it ends at the latest."""

    slots: int
    left_s: float | None


def choose(
    waiting: Sequence[Waiting],
    *,
    free: int,
    total: int,
    busy: Sequence[Busy] = (),
    running: Mapping[str, int] | None = None,
    turns: Mapping[str, int] | None = None,
    taken: frozenset[str] = frozenset(),
) -> Waiting | None:
    """Return the job that starts now, or None.

    The first job in order that needs more devices than are free reserves them. Jobs behind it may start only
    if they end before its devices are free, by their own limit of hours.

    Args:
        free: devices of this worker that are free, of `total`.
        busy: the jobs that this worker runs.
        running: number of running jobs of each track, on all workers.
        turns: when each track last had a job started. Larger is later.
        taken: run folders that running jobs write.
    """
    running, turns = running or {}, turns or {}
    in_order = sorted(
        (job for job in waiting if job.slots <= total and job.run_dir not in taken),
        key=lambda job: (-job.priority, running.get(job.track, 0), turns.get(job.track, 0), job.id),
    )
    until: float | None = None
    for job in in_order:
        fits = job.slots <= free
        if until is None:
            if fits:
                return job
            until = _free_in(job.slots - free, busy)
        elif fits and job.max_hours is not None and job.max_hours * _HOUR_S <= until:
            return job
    return None


def _free_in(lacking: int, busy: Sequence[Busy]) -> float:
    """Return the seconds after which `lacking` more devices are free at the latest.

    A running job without a limit of hours has no known end. Nothing can be promised then, so the wait is 0
    and nothing starts in between.
    """
    for job in sorted(busy, key=lambda job: math.inf if job.left_s is None else job.left_s):
        if job.left_s is None:
            return 0.0
        lacking -= job.slots
        if lacking <= 0:
            return job.left_s
    return 0.0
