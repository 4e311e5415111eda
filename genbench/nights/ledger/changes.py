"""Write changes, annotations, bases and settings of tracks. Each is first a note, then a row."""

from __future__ import annotations

import hashlib
from datetime import date
from typing import Any, Literal, cast, get_args

from sqlalchemy import Connection, select

from genbench.errors import InputError, nearest
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import change_of, track_history
from genbench.nights.ledger.ingest import GENBENCH
from genbench.nights.ledger.note_application import apply_new_notes, tell
from genbench.nights.ledger.notes import (
    AnnotationKind,
    AnnotationNote,
    BaseNote,
    Change,
    ChangeNote,
    SettleNote,
    TrackNote,
    WithdrawNote,
)
from genbench.stats.tracks.sequential_detection import ChangeState, Direction
from genbench.store.continuation import now
from genbench.store.manifest import night_position

BY_SEARCH = ("open", "recovered")
"""States of changes that only the search has decided on. The others are what a person said."""


def change_id(track: str, task: str | None, direction: Direction, found_uid: str) -> str:
    """Return the name of a change, such as `c-1a2b3c4d`. It is equal however often the change is found."""
    text = "\0".join((track, task or "", direction, found_uid))
    return f"c-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def open_change(ledger: Ledger, change: Change) -> bool:
    """Record a change that was found. Return False if it was recorded before.

    A series has one open change in each direction. Another one that is open is withdrawn: the search found
    it when the track had other nights.

    Raises:
        InputError: the change is not open.
    """
    if change.state != "open":
        raise InputError(f"change {change.id} has state {change.state}, wanted open")
    with ledger.write() as connection:
        apply_new_notes(ledger, connection)
        table = tables.change
        if connection.execute(select(table.c.id).where(table.c.id == change.id)).first() is not None:
            return False
        query = select(table.c.id).where(
            table.c.track == change.track,
            table.c.task.is_(None) if change.task is None else table.c.task == change.task,
            table.c.direction == change.direction,
            table.c.state == "open",
        )
        for other in connection.scalars(query).all():
            _withdraw(ledger, connection, other)
        said = {"note": "change", "at": change.at or now(), "by": change.by or GENBENCH}
        tell(ledger, connection, ChangeNote.from_object(change, **said))
    return True


def withdraw_change(ledger: Ledger, name: str) -> None:
    """Remove a change that is no longer found. One that a person has settled stays."""
    with ledger.write() as connection:
        apply_new_notes(ledger, connection)
        state = connection.execute(select(tables.change.c.state).where(tables.change.c.id == name)).scalar()
        if state in BY_SEARCH:
            _withdraw(ledger, connection, name)


def _withdraw(ledger: Ledger, connection: Connection, name: str) -> None:
    tell(ledger, connection, WithdrawNote(note="withdraw", id=name, at=now(), by=GENBENCH))


def settle_change(
    ledger: Ledger,
    name: str,
    state: ChangeState,
    *,
    by: str,
    note: str,
    closed_uid: str | None = None,
    at: str | None = None,
) -> Change:
    """Close a change: explained, dismissed or recovered. Return it as it is then.

    Args:
        note: why. People must say it.
        closed_uid: the run with which it has recovered.

    Raises:
        InputError: there is no such change, the state is wrong, or the note is empty.
    """
    if state == "open":
        raise InputError("a change is opened when it is found; wanted explained, dismissed or recovered")
    if not note.strip():
        raise InputError(f"change {name}: say why with --note TEXT; later readers have nothing else")
    with ledger.write() as connection:
        apply_new_notes(ledger, connection)
        old = _change(connection, name)
        if (old.state, old.note, old.closed_uid) != (state, note, closed_uid):
            told = SettleNote(
                note="settle", id=name, state=state, text=note, closed_uid=closed_uid, by=by, at=at or now()
            )
            tell(ledger, connection, told)
        return _change(connection, name)


def annotate(
    ledger: Ledger,
    track: str,
    position: int,
    kind: AnnotationKind,
    text: str,
    *,
    by: str,
    at: str | None = None,
) -> AnnotationNote:
    """Add a remark to a night or step of a track. The same remark is kept once.

    Raises:
        InputError: there is no such track, or the text is empty.
    """
    if not text.strip():
        raise InputError("an annotation needs a text")
    digest = hashlib.sha256("\0".join((track, str(position), kind, text)).encode()).hexdigest()
    name = f"a-{digest[:8]}"
    with ledger.write() as connection:
        apply_new_notes(ledger, connection)
        _require_track(connection, track)
        query = select(tables.annotation).where(tables.annotation.c.id == name)
        if connection.execute(query).first() is None:
            where = {"id": name, "track": track, "position": position}
            said = {"note": "annotation", "kind": kind, "text": text, "by": by, "at": at or now()}
            tell(ledger, connection, AnnotationNote.model_validate(where | said))
        return AnnotationNote.from_object(connection.execute(query).one(), note="annotation")


def pin_base(ledger: Ledger, track: str, uid: str, reason: str, *, by: str) -> None:
    """Make a run the base of a track. Its differences are computed again, and the reason is annotated.

    Args:
        uid: the run's uid, or its first letters.

    Raises:
        InputError: there is no such track or finished run, or no reason.
    """
    if not reason.strip():
        raise InputError("--reason TEXT is needed: a new base changes the meaning of every later difference")
    with ledger.write() as connection:
        apply_new_notes(ledger, connection)
        _require_track(connection, track)
        run = _require_run(connection, uid)
        at = now()
        tell(ledger, connection, BaseNote(note="base", track=track, uid=run.uid, reason=reason, by=by, at=at))
        last = connection.execute(
            select(tables.run.c.position)
            .join(tables.track, tables.track.c.id == tables.run.c.track_id)
            .where(tables.track.c.name == track)
            .order_by(tables.run.c.position.desc())
        ).scalar()
    if last is not None:
        text = f"base is {run.model} {run.uid[:8]} from here on: {reason}"
        annotate(ledger, track, last, "base", text, by=by, at=at)


def set_track(
    ledger: Ledger,
    track: str,
    *,
    alarms_per_year: float | None = None,
    nights_per_year: float | None = None,
    by: str = GENBENCH,
) -> None:
    """Set the budget of false alarms of a track, or how many runs it has in a year.

    Raises:
        InputError: there is no such track, or a number is out of range.
    """
    for name, value in (("alarms", alarms_per_year), ("nights", nights_per_year)):
        if value is not None and not 0 < value <= 1e5:
            raise InputError(f"--{name} {value:g}: wanted a number a year, above 0")
    with ledger.write() as connection:
        apply_new_notes(ledger, connection)
        _require_track(connection, track)
        budget = {"alarms_per_year": alarms_per_year, "nights_per_year": nights_per_year}
        tell(ledger, connection, TrackNote(note="track", track=track, by=by, at=now(), **budget))


def _require_track(connection: Connection, name: str) -> None:
    names = [found for found in connection.scalars(select(tables.track.c.name)) if found]
    if name not in names:
        raise InputError(f"the ledger has no track '{name}'{nearest(name, names)}")


def _require_run(connection: Connection, uid: str) -> Any:
    run = tables.run
    query = select(run.c.uid, run.c.model, run.c.state).where(run.c.uid.startswith(uid, autoescape=True))
    found = connection.execute(query.limit(2)).all() if uid else []
    if len(found) != 1:
        many = "several runs have" if found else "the ledger has no run with"
        raise InputError(f"{many} a uid that begins with '{uid}'; see: genbench ledger list --runs")
    if found[0].state != "finished":
        raise InputError(f"run {found[0].uid} is {found[0].state}; a base must be finished")
    return found[0]


def _change(connection: Connection, name: str) -> Change:
    table = tables.change
    row = connection.execute(select(table).where(table.c.id == name)).first()
    if row is None:
        known = connection.scalars(select(table.c.id).where(table.c.state == "open")).all()
        raise InputError(
            f"the ledger has no change '{name}'{nearest(name, known)}; `genbench trend TRACK` names them"
        )
    return change_of(row)


def position_of(text: str) -> int:
    """Return the position of a night like 2026-11-22, or of a step like 1000 or step-1000.

    Raises:
        InputError: the text is neither.
    """
    number = text.removeprefix("step-")
    if number.isascii() and number.isdigit() and len(number) < 16:
        return int(number)
    try:
        return night_position(date.fromisoformat(text))
    except ValueError:
        raise InputError(f"{text}: wanted a night like 2026-11-22, or a training step") from None


def annotation_kind(text: str) -> AnnotationKind:
    """Return the kind of an annotation.

    Raises:
        InputError: there is no such kind.
    """
    if text not in get_args(AnnotationKind):
        raise InputError(f"--kind {text}: unknown kind{nearest(text, get_args(AnnotationKind))}")
    return cast(AnnotationKind, text)


def settled_state(text: str) -> ChangeState:
    """Return the state that a person gives to a change.

    Raises:
        InputError: a person cannot give that state.
    """
    if text == "explained":
        return "explained"
    if text == "dismissed":
        return "dismissed"
    raise InputError(f"{text}: wanted explained or dismissed; a change recovers by itself")


def close_change(
    ledger: Ledger, track: str, change: str, state: Literal["explained", "dismissed"], *, by: str, note: str
) -> None:
    """Close a change of a track as of its newest run.

    Raises:
        InputError: there is no such track or change, or the change is closed already.
    """
    history = track_history(ledger, track, tasks=(), last=1)
    known = {item.id: item for item in history.changes}
    if change not in known:
        raise InputError(f"track {track}: no change '{change}'{nearest(change, known)}")
    found = known[change]
    if found.state != "open":
        raise InputError(
            f"track {track}: change {change} is {found.state} already; only open ones are closed"
        )
    newest = history.points[-1].uid if history.points else None
    settle_change(ledger, change, state, by=by, note=note, closed_uid=newest)
