"""Leases: a worker takes a job, renews it, and writes about it only as long as no other worker has it.

The job that starts next is chosen by priority, then round robin over tracks, then age.
"""

from __future__ import annotations

import math
import os
import socket
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from genbench.store.continuation import now
from genbench.team.queue import tables
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import is_due, job_of, require_job, write_event
from genbench.team.queue.records import Job

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class WaitingJob:
    """A job that may start, as far as its own time is concerned.

    It has only what the choice needs: a claim looks at up to 1000 rows, and reads no spec.
    """

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


def choose_job(
    waiting: Sequence[WaitingJob],
    *,
    free: int,
    total: int,
    busy: Sequence[Busy] = (),
    running: Mapping[str, int] | None = None,
    turns: Mapping[str, int] | None = None,
    taken: frozenset[str] = frozenset(),
) -> WaitingJob | None:
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


_LOOKED_AT = 1000
"""Waiting jobs that a claim looks at."""


@dataclass(frozen=True, slots=True)
class WorkerIdentity:
    """What identifies a worker, also after its process has ended."""

    id: str
    host: str
    pid: int
    start_ticks: int

    @classmethod
    def of_this_process(cls) -> WorkerIdentity:
        """Return a new identity of this process."""
        host, pid = socket.gethostname(), os.getpid()
        return cls(f"{host}:{pid}:{uuid.uuid4().hex[:6]}", host, pid, start_ticks(pid) or 0)


def start_ticks(pid: int) -> int | None:
    """Return the start of a process since boot, in clock ticks, or None if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The name of the program, in parentheses, may contain spaces and parentheses. Field 22 is `starttime`.
    return int(text.rpartition(")")[2].split()[19])


def enter_worker(
    queue: Queue, worker: WorkerIdentity, slots: int, devices: Sequence[str], clock: float
) -> None:
    """Store that a worker begins."""
    values = {
        **asdict(worker),
        "slots": slots,
        "devices": ",".join(devices),
        "beat": 0,
        "seen": clock,
        "state": "working",
        "started": now(),
    }
    queue.run(insert(tables.worker).values(values))


def leave_worker(queue: Queue, worker: WorkerIdentity, state: str) -> None:
    """Store that a worker drains or has stopped."""
    queue.run(update(tables.worker).where(tables.worker.c.id == worker.id).values(state=state))


def claim(
    queue: Queue,
    worker: WorkerIdentity,
    *,
    free: int,
    total: int,
    busy: Sequence[Busy],
    clock: Callable[[], float],
) -> Job | None:
    """Take the lease of the job that starts next on this worker, or return None.

    Args:
        free: devices of this worker that are free, of `total`.
        busy: the jobs that it runs.
        clock: the time of day, which only decides whether a retry is due.
    """
    job = tables.job
    if not queue.rows(select(job.c.id).where(job.c.state == "queued").limit(1)):
        return None
    with queue.write() as connection:
        chosen = _choose(connection, free=free, total=total, busy=busy, clock=clock())
        if chosen is None:
            return None
        turn = connection.execute(select(func.max(job.c.turn))).scalar() or 0
        values: dict[Any, Any] = {
            "state": "running",
            "owner": worker.id,
            "fence": job.c.fence + 1,
            "beat": 0,
            "turn": turn + 1,
            "started": now(),
        }
        connection.execute(update(job).where(job.c.id == chosen.id, job.c.state == "queued").values(values))
        write_event(connection, chosen.id, worker.id, "leased")
        return job_of(require_job(connection, chosen.id))


def _choose(
    connection: Connection, *, free: int, total: int, busy: Sequence[Busy], clock: float
) -> WaitingJob | None:
    job = tables.job
    query = select(job).where(job.c.state == "queued").order_by(job.c.priority.desc(), job.c.id)
    waiting = [
        WaitingJob(row.id, row.track, row.priority, row.slots, row.max_hours, row.run_dir)
        for row in connection.execute(query.limit(_LOOKED_AT))
        if is_due(row, clock)
    ]
    if not waiting:
        return None
    active = connection.execute(select(job.c.track, job.c.run_dir).where(job.c.state == "running")).all()
    turns = connection.execute(select(job.c.track, func.max(job.c.turn).label("turn")).group_by(job.c.track))
    return choose_job(
        waiting,
        free=free,
        total=total,
        busy=busy,
        running=Counter(row.track for row in active),
        turns={row.track: int(row.turn) for row in turns},
        taken=frozenset(row.run_dir for row in active),
    )


def renew(queue: Queue, worker: WorkerIdentity, leases: Iterable[tuple[int, int]], clock: float) -> set[int]:
    """Renew the leases (job, fence) of a worker, and its own entry. Return the jobs that it still has."""
    job, kept = tables.job, set()
    with queue.write() as connection:
        mine = tables.worker
        connection.execute(
            update(mine).where(mine.c.id == worker.id).values(beat=mine.c.beat + 1, seen=clock)
        )
        for number, fence in leases:
            changed = connection.execute(
                update(job).where(*_held(worker, number, fence)).values(beat=job.c.beat + 1)
            )
            if changed.rowcount:
                kept.add(number)
    return kept


def cancelled(queue: Queue, numbers: Iterable[int]) -> set[int]:
    """Return those of some jobs that somebody asked to stop."""
    job = tables.job
    wanted = list(numbers)
    if not wanted:
        return set()
    return {row.id for row in queue.rows(select(job.c.id).where(job.c.id.in_(wanted), job.c.cancel))}


def write_held(
    queue: Queue,
    worker: WorkerIdentity,
    job: Job,
    values: dict[str, Any],
    *,
    what: str,
    detail: str = "",
    also: Callable[[Connection], object] | None = None,
) -> bool:
    """Change a job if this worker still has it. Return whether it has.

    Args:
        what: the event that is written about it.
        also: called in the same transaction if it has.
    """
    with queue.write() as connection:
        changed = connection.execute(
            update(tables.job).where(*_held(worker, job.id, job.fence)).values(values)
        )
        if changed.rowcount:
            write_event(connection, job.id, worker.id, what, detail)
            if also is not None:
                also(connection)
        return bool(changed.rowcount)


def _held(worker: WorkerIdentity, number: int, fence: int) -> tuple[Any, ...]:
    job = tables.job
    return (job.c.id == number, job.c.fence == fence, job.c.owner == worker.id, job.c.state == "running")


class LeaseWatch:
    """An observer of all leases, which finds those whose worker is gone.

    Args:
        lease_s: seconds without a renewal after which a lease is lost.
    """

    def __init__(self, lease_s: float) -> None:
        self._lease_s = lease_s
        self._seen: dict[int, tuple[tuple[int, int], float]] = {}

    def requeue_lost(self, queue: Queue, worker: WorkerIdentity, monotonic: float) -> list[int]:
        """Put jobs whose worker is gone into the queue again. Return their numbers.

        A worker of this host whose process has ended is gone at once.
        """
        job = tables.job
        rows = queue.rows(
            select(job.c.id, job.c.fence, job.c.beat, job.c.owner, tables.worker)
            .join(tables.worker, tables.worker.c.id == job.c.owner)
            .where(job.c.state == "running", job.c.owner != worker.id)
        )
        self._seen = {row[0]: self._seen[row[0]] for row in rows if row[0] in self._seen}
        lost = [row for row in rows if self._is_lost(row, worker.host, monotonic)]
        return [row[0] for row in lost if _requeue(queue, worker, row)]

    def _is_lost(self, row: Any, host: str, monotonic: float) -> bool:
        if row.host == host and start_ticks(row.pid) != row.start_ticks:
            return True
        state = (row[1], row[2])
        before = self._seen.get(row[0])
        if before is None or before[0] != state:
            self._seen[row[0]] = (state, monotonic)
            return False
        return monotonic - before[1] > self._lease_s


def _requeue(queue: Queue, worker: WorkerIdentity, row: Any) -> bool:
    job = tables.job
    with queue.write() as connection:
        place = (job.c.id == row[0], job.c.fence == row[1], job.c.beat == row[2], job.c.state == "running")
        changed = connection.execute(update(job).where(*place).values(state="queued"))
        if changed.rowcount:
            write_event(connection, row[0], worker.id, "lost", f"{row.owner} renewed its lease no more")
        return bool(changed.rowcount)
