"""Jobs that are submitted by the clock, and nights that are missing."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from cronsim import CronSim, CronSimError
from sqlalchemy import Connection, delete, insert, select, update

from genbench.errors import GenbenchError, InputError, nearest
from genbench.runs.track_position import tonight
from genbench.store.clock import wall_utc
from genbench.store.continuation import now
from genbench.suite.block import NAME_PATTERN
from genbench.team.queue import tables
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import insert_job
from genbench.team.queue.messages import put_message
from genbench.team.queue.records import Schedule
from genbench.team.queue.spec import JobSpec, PlacedSpec, checked_spec, spec_of, spec_text

_BY = "schedule"
_MOST_FIRINGS = 400
"""Missed firings that are looked at. Older ones are forgotten."""
_LOOKED_BACK = timedelta(days=2)
"""How long a deadline may have passed for a message about it."""


def add_schedule(
    queue: Queue,
    name: str,
    cron: str,
    zone: str,
    spec: JobSpec,
    *,
    runs: Path,
    by: str,
    priority: int = 5,
    deadline_hours: float = 24.0,
    clock: datetime | None = None,
) -> Schedule:
    """Add a schedule, or replace the one of that name.

    Args:
        cron: minute, hour, day, month, weekday.
        zone: a time zone such as Europe/Berlin.
        spec: what is submitted. Its night is that of each firing.
        runs: the folder below which run folders are made.
        deadline_hours: hours after a firing by which its run must be finished.
        clock: the present time. None reads it.

    Raises:
        InputError: the name, the cron text, the zone, the deadline or the suite is wrong.
    """
    if not re.fullmatch(NAME_PATTERN, name):
        raise InputError(f"schedule '{name}': use letters, digits, '.', '_' and '-'")
    if not 0 < deadline_hours <= 24 * 31:
        raise InputError(f"--deadline-hours {deadline_hours:g}: wanted more than 0 and at most 744")
    start = (clock or wall_utc()).astimezone(UTC)
    next(firings(cron, zone, start))
    placed = checked_spec(spec.model_copy(update={"night": "2000-01-01"}))
    schedule = Schedule(
        name=name,
        cron=cron,
        zone=zone,
        spec=spec,
        runs=str(runs.resolve()),
        priority=priority,
        slots=placed.slots,
        deadline_hours=deadline_hours,
        last=start.isoformat(),
        created_by=by,
        created=now(),
    )
    with queue.write() as connection:
        connection.execute(delete(tables.schedule).where(tables.schedule.c.name == name))
        values = schedule.to_json() | {"spec": spec_text(spec)}
        connection.execute(insert(tables.schedule).values(values))
    return schedule


def remove_schedule(queue: Queue, name: str) -> None:
    """Remove a schedule. Its jobs stay.

    Raises:
        InputError: there is none of that name.
    """
    _require(queue, name)
    queue.run(delete(tables.schedule).where(tables.schedule.c.name == name))


def list_schedules(queue: Queue) -> list[Schedule]:
    """Return all schedules by name."""
    return [_schedule_of(row) for row in queue.rows(select(tables.schedule).order_by(tables.schedule.c.name))]


def firings(cron: str, zone: str, after: datetime) -> Iterator[datetime]:
    """Yield the times at which a schedule fires after a time, in its zone.

    Raises:
        InputError: the cron text or the zone is wrong.
    """
    try:
        place = zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        known = zoneinfo.available_timezones() if len(zone) < 40 else ()
        raise InputError(f"time zone '{zone[:40]}' is not known{nearest(zone, known)[:200]}") from None
    try:
        return CronSim(cron, after.astimezone(place))
    except CronSimError as error:
        raise InputError(f"cron '{cron}': {error}; wanted minute, hour, day, month, weekday") from error


def run_schedules(queue: Queue, clock: datetime | None = None) -> list[str]:
    """Submit the jobs that are due, and write a message for each night that is missing.

    A firing that was missed because no worker ran is caught up once: the newest one is submitted, and each
    earlier one is a missing night. If the clock is set back, nothing fires twice.

    Returns:
        One line for each thing that was done.
    """
    present = (clock or wall_utc()).astimezone(UTC)
    done: list[str] = []
    for schedule in list_schedules(queue):
        try:
            done += _run_one(queue, schedule, present)
        except GenbenchError as error:
            done.append(f"schedule {schedule.name}: {error}")
    return done


def _run_one(queue: Queue, schedule: Schedule, present: datetime) -> list[str]:
    last = datetime.fromisoformat(schedule.last)
    due: list[datetime] = []
    for firing in firings(schedule.cron, schedule.zone, last):
        if firing > present or len(due) >= _MOST_FIRINGS:
            break
        due.append(firing)
    placed = None if not due else checked_spec(_spec_at(schedule, due[-1]))
    lines: list[str] = []
    with queue.write() as connection:
        for firing in due[:-1]:
            lines += _miss(connection, schedule, firing, "no worker ran when it was due")
        if placed is not None:
            lines += _submit(connection, schedule, placed, due[-1])
        lines += _overdue(connection, schedule, present)
    return lines


def _spec_at(schedule: Schedule, firing: datetime) -> JobSpec:
    return schedule.spec.model_copy(update={"night": tonight(firing).isoformat()})


def _submit(connection: Connection, schedule: Schedule, placed: PlacedSpec, firing: datetime) -> list[str]:
    own = tables.schedule
    number, is_new = insert_job(
        connection, placed, Path(schedule.runs), by=f"{_BY} {schedule.name}", priority=schedule.priority
    )
    connection.execute(
        update(own).where(own.c.name == schedule.name).values(last=firing.astimezone(UTC).isoformat())
    )
    return [f"schedule {schedule.name}: job {number} for {placed.label}"] if is_new else []


def _overdue(connection: Connection, schedule: Schedule, present: datetime) -> list[str]:
    """Write a message for each run that is not finished by its deadline."""
    job, lines = tables.job, []
    latest = present - timedelta(hours=schedule.deadline_hours)
    recent = firings(schedule.cron, schedule.zone, latest - _LOOKED_BACK)
    for firing in islice(recent, _MOST_FIRINGS):
        if firing > latest:
            break
        key = _spec_at(schedule, firing).key
        row = connection.execute(select(job.c.id, job.c.state).where(job.c.key == key)).first()
        if row is not None and row.state != "finished":
            why = f"job {row.id} is {row.state} {schedule.deadline_hours:g} hours after it was due"
            lines += _miss(connection, schedule, firing, why)
    return lines


def _miss(connection: Connection, schedule: Schedule, firing: datetime, why: str) -> list[str]:
    night = tonight(firing).isoformat()
    track = schedule.spec.options().track or schedule.name
    text = f"{track}: the night {night} is missing: {why}"
    is_new = put_message(connection, f"missing:{schedule.name}:{night}", "missing", track, text)
    return [text] if is_new else []


def _require(queue: Queue, name: str) -> Any:
    with queue.read() as connection:
        row = connection.execute(select(tables.schedule).where(tables.schedule.c.name == name)).first()
        names = connection.scalars(select(tables.schedule.c.name)).all()
    if row is None:
        raise InputError(f"there is no schedule '{name}'{nearest(name, names)}")
    return row


def _schedule_of(row: Any) -> Schedule:
    return Schedule.from_object(row, spec=spec_of(row.spec))
