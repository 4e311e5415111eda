"""Rows of the queue as records, and the events that every change writes."""

from __future__ import annotations

import time
from typing import Any

from sqlalchemy import Connection, insert, select

from genbench.errors import InputError
from genbench.queue import tables
from genbench.queue.records import Job, JobEvent, Worker
from genbench.queue.spec import spec_of
from genbench.store.manifest import now
from genbench.store.walltime import wall_seconds

_PLAIN = (
    *("id", "state", "track", "label", "run_dir", "priority", "slots", "max_hours", "owner", "fence"),
    *("starts", "attempts", "cancel", "exit_code", "error", "requested_by", "created", "started", "ended"),
)


def job_of(row: Any) -> Job:
    """Return the job of a row."""
    plain = {name: getattr(row, name) for name in _PLAIN}
    return Job(**plain, spec=spec_of(row.spec), wait=_wait(row, wall_seconds()))


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
    names = ("id", "host", "pid", "slots", "devices", "state", "beat", "started")
    return Worker(**{name: getattr(row, name) for name in names}, seen_s=round(wall_seconds() - row.seen, 1))


def require_job(connection: Connection, number: int) -> Any:
    """Return the row of a job.

    Raises:
        InputError: there is none.
    """
    row = connection.execute(select(tables.job).where(tables.job.c.id == number)).first()
    if row is None:
        raise InputError(f"the queue has no job {number}; see: genbench jobs")
    return row


def write_event(connection: Connection, number: int, who: str, what: str, detail: str = "") -> None:
    """Write down what happened to a job."""
    values = {"job_id": number, "at": now(), "who": who, "what": what, "detail": detail[:4000]}
    connection.execute(insert(tables.job_event).values(values))


def event_of(row: Any) -> JobEvent:
    """Return the event of a row."""
    return JobEvent(id=row.id, at=row.at, who=row.who, what=row.what, detail=row.detail)
