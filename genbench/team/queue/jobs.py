"""The actions on jobs: submit, list, show, cancel and retry. Every change of a row writes an event."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Connection, func, insert, select, update

from genbench.errors import GenbenchError, InputError, nearest
from genbench.store.clock import wall_seconds
from genbench.store.continuation import now
from genbench.team.queue import tables
from genbench.team.queue.database import Queue
from genbench.team.queue.records import LIVE, Job, JobEvent, JobState, Worker
from genbench.team.queue.spec import PlacedSpec, spec_of, spec_text


def job_of(row: Any) -> Job:
    """Return the job of a row."""
    return Job.from_object(row, spec=spec_of(row.spec), wait=_wait(row, wall_seconds()))


def is_due(row: Any, clock: float) -> bool:
    """Return whether a queued job may start by now.

    A retry waits for `wait_s` seconds. If the clock was set back, the wait would be longer than that, so a
    retry further ahead counts as due.
    """
    if row.not_before is not None and clock < row.not_before:
        return False
    return row.retry_at is None or not row.retry_at - row.wait_s <= clock < row.retry_at


def _wait(row: Any, clock: float) -> str:
    """Return why a queued job does not start at once, as far as its own row tells."""
    if row.state != "queued":
        return ""
    if row.not_before is not None and clock < row.not_before:
        return f"not before {_local(row.not_before)}"
    if not is_due(row, clock):
        return f"tries again at {_local(row.retry_at)}"
    return f"waits for {row.slots} free device{'s' if row.slots > 1 else ''}"


def _local(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(moment))


def worker_of(row: Any) -> Worker:
    """Return the worker of a row."""
    return Worker.from_object(row, seen_s=round(wall_seconds() - row.seen, 1))


def require_job(connection: Connection, number: int) -> Any:
    """Return the row of a job.

    Raises:
        InputError: there is none.
    """
    row = connection.execute(select(tables.job).where(tables.job.c.id == number)).first()
    if row is None:
        raise InputError(f"the queue has no job {number}; see: genbench queue list")
    return row


def write_event(connection: Connection, number: int, who: str, what: str, detail: str = "") -> None:
    """Write down what happened to a job."""
    values = {"job_id": number, "at": now(), "who": who, "what": what, "detail": detail[:4000]}
    connection.execute(insert(tables.job_event).values(values))


MOST_WAITING = 1000
"""Jobs that may wait at the same time."""
_LOG_LINES = 50


class QueueFullError(GenbenchError):
    """Too many jobs wait. Submit again later."""

    exit_code = 2


def submit(
    queue: Queue,
    placed: PlacedSpec,
    runs: Path,
    *,
    by: str,
    priority: int = 5,
    not_before: float | None = None,
    most: int = MOST_WAITING,
) -> tuple[Job, bool]:
    """Put a job into the queue. Return it, and whether it is new: the same work is kept once.

    Args:
        runs: the folder below which run folders are made.
        by: who submits it.
        priority: 0 to 9. Higher ones start first.
        not_before: seconds of the epoch before which it does not start.
        most: how many jobs may wait.

    Raises:
        InputError: the priority is out of range, or the queue cannot be written.
        QueueFullError: too many jobs wait.
    """
    with queue.write() as connection:
        number, is_new = insert_job(
            connection, placed, runs, by=by, priority=priority, not_before=not_before, most=most
        )
        return job_of(require_job(connection, number)), is_new


def insert_job(
    connection: Connection,
    placed: PlacedSpec,
    runs: Path,
    *,
    by: str,
    priority: int = 5,
    not_before: float | None = None,
    most: int = MOST_WAITING,
) -> tuple[int, bool]:
    """Do the work of `submit` in an open transaction. Return the number of the job, and whether it is new.

    Raises:
        InputError: the priority is out of range.
        QueueFullError: too many jobs wait.
    """
    _check_priority(priority)
    job, key = tables.job, placed.spec.key
    known = connection.execute(select(job.c.id).where(job.c.key == key)).scalar()
    if known is not None:
        return known, False
    waiting = connection.execute(select(func.count()).where(job.c.state == "queued")).scalar_one()
    if waiting >= most:
        raise QueueFullError(f"{waiting} jobs wait, and {most} may; try again later, or cancel some")
    values: dict[str, Any] = {
        "key": key,
        "spec": spec_text(placed.spec),
        "track": placed.track,
        "label": placed.label,
        "slots": placed.slots,
        "run_dir": placed.run_dir(runs.resolve()),
        "priority": priority,
        "max_hours": placed.spec.options().max_hours,
        "not_before": not_before,
        "requested_by": by,
        "created": now(),
        "state": "queued",
        "cancel": False,
        **dict.fromkeys(("owner", "error"), ""),
        **dict.fromkeys(("fence", "beat", "turn", "starts", "attempts", "stored", "wait_s"), 0),
    }
    number = connection.execute(insert(job).values(values).returning(job.c.id)).scalar_one()
    write_event(connection, number, by, "submitted")
    return number, True


def list_jobs(
    queue: Queue,
    *,
    states: Sequence[JobState] = (),
    track: str | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Job]:
    """Return jobs, newest first.

    Args:
        states: only these. Empty means all.
        before: only jobs with a smaller number.
    """
    job = tables.job
    query = select(job).order_by(job.c.id.desc()).limit(limit)
    if states:
        query = query.where(job.c.state.in_(states))
    if track is not None:
        query = query.where(job.c.track == track)
    if before is not None:
        query = query.where(job.c.id < before)
    return [job_of(row) for row in queue.rows(query)]


def job_states(names: Sequence[str]) -> tuple[JobState, ...]:
    """Return the states of some names.

    Raises:
        InputError: there is no such state.
    """
    known = get_args(JobState)
    for name in names:
        if name not in known:
            raise InputError(f"--state {name}: unknown state{nearest(name, known)}")
    return tuple(state for state in known if state in names)


def count_jobs(queue: Queue) -> dict[str, int]:
    """Return the number of jobs by state."""
    job = tables.job
    counts = select(job.c.state, func.count()).group_by(job.c.state)
    return {state: int(count) for state, count in queue.rows(counts)}


def get_job(queue: Queue, number: int) -> Job:
    """Return one job.

    Raises:
        InputError: there is none.
    """
    with queue.read() as connection:
        return job_of(require_job(connection, number))


def job_events(queue: Queue, number: int, after: int = 0) -> list[JobEvent]:
    """Return what happened to a job, old to new, from the event after number `after` on."""
    event = tables.job_event
    query = select(event).where(event.c.job_id == number, event.c.id > after).order_by(event.c.id)
    return [JobEvent.from_object(row) for row in queue.rows(query)]


def list_workers(queue: Queue) -> list[Worker]:
    """Return the workers that have not stopped."""
    worker = tables.worker
    query = select(worker).where(worker.c.state != "stopped").order_by(worker.c.started)
    return [worker_of(row) for row in queue.rows(query)]


def cancel_job(queue: Queue, number: int, *, by: str) -> Job:
    """Stop a job. One that runs ends cleanly, and keeps what it has drawn.

    Raises:
        InputError: there is no such job, or it is over.
    """
    with queue.write() as connection:
        row = require_job(connection, number)
        if row.state not in LIVE:
            raise InputError(f"job {number} is {row.state}; only a job that waits or runs can be cancelled")
        over = {"state": "cancelled", "ended": now()} if row.state == "queued" else {}
        what = "cancelled" if over else "asked to stop"
        return _changed(connection, number, {"cancel": True, **over}, by, what=what)


def retry_job(queue: Queue, number: int, *, by: str) -> Job:
    """Put a job that failed or was cancelled into the queue again. Its run is continued.

    Raises:
        InputError: there is no such job, or it has not failed.
    """
    fresh = {"state": "queued", "cancel": False, "error": "", "attempts": 0, "wait_s": 0}
    fresh |= {"retry_at": None, "ended": None}
    with queue.write() as connection:
        row = require_job(connection, number)
        if row.state not in ("failed", "cancelled"):
            raise InputError(f"job {number} is {row.state}; only one that failed or was cancelled is retried")
        return _changed(connection, number, fresh, by, what="queued again")


def set_priority(queue: Queue, number: int, priority: int, *, by: str) -> Job:
    """Change the priority of a job.

    Raises:
        InputError: there is no such job, or the priority is out of range.
    """
    _check_priority(priority)
    with queue.write() as connection:
        require_job(connection, number)
        return _changed(connection, number, {"priority": priority}, by, what="priority", detail=str(priority))


def _check_priority(priority: int) -> None:
    if not 0 <= priority <= 9:
        raise InputError(f"priority {priority}: wanted 0 to 9")


def _changed(
    connection: Connection, number: int, values: Mapping[str, Any], by: str, *, what: str, detail: str = ""
) -> Job:
    """Change the row of a job, write down who did what, and return the job."""
    connection.execute(update(tables.job).where(tables.job.c.id == number).values(dict(values)))
    write_event(connection, number, by, what, detail)
    return job_of(require_job(connection, number))


def job_folder(job: Job) -> Path:
    """Return the folder with lock and log of a job."""
    return Path(job.run_dir).parent / ".jobs" / str(job.id)


def log_lines(job: Job, lines: int = _LOG_LINES) -> tuple[str, ...]:
    """Return the last lines of a job's log, at most 64 kB."""
    path = job_folder(job) / "log"
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 65_536))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ()
    return tuple(text.splitlines()[-lines:])
