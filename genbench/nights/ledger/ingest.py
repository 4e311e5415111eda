"""Add run folders to a ledger, and make a ledger again from them.

The rows of one run are written in one transaction.
"""

from __future__ import annotations

import json
import os
import socket
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Connection, delete, insert, select, update

from genbench.errors import GenbenchError, InputError, RunFolderError
from genbench.json_record import JsonRecord
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import HEAD, Ledger, remove_database
from genbench.nights.ledger.differences import base_draws, difference_columns, renew_differences
from genbench.nights.ledger.measures import pack_measures
from genbench.nights.ledger.note_application import (
    LOOSE,
    apply_new_notes,
    inserted,
    meta_value,
    tell,
    track_id,
)
from genbench.nights.ledger.notes import BaseNote, PlaceNote, RootNote, TrackNote
from genbench.nights.ledger.run_facts import RunFacts, TaskFacts, read_facts, read_manifest
from genbench.nights.ledger.vectors import pack
from genbench.store.continuation import now
from genbench.store.contract import digest
from genbench.store.manifest import TrackRecord, night_position
from genbench.store.state import SealWord

_DEEPEST = 12
"""Levels of folders below the root that are looked at."""


def run_folders_below(root: Path) -> Iterator[Path]:
    """Yield the folders with a manifest.json, in the order of their names.

    Nothing is looked for inside a run folder. Hidden folders are left out.

    Raises:
        InputError: `root` is not a folder that can be read.
    """
    if not root.is_dir():
        raise InputError(f"{root}: no such folder; wanted a run folder, or a folder that contains some")
    real = root.resolve()
    yield from _folders_below(real, _DEEPEST)


def _folders_below(folder: Path, levels: int) -> Iterator[Path]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"{folder}: cannot be read: {error.strerror}") from error
    if any(entry.name == "manifest.json" for entry in entries):
        yield folder
        return
    for entry in entries:
        if levels and not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from _folders_below(Path(entry.path), levels - 1)


GENBENCH = "genbench"
"""The author of the notes that a command writes by itself."""

IngestResult = Literal["added", "renewed", "unchanged", "second copy", "moved"]


def ingest(ledger: Ledger, connection: Connection, facts: RunFacts) -> IngestResult:
    """Write the rows of a run. Adding the same folder again changes nothing.

    Raises:
        RunFolderError: another folder that is present has other contents under the same uid.
        InputError: the run's track has another kind.
    """
    run = tables.run
    known = select(run.c.id, run.c.source_digest, run.c.track_id).where(run.c.uid == facts.uid)
    old = connection.execute(known).first()
    placed = _place(connection, facts)
    name = LOOSE if placed is None else placed.name
    track = track_id(connection, name, "night" if placed is None else placed.kind, facts.suite)
    if old is not None and (old.source_digest, old.track_id) == (facts.source_digest, track):
        return _note_location(connection, old.id, facts.path)
    if old is not None:
        _refuse_contradiction(connection, old.id, facts)
    values = _run_values(connection, facts, placed, track)
    if old is None:
        number = inserted(connection, insert(run).values(uid=facts.uid, **values))
    else:
        number = int(old.id)
        connection.execute(delete(tables.score).where(tables.score.c.run_id == number))
        connection.execute(update(run).where(run.c.id == number).values(values))
    _note_location(connection, number, facts.path)
    if facts.state == "finished":
        if placed is not None:
            _declare_track(ledger, connection, facts, name)
        keys = _write_scores(connection, facts, name, number=number, track=track, position=values["position"])
        _renew_others(connection, facts, number, placed, keys)
    return "added" if old is None else "renewed"


def _place(connection: Connection, facts: RunFacts) -> TrackRecord | None:
    """Return the run's place: that of its manifest, else what a person said, else None."""
    if facts.track is not None:
        return facts.track
    place = tables.place
    row = connection.execute(select(place).where(place.c.uid == facts.uid)).first()
    if row is None:
        return None
    return TrackRecord(name=row.track, kind=row.kind, position=row.position, role=row.role)


def _refuse_contradiction(connection: Connection, number: int, facts: RunFacts) -> None:
    """Refuse a second folder of one uid whose content differs, while the first is still there."""
    location = tables.location
    for row in connection.execute(select(location.c.path).where(location.c.run_id == number)):
        if row.path != facts.path and (Path(row.path) / "manifest.json").is_file():
            raise RunFolderError(
                f"{facts.path} and {row.path} have one uid ({facts.uid}) and different contents; remove the "
                "one that is not the run, or draw it again in a folder of its own"
            )


def _note_location(connection: Connection, number: int, path: str) -> IngestResult:
    """Record that a run is at a path, and which of its other paths are gone."""
    location = tables.location
    found = connection.execute(select(location).where(location.c.run_id == number)).all()
    known = {row.path: row for row in found}
    gone = [
        old for old, row in known.items() if old != path and row.present and not _is_run_folder(Path(old))
    ]
    if gone:
        connection.execute(update(location).where(location.c.path.in_(gone)).values(present=False))
    if path in known:
        if not known[path].present:
            connection.execute(update(location).where(location.c.path == path).values(present=True))
        return "unchanged"
    connection.execute(delete(location).where(location.c.path == path))
    connection.execute(
        insert(location).values(path=path, run_id=number, host=socket.gethostname(), present=True)
    )
    others = [old for old, row in known.items() if row.present and old not in gone]
    return "second copy" if others else "moved"


def _is_run_folder(path: Path) -> bool:
    return (path / "manifest.json").is_file()


def _run_values(
    connection: Connection, facts: RunFacts, placed: TrackRecord | None, track: int
) -> dict[str, Any]:
    """Return the columns of a run's row but its uid."""
    return {
        **{name: getattr(facts, name) for name in _COPIED},
        "track_id": track,
        "position": _day(facts.created) if placed is None else placed.position,
        "role": "point" if placed is None else placed.role,
        "packages": json.dumps(dict(facts.packages), sort_keys=True),
        "failed": json.dumps(list(facts.failed)),
        "kept": meta_value(connection, f"kept {facts.uid}") or "all",
        "tags": json.dumps(list(facts.about.tags)),
        "note": facts.about.note,
        "meta": json.dumps(facts.about.meta),
    }


_COPIED = (
    *("run_id", "model", "identity", "suite", "suite_digest", "run_seed", "terms_digest"),
    *("circumstances_digest", "state", "created", "seconds", "tokens", "cost", "currency", "version", "git"),
    *("sealed_lines", "seal_digest", "source_digest"),
)


def _day(created: str) -> int:
    """Return the day on which a run without a track was created, 0 if it is unknown."""
    try:
        return max(0, night_position(date.fromisoformat(created[:10])))
    except ValueError:
        return 0


def _declare_track(ledger: Ledger, connection: Connection, facts: RunFacts, name: str) -> None:
    """Note what the first run of a track says about it: the track's base, and its budget of alarms.

    If nobody chose the base, a run that is added later and is before it becomes the base. So the order of
    adding does not matter.
    """
    track = tables.track
    row = connection.execute(select(track).where(track.c.name == name)).one()
    words = {"at": now(), "by": GENBENCH}
    if row.base_uid is None and facts.alarms_per_year != row.alarms_per_year:
        note = TrackNote(note="track", track=name, alarms_per_year=facts.alarms_per_year, **words)
        tell(ledger, connection, note)
    if row.base_uid is None or (row.base_reason == _FIRST and _is_before(connection, facts, row.base_uid)):
        tell(ledger, connection, BaseNote(note="base", track=name, uid=facts.uid, reason=_FIRST, **words))


_FIRST = "the first finished run of the track"
"""The reason of a base that nobody chose."""


def _is_before(connection: Connection, facts: RunFacts, base_uid: str) -> bool:
    """Return whether a run that was just written is before the base in the order of adding."""
    run = tables.run
    query = select(run.c.uid, run.c.position, run.c.role, run.c.created, run.c.track_id)
    found = {row.uid: row for row in connection.execute(query.where(run.c.uid.in_([facts.uid, base_uid])))}
    if len(found) < 2 or found[facts.uid].track_id != found[base_uid].track_id:
        return False
    keys = {row.uid: (row.position, row.role == "point", row.created, row.uid) for row in found.values()}
    return keys[facts.uid] < keys[base_uid]


def _write_scores(
    connection: Connection, facts: RunFacts, name: str, *, number: int, track: int, position: int
) -> dict[int, str]:
    """Write the scores of a run. Return its keys: number -> task."""
    series = _series_ids(connection, track, facts.tasks)
    keys = _key_ids(connection, facts.tasks)
    draws = base_draws(connection, name, keys.values()) if name != LOOSE else {}
    rows = [
        {
            "series_id": series[task],
            "position": position,
            "run_id": number,
            "key_id": keys[task],
            **_score_columns(own),
            **difference_columns(draws.get(keys[task]), number, own.vector),
        }
        for task, own in facts.tasks.items()
    ]
    if rows:
        connection.execute(insert(tables.score), rows)
    return {key: task for task, key in keys.items()}


def _score_columns(own: TaskFacts) -> dict[str, Any]:
    names = ("k", "gating", "value", "excluded", "truncated", "loops", "empty", "tokens", "cost", "chance")
    (low, high), (rerun_low, rerun_high) = own.ci or (None, None), own.rerun_ci or (None, None)
    bounds = {"ci_low": low, "ci_high": high, "rerun_low": rerun_low, "rerun_high": rerun_high}
    return {
        **{name: getattr(own, name) for name in names},
        **bounds,
        "vector": pack(own.vector),
        "measures": pack_measures(own.measures),
        "parts": None if own.parts is None else json.dumps(own.parts),
    }


def _series_ids(connection: Connection, track: int, tasks: Iterable[str]) -> dict[str, int]:
    series = tables.series
    query = select(series.c.task, series.c.id).where(series.c.track_id == track)
    found = {row.task: int(row.id) for row in connection.execute(query)}
    for task in tasks:
        if task not in found:
            found[task] = inserted(connection, insert(series).values(track_id=track, task=task))
    return found


def _key_ids(connection: Connection, tasks: Mapping[str, TaskFacts]) -> dict[str, int]:
    """Return the number of each task's key. Write keys and their problems that are new."""
    table = tables.task_key
    wanted = {
        task: digest(dict(own.key, problems=digest([own.problem_ids, own.groups])))
        for task, own in tasks.items()
    }
    query = select(table.c.digest, table.c.id).where(table.c.digest.in_(list(wanted.values())))
    known = {row.digest: int(row.id) for row in connection.execute(query)}
    found: dict[str, int] = {}
    for task, name in wanted.items():
        if name not in known:
            own = tasks[task]
            record = _compressed(dict(own.key, asked=own.asked))
            row = {"problem_set_id": _problem_set_id(connection, own), "record": record}
            known[name] = inserted(connection, insert(table).values(digest=name, task=task, **row))
        found[task] = known[name]
    return found


def _problem_set_id(connection: Connection, own: TaskFacts) -> int:
    table = tables.problem_set
    wanted = digest([own.problem_ids, own.groups])
    found = connection.execute(select(table.c.id).where(table.c.digest == wanted)).scalar()
    if found is not None:
        return int(found)
    groups = None if own.groups is None else _compressed(list(own.groups))
    row = {"n": len(own.problem_ids), "ids": _compressed(list(own.problem_ids)), "groups": groups}
    return inserted(connection, insert(table).values(digest=wanted, **row))


def _compressed(record: Any) -> bytes:
    return zlib.compress(json.dumps(record, sort_keys=True).encode(), 9)


def _renew_others(
    connection: Connection, facts: RunFacts, number: int, placed: TrackRecord | None, keys: Mapping[int, str]
) -> None:
    """Compute differences again if the run is the base of some keys: of its own track, or of others."""
    track = tables.track
    query = select(track.c.name).where(track.c.base_uid == facts.uid).order_by(track.c.name)
    pinned = connection.scalars(query).all()
    for other in pinned:
        renew_differences(connection, other)
    if placed is None or placed.role != "anchor" or placed.name in pinned:
        return
    draws = base_draws(connection, placed.name)
    own = [key for key in keys if key in draws and draws[key].run_id == number]
    if own:
        renew_differences(connection, placed.name, own)


Progress = Callable[[int, int], None]
"""Called with the number of folders that are done, and of all."""


class AddedRun(JsonRecord):
    """What `ledger add` or `ledger rebuild` did with one folder."""

    path: str = Field(description="the run folder")
    outcome: Literal["added", "renewed", "unchanged", "second copy", "moved", "refused"] = Field(
        description="added: new; renewed: its content changed; second copy: another folder has it too; "
        "moved: the folder where it was is gone; refused: see `detail`"
    )
    state: str = Field(
        description="finished, failed, unfinished, being written, shard, missing or refused; only finished "
        "runs are in series"
    )
    uid: str | None = Field(description="UUID of the run")
    track: str | None = Field(description="its track; null if it belongs to none")
    label: str | None = Field(description="its night or step")
    model: str | None = Field(description="name of the model")
    detail: str = Field(description="why it was refused, why it failed, or which files were changed")
    seal: SealWord | None = Field(
        default=None,
        description="whole: its files are as they were written; unsealed: nothing tells (an older run, or "
        "one without results); absent if it was refused",
    )

    @classmethod
    def refused(cls, path: Path, detail: str, *, state: str = "refused", uid: str | None = None) -> AddedRun:
        """Return that a folder could not be used, and why."""
        more = {"state": state, "uid": uid, "detail": detail, "track": None, "label": None, "model": None}
        return cls.model_validate({"path": str(path), "outcome": "refused", **more})


class LedgerAdded(JsonRecord):
    """The folders that were added, or all folders of a ledger that was made again."""

    format: Literal[1] = Field(description="version of this record")
    ledger: str = Field(description="path or URL of the ledger")
    folders: tuple[AddedRun, ...] = Field(description="one entry for each run folder")

    @property
    def refused(self) -> bool:
        """Whether a folder could not be used."""
        return any(item.outcome == "refused" for item in self.folders)


def add(
    ledger: Ledger,
    folders: Sequence[Path],
    *,
    place: TrackRecord | None = None,
    by: str = GENBENCH,
    progress: Progress | None = None,
) -> list[AddedRun]:
    """Add every run folder at or below `folders`. One that cannot be used is reported.

    Args:
        place: the track and position of the run, for one run whose own manifest names no track.
        by: who says that.
        progress: called after each folder.

    Raises:
        InputError: there is no such folder or no run in it, `place` goes with several runs, or the ledger
            cannot be written.
    """
    found = [path for folder in folders for path in run_folders_below(folder)]
    if not found:
        names = ", ".join(map(str, folders))
        raise InputError(f"{names}: contains no run folder (manifest.json); `genbench run` makes one")
    if place is not None and len(found) != 1:
        raise InputError(f"--track goes with one run folder, found {len(found)}; add them one by one")
    with ledger.write() as connection:
        apply_new_notes(ledger, connection)
        known = connection.scalars(select(tables.root.c.path)).all()
        for folder in folders:
            path = str(folder.resolve())
            if not any(Path(path).is_relative_to(root) for root in known):
                tell(ledger, connection, RootNote(note="root", path=path, at=now(), by=by))
    return _add_all(ledger, found, place, by, progress, lines=True)


def _add_all(
    ledger: Ledger,
    found: Sequence[Path],
    place: TrackRecord | None,
    by: str,
    progress: Progress | None,
    *,
    lines: bool,
) -> list[AddedRun]:
    order: list[tuple[_Order, Path]] = []
    for number, path in enumerate(found):
        order.append((_order(path), path))
        if progress is not None:
            progress(number + 1, 2 * len(found))
    outcomes: dict[Path, AddedRun] = {}
    for number, (_, path) in enumerate(sorted(order)):
        # Read one after the other: the scores of ten years do not fit into memory.
        outcomes[path] = _add_one(ledger, path, place, by, lines=lines)
        if progress is not None:
            progress(len(found) + number + 1, 2 * len(found))
    return [outcomes[path] for path in found]


_Order = tuple[int, bool, str, str]


def _order(path: Path) -> _Order:
    """Return the key of the order in which runs are added: by position, anchors before points, by time.

    A track's first anchor then is its base.
    """
    try:
        manifest = read_manifest(path)
    except GenbenchError:
        return (-1, False, "", str(path))
    track = manifest.track
    if track is None:
        return (-1, True, manifest.created or "", manifest.run_uid)
    return (track.position, track.role == "point", manifest.created or "", manifest.run_uid)


def _add_one(ledger: Ledger, path: Path, place: TrackRecord | None, by: str, *, lines: bool) -> AddedRun:
    uid = None
    try:
        facts = read_facts(path, lines=lines)
        uid = facts.uid
        with ledger.write() as connection:
            if place is not None:
                _say_place(ledger, connection, facts, place, by)
            outcome = ingest(ledger, connection, facts)
    except GenbenchError as error:
        return AddedRun.refused(path, str(error), uid=uid)
    track = facts.track or place
    return AddedRun(
        path=str(path),
        outcome=outcome,
        state=facts.state,
        uid=facts.uid,
        track=track.name if track else None,
        label=track.label if track else None,
        model=facts.model,
        detail="; ".join((*facts.failed, *facts.remarks)[:3]),
        seal=facts.seal,
    )


def _say_place(ledger: Ledger, connection: Connection, facts: RunFacts, place: TrackRecord, by: str) -> None:
    """Note the place of a run that a person gave.

    Raises:
        InputError: the run's own manifest names another place.
    """
    if facts.track is not None:
        if facts.track != place:
            raise InputError(
                f"{facts.path}: its manifest says {facts.track.label} of track {facts.track.name}; leave out "
                "--track and --position"
            )
        return
    note = PlaceNote.from_object(place, note="place", uid=facts.uid, track=place.name, at=now(), by=by)
    tell(ledger, connection, note)


def rebuild(
    ledger: Ledger, folders: Iterable[Path] = (), *, progress: Progress | None = None
) -> list[AddedRun]:
    """Delete all tables, and make them again from the run folders and the notes.

    Args:
        folders: more folders to look in, besides those that the notes name.
        progress: called after each folder.

    Returns:
        What was done with each run folder.

    Raises:
        InputError: a note is damaged, or the ledger cannot be written.
    """
    remove_database(ledger)
    with ledger.write() as connection:
        ledger.migrate(connection, HEAD)
        apply_new_notes(ledger, connection)
        roots = list(map(Path, connection.scalars(select(tables.root.c.path).order_by(tables.root.c.number))))
    missing = [
        AddedRun.refused(path, "the folder that was added is not there", state="missing")
        for path in roots
        if not path.is_dir()
    ]
    places = [path for path in roots if path.is_dir()]
    places += [path for path in folders if path.resolve() not in places]
    found = list(dict.fromkeys(path for folder in places for path in run_folders_below(folder)))
    # Numbers come from results and sums, whose digests are compared. Lines of ten years would take hours.
    outcomes = _add_all(ledger, found, None, GENBENCH, progress, lines=False)
    return [*outcomes, *missing]


def added_record(ledger: Ledger, done: Sequence[AddedRun]) -> LedgerAdded:
    """Return the record that `ledger add` and `ledger rebuild` print."""
    return LedgerAdded(format=1, ledger=ledger.where, folders=tuple(done))
