"""Notes applied to the tables of a ledger. Every note is applied once, in the order of the file."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Connection, Insert, delete, func, insert, select, update

from genbench.errors import InputError
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.differences import renew_differences
from genbench.nights.ledger.notes import (
    AnnotationNote,
    BaseNote,
    ChangeNote,
    Note,
    PlaceNote,
    PruneNote,
    RootNote,
    SettleNote,
    TrackNote,
    WithdrawNote,
)
from genbench.suite.track import TrackKind

_READ = "notes_read"
"""The key of the byte offset up to which notes are applied."""
_UNKNOWN = ""
"""The kind of a track that notes name and that has no run yet."""
LOOSE = ""
"""The name of the track of runs that belong to no track."""


def tell(ledger: Ledger, connection: Connection, note: Note) -> None:
    """Write a note to the file, and apply it in a transaction that writes."""
    apply_new_notes(ledger, connection)
    ledger.notes.append(note)
    apply_new_notes(ledger, connection)


def apply_new_notes(ledger: Ledger, connection: Connection) -> int:
    """Apply the notes that the tables do not know yet. Return their number.

    Raises:
        InputError: a line is damaged, or lines that were applied are no longer in the file.
    """
    start = int(meta_value(connection, _READ) or 0)
    size = ledger.notes.size()
    if size < start:
        raise InputError(
            f"{ledger.notes.path}: has {size} bytes, the ledger has read {start}; restore the file, or "
            "accept the loss with: genbench ledger rebuild"
        )
    found = list(ledger.notes.read(start))
    for note, _ in found:
        _apply(connection, note)
    if found:
        set_meta(connection, _READ, str(found[-1][1]))
    return len(found)


def meta_value(connection: Connection, key: str) -> str | None:
    """Return a value of the table `meta`, or None."""
    return connection.execute(select(tables.meta.c.value).where(tables.meta.c.key == key)).scalar()


def set_meta(connection: Connection, key: str, value: str) -> None:
    """Set a value of the table `meta`."""
    connection.execute(delete(tables.meta).where(tables.meta.c.key == key))
    connection.execute(insert(tables.meta).values(key=key, value=value))


def inserted(connection: Connection, statement: Insert) -> int:
    """Insert one row. Return its number."""
    key = connection.execute(statement).inserted_primary_key
    assert key is not None
    return int(key[0])


def track_id(connection: Connection, name: str, kind: TrackKind | None, suite: str = "") -> int:
    """Return the number of a track. Make the track if it is new.

    Args:
        kind: the kind of the track. None if only a note names it: its first run then says the kind.

    Raises:
        InputError: the track is there with another kind.
    """
    track = tables.track
    found = connection.execute(select(track.c.id, track.c.kind, track.c.suite).where(track.c.name == name))
    row = found.first()
    if row is None:
        values = {"alarms_per_year": 1.0, "nights_per_year": 365.0, "base_uid": None, "base_reason": ""}
        made = insert(track).values(name=name, kind=kind or _UNKNOWN, suite=suite, **values)
        return inserted(connection, made)
    if kind is not None and row.kind == _UNKNOWN:
        connection.execute(update(track).where(track.c.id == row.id).values(kind=kind))
    elif kind not in (None, row.kind):
        raise InputError(
            f"track {name}: has kind {row.kind}, this run has kind {kind}; give it another track"
        )
    if not row.suite and suite:
        connection.execute(update(track).where(track.c.id == row.id).values(suite=suite))
    return int(row.id)


def _apply(connection: Connection, note: Note) -> None:
    """Apply one note."""
    track, annotation, change, place = tables.track, tables.annotation, tables.change, tables.place
    values = note.to_json()
    del values["note"]
    match note:
        case RootNote():
            _apply_root(connection, note)
        case PlaceNote():
            connection.execute(delete(place).where(place.c.uid == note.uid))
            placed = {name: values[name] for name in ("uid", "track", "kind", "position", "role")}
            connection.execute(insert(place).values(placed))
        case TrackNote():
            track_id(connection, note.track, None)
            given = ((name, values.get(name)) for name in ("alarms_per_year", "nights_per_year"))
            if known := {name: value for name, value in given if value is not None}:
                connection.execute(update(track).where(track.c.name == note.track).values(known))
        case BaseNote():
            track_id(connection, note.track, None)
            based = {"base_uid": note.uid, "base_reason": note.reason}
            connection.execute(update(track).where(track.c.name == note.track).values(based))
            renew_differences(connection, note.track)
        case AnnotationNote():
            connection.execute(delete(annotation).where(annotation.c.id == note.id))
            connection.execute(insert(annotation).values(values))
        case ChangeNote():
            _apply_change(connection, note, values)
        case SettleNote():
            why = {"state": note.state, "by": note.by, "at": note.at, "note": note.text}
            closed = why | {"closed_uid": note.closed_uid}
            connection.execute(update(change).where(change.c.id == note.id).values(closed))
        case WithdrawNote():
            connection.execute(delete(change).where(change.c.id == note.id))
        case PruneNote():
            connection.execute(update(tables.run).where(tables.run.c.uid == note.uid).values(kept=note.kept))
            set_meta(connection, f"kept {note.uid}", note.kept)


def _apply_root(connection: Connection, note: RootNote) -> None:
    root = tables.root
    if connection.execute(select(root.c.path).where(root.c.path == note.path)).first() is None:
        number = connection.execute(select(func.count()).select_from(root)).scalar() or 0
        connection.execute(insert(root).values(path=note.path, number=number))


def _apply_change(connection: Connection, note: ChangeNote, values: dict[str, Any]) -> None:
    change = tables.change
    if connection.execute(select(change.c.id).where(change.c.id == note.id)).first() is not None:
        return
    low, high = values.pop("ci")
    values |= {"suspects": json.dumps(list(note.suspects)), "ci_low": low, "ci_high": high}
    connection.execute(insert(change).values(**values, state="open", note="", closed_uid=None))
