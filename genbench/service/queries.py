"""The tracks, runs and changes that a path names. Errors: 404 missing, 410 files are gone.

`RunJson` is the form of answers with texts from run folders.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import Path
from fastapi.responses import JSONResponse
from sqlalchemy import select

from genbench.ledger import tables
from genbench.ledger.database import Ledger
from genbench.ledger.history import track_history
from genbench.ledger.listing import ListedRun, listed_runs, select_runs
from genbench.service.responses import GoneError, NotFoundError, refused_as
from genbench.store.json_files import encode
from genbench.trend.record import TrendChange

Name = Annotated[str, Path(max_length=200)]
"""A name in a path: a track, a task, a change or a uid. It is looked up and never becomes a file name."""


class RunJson(JSONResponse):
    """A response with texts of models, which may contain halves of surrogate pairs: these become escapes."""

    def render(self, content: Any) -> bytes:
        """Return the content as JSON."""
        return encode(content)


def require_track(ledger: Ledger, name: str) -> None:
    """Check that there is a track.

    Raises:
        NotFoundError: there is none, with the nearest name.
    """
    with refused_as(NotFoundError):
        track_history(ledger, name, tasks=(), last=1)


def require_change(ledger: Ledger, track: str, change: str) -> None:
    """Check that a track has a change.

    Raises:
        NotFoundError: there is no such track, or it has no such change.
    """
    with refused_as(NotFoundError):
        history = track_history(ledger, track, tasks=(), last=1)
    if change not in {item.id for item in history.changes}:
        raise NotFoundError(f"track {track}: no change '{change[:50]}'")


def found_change(changes: Iterable[TrendChange], name: str) -> TrendChange:
    """Return a change of a record.

    Raises:
        NotFoundError: the record lacks it: its runs left the ledger, or it was withdrawn since.
    """
    for item in changes:
        if item.id == name:
            return item
    raise NotFoundError(f"change {name[:50]}: its runs are no longer in the ledger, or it was withdrawn")


def read_runs(ledger: Ledger, track: str | None, start: int, limit: int) -> list[ListedRun]:
    """Return some runs, newest first."""
    own, run = tables.track, tables.run
    query = select_runs().order_by(run.c.created.desc(), run.c.id.desc()).offset(start).limit(limit)
    return listed_runs(ledger, query if track is None else query.where(own.c.name == track))


def read_run(ledger: Ledger, uid: str) -> ListedRun:
    """Return one run.

    Raises:
        NotFoundError: the ledger has none of this uid.
    """
    found = listed_runs(ledger, select_runs().where(tables.run.c.uid == uid))
    if not found:
        raise NotFoundError(f"the ledger has no run '{uid[:50]}'")
    return found[0]


def has_verdicts(folder: FilePath) -> bool:
    """Return whether a run folder still has the verdicts of its tasks."""
    return any(folder.glob("*/verdicts.jsonl"))


def run_folder(ledger: Ledger, uid: str) -> FilePath:
    """Return a folder of a run that the ledger knows. A client names only the uid.

    Raises:
        NotFoundError: the ledger has no such run.
        GoneError: none of its folders is there.
    """
    run, location = tables.run, tables.location
    with ledger.read() as connection:
        known = connection.execute(select(run.c.id).where(run.c.uid == uid)).scalar()
        if known is None:
            raise NotFoundError(f"the ledger has no run '{uid[:50]}'")
        places = select(location.c.path).where(location.c.run_id == known).order_by(location.c.path)
        found = [FilePath(row.path) for row in connection.execute(places)]
    for path in found:
        if (path / "manifest.json").is_file():
            return path
    raise GoneError(f"run {uid}: its folder is not there any more ({found[0] if found else 'no folder'})")
