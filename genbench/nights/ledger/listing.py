"""The list of the tracks and runs of a ledger."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Select, func, select

from genbench.errors import InputError, nearest
from genbench.json_record import JsonRecord
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.note_application import LOOSE
from genbench.store.manifest import MetaValue, position_label


class ListedTrack(JsonRecord):
    """One track of a ledger."""

    # It also counts what is in the track. `Track` has only the settings.

    name: str = Field(description="its name")
    kind: str = Field(description="night or step")
    suite: str = Field(description="name of the suite of its first run")
    points: int = Field(description="finished runs that are watched")
    first: str | None = Field(description="first night or step with a finished run")
    last: str | None = Field(description="last one")
    tasks: int = Field(description="tasks")
    base: str | None = Field(description="uid of the base")
    base_reason: str = Field(description="why it is the base")
    alarms_per_year: float = Field(description="budget of false alarms")
    nights_per_year: float = Field(description="runs in a year")
    open_changes: int = Field(description="changes that nobody has explained and that have not recovered")


class ListedRun(JsonRecord):
    """One run of a ledger."""

    uid: str = Field(description="UUID of the run")
    track: str | None = Field(description="its track; null if it belongs to none")
    label: str | None = Field(description="its night or step")
    role: str = Field(description="point, or anchor: the base's model drawn again")
    model: str = Field(description="name of the model")
    suite: str = Field(description="name of its suite")
    state: str = Field(description="finished, failed, unfinished, being written or shard")
    created: str = Field(description="local time with offset")
    kept: str = Field(description="files that are still there: all, verdicts or none")
    tags: tuple[str, ...] = Field(default=(), description="words that the user gave it")
    note: str = Field(default="", description="what the user says of it")
    meta: dict[str, MetaValue] = Field(default_factory=dict, description="values of the user's own")
    paths: tuple[str, ...] = Field(description="folders where it is")


class PushedRun(JsonRecord):
    """What became of a run that was pushed to a service."""

    format: Literal[1] = Field(default=1, description="version of this record")
    outcome: Literal["added", "unchanged", "replaced"] = Field(
        description="added: new; unchanged: it was there already; replaced: its results were scored again"
    )
    run: ListedRun = Field(description="the run as the ledger has it")


class LedgerList(JsonRecord):
    """The tracks of a ledger, and its runs if they were asked for."""

    format: Literal[1] = Field(description="version of this record")
    ledger: str = Field(description="path or URL of the ledger")
    tracks: tuple[ListedTrack, ...] = Field(description="in alphabetical order")
    runs: tuple[ListedRun, ...] | None = Field(description="newest first; null if they were not asked for")


def list_ledger(ledger: Ledger, track: str | None = None, *, runs: bool = False) -> LedgerList:
    """Return the tracks of a ledger.

    Args:
        track: only this track. None means all.
        runs: also list runs.

    Raises:
        InputError: there is no such track.
    """
    tracks = _tracks(ledger)
    if track is not None:
        names = [item.name for item in tracks]
        if track not in names:
            raise InputError(f"the ledger has no track '{track}'{nearest(track, names)}")
        tracks = [item for item in tracks if item.name == track]
    listed = tuple(_runs(ledger, track)) if runs else None
    return LedgerList(format=1, ledger=ledger.where, tracks=tuple(tracks), runs=listed)


def _tracks(ledger: Ledger) -> list[ListedTrack]:
    track, run, series, change = tables.track, tables.run, tables.series, tables.change
    position = run.c.position
    of_points = (
        select(
            run.c.track_id,
            func.count().label("points"),
            func.min(position).label("first"),
            func.max(position).label("last"),
        )
        .where((run.c.role == "point") & (run.c.state == "finished"))
        .group_by(run.c.track_id)
    )
    of_tasks = select(series.c.track_id, func.count()).group_by(series.c.track_id)
    of_changes = select(change.c.track, func.count()).where(change.c.state == "open").group_by(change.c.track)
    with ledger.read() as connection:
        points = {row.track_id: row for row in connection.execute(of_points)}
        tasks = {row[0]: int(row[1]) for row in connection.execute(of_tasks)}
        opened = {row[0]: int(row[1]) for row in connection.execute(of_changes)}
        rows = connection.execute(select(track).where(track.c.name != LOOSE).order_by(track.c.name)).all()
    return [
        ListedTrack.from_object(
            row,
            points=own.points if own else 0,
            first=position_label(row.kind, own.first) if own else None,
            last=position_label(row.kind, own.last) if own else None,
            tasks=tasks.get(row.id, 0),
            base=row.base_uid,
            open_changes=opened.get(row.name, 0),
        )
        for row in rows
        for own in (points.get(row.id),)
    ]


def has_track(ledger: Ledger, name: str) -> bool:
    """Return whether a ledger has a track."""
    return bool(name) and bool(ledger.rows(select(tables.track.c.id).where(tables.track.c.name == name)))


def _runs(ledger: Ledger, name: str | None) -> list[ListedRun]:
    track, run = tables.track, tables.run
    query = select_runs().order_by(run.c.position.desc(), run.c.created.desc(), run.c.uid)
    return listed_runs(ledger, query if name is None else query.where(track.c.name == name))


def select_runs() -> Select[Any]:
    """Return the query of all runs for `listed_runs`, without an order."""
    track, run = tables.track, tables.run
    return select(run, track.c.name.label("track"), track.c.kind).join(track, track.c.id == run.c.track_id)


def listed_runs(ledger: Ledger, query: Select[Any]) -> list[ListedRun]:
    """Return the runs of a query made from `select_runs`, with the folders in which they are."""
    location = tables.location
    wanted = query.with_only_columns(tables.run.c.id).subquery()
    places = select(location.c.run_id, location.c.path).join(wanted, wanted.c.id == location.c.run_id)
    paths: dict[int, list[str]] = {}
    with ledger.read() as connection:
        rows = connection.execute(query).all()
        for row in connection.execute(places.where(location.c.present).order_by(location.c.path)):
            paths.setdefault(row.run_id, []).append(row.path)
    return [
        ListedRun.from_object(
            row,
            track=row.track or None,
            label=position_label(row.kind, row.position) if row.track else None,
            tags=tuple(json.loads(row.tags or "[]")),
            note=row.note or "",
            meta=json.loads(row.meta or "{}"),
            paths=tuple(paths.get(row.id, ())),
        )
        for row in rows
    ]
