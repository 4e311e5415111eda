"""Reading of a ledger: tracks with their nights, series, changes and annotations. Nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from genbench.errors import InputError, nearest
from genbench.ledger import tables
from genbench.ledger.apply import LOOSE
from genbench.ledger.connecting import driver_rows
from genbench.ledger.database import Ledger
from genbench.ledger.epochs import read_epochs
from genbench.ledger.nights import NIGHT_COLUMNS, change_of, night_of
from genbench.ledger.records import Annotation, Change, Night, TaskSeries, Track, TrackHistory
from genbench.ledger.series import read_series
from genbench.store.track_record import position_label

_DAYS_SHOWN = 400
"""Missing nights before that many days are not listed."""


def track_names(ledger: Ledger) -> list[str]:
    """Return the names of the tracks that have a run, in alphabetical order."""
    track, run = tables.track, tables.run
    query = select(track.c.name).join(run, run.c.track_id == track.c.id).distinct().order_by(track.c.name)
    with ledger.read() as connection:
        return [row.name for row in connection.execute(query) if row.name != LOOSE]


def track_history(
    ledger: Ledger,
    track: str,
    *,
    tasks: Collection[str] | None = None,
    last: int | None = None,
) -> TrackHistory:
    """Return a track with the sums and counts of every problem.

    Args:
        tasks: only these tasks. None means all.
        last: only the newest so many positions of points. None means all. The base is always read.

    Raises:
        InputError: there is no such track or task.
    """
    return _history(ledger, track, tasks=tasks, last=last, vectors=True)


def recent(ledger: Ledger, track: str, nights: int = 60) -> TrackHistory:
    """Return the newest positions of a track without vectors, so that the epochs of its series are empty.

    Raises:
        InputError: there is no such track.
    """
    return _history(ledger, track, tasks=None, last=nights, vectors=False)


def task_series(ledger: Ledger, track: str, task: str) -> TaskSeries:
    """Return one series of a track, over all its nights and without the sums of problems.

    Raises:
        InputError: there is no such track or task, or no point of it is finished.
    """
    with ledger.read() as connection:
        row = _track_row(connection, track)
        known = _known_tasks(connection, row.id, [task])
        found = read_series(connection, row.id, known, None)
    if task not in found:
        raise InputError(f"track {track}: no finished run has task '{task}' yet")
    return found[task]


def _history(
    ledger: Ledger, name: str, *, tasks: Collection[str] | None, last: int | None, vectors: bool
) -> TrackHistory:
    with ledger.read() as connection:
        row = _track_row(connection, name)
        known = _known_tasks(connection, row.id, tasks)
        since = _since(connection, row.id, last)
        nights = _nights(connection, row, since)
        base = _base(connection, row)
        series = read_series(connection, row.id, known, since)
        if vectors:
            series = read_epochs(connection, name, series, since)
        changes = _changes(connection, name)
        annotations = _annotations(connection, name)
    points = tuple(night for night in nights if night.role == "point" and night.state == "finished")
    return TrackHistory(
        track=_track(row),
        points=points,
        anchors=tuple(night for night in nights if night.role == "anchor" and night.state == "finished"),
        others=tuple(night for night in nights if night.state != "finished"),
        base=base,
        series=series,
        changes=changes,
        annotations=annotations,
        missing=_missing(row.kind, points),
    )


def _track_row(connection: Connection, name: str) -> Any:
    track, run = tables.track, tables.run
    row = connection.execute(select(track).where(track.c.name == name)).first()
    if row is None or name == LOOSE or not row.kind:
        query = select(track.c.name).join(run, run.c.track_id == track.c.id).distinct()
        names = [found.name for found in connection.execute(query) if found.name != LOOSE]
        hint = nearest(name, names) or "; it has none yet: genbench ledger add DIR"
        raise InputError(f"the ledger has no track '{name}'{hint}")
    return row


def _track(row: Any) -> Track:
    return Track(
        name=row.name,
        kind=row.kind,
        suite=row.suite,
        alarms_per_year=row.alarms_per_year,
        nights_per_year=row.nights_per_year,
        base_uid=row.base_uid,
        base_reason=row.base_reason,
    )


def _known_tasks(connection: Connection, track: int, tasks: Collection[str] | None) -> list[str] | None:
    if tasks is None:
        return None
    series = tables.series
    names = [row.task for row in connection.execute(select(series.c.task).where(series.c.track_id == track))]
    for task in tasks:
        if task not in names:
            raise InputError(f"the track has no task '{task}'{nearest(task, names)}")
    return list(tasks)


def _since(connection: Connection, track: int, last: int | None) -> int | None:
    """Return the position from which the newest `last` positions of points are, or None for all."""
    if last is None:
        return None
    run = tables.run
    query = (
        select(run.c.position)
        .where(run.c.track_id == track, run.c.role == "point", run.c.state == "finished")
        .distinct()
        .order_by(run.c.position.desc())
        .limit(max(1, last))
    )
    positions = [row.position for row in connection.execute(query)]
    return min(positions) if positions else None


def _nights(connection: Connection, row: Any, since: int | None) -> list[Night]:
    run = tables.run
    query = select(*NIGHT_COLUMNS).where(run.c.track_id == row.id)
    if since is not None:
        query = query.where(run.c.position >= since)
    found = driver_rows(connection, query.order_by(run.c.position, run.c.created, run.c.uid))
    paths = _paths(connection, [values[0] for values in found])
    known: dict[str, Mapping[str, str]] = {}
    return [night_of(values, row.kind, paths.get(values[0]), known) for values in found]


def _paths(connection: Connection, numbers: Sequence[int]) -> dict[int, str]:
    """Return a path of each run that is present."""
    location = tables.location
    query = select(location.c.run_id, func.min(location.c.path).label("path")).where(location.c.present)
    if len(numbers) < 500:
        query = query.where(location.c.run_id.in_(list(numbers)))
    return dict(driver_rows(connection, query.group_by(location.c.run_id)))


def _base(connection: Connection, row: Any) -> Night | None:
    run = tables.run
    if row.base_uid is None:
        return None
    found = connection.execute(select(*NIGHT_COLUMNS).where(run.c.uid == row.base_uid)).first()
    if found is None:
        return None
    return night_of(found, row.kind, _paths(connection, [found.id]).get(found.id))


def _changes(connection: Connection, name: str) -> tuple[Change, ...]:
    change = tables.change
    query = select(change).where(change.c.track == name).order_by(change.c.found_position, change.c.id)
    return tuple(change_of(row) for row in connection.execute(query))


def _annotations(connection: Connection, name: str) -> tuple[Annotation, ...]:
    annotation = tables.annotation
    query = (
        select(annotation)
        .where(annotation.c.track == name)
        .order_by(annotation.c.position, annotation.c.at, annotation.c.kind, annotation.c.id)
    )
    return tuple(Annotation(**row._mapping) for row in connection.execute(query))


def _missing(kind: str, points: Iterable[Night]) -> tuple[str, ...]:
    """Return the labels of nights between the first and the last point that have none."""
    if kind != "night":
        return ()
    known = {night.position for night in points}
    if not known:
        return ()
    first = max(min(known), max(known) - _DAYS_SHOWN)
    return tuple(
        position_label("night", position) for position in range(first, max(known)) if position not in known
    )
