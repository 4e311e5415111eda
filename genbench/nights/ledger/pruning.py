"""Deleting of old completions and verdicts. Scores of every problem stay, so no statistic is lost."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Literal

from pydantic import Field

from genbench.errors import InputError, RunFolderError
from genbench.json_record import JsonRecord
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import Night, TrackHistory, track_history
from genbench.nights.ledger.ingest import GENBENCH
from genbench.nights.ledger.note_application import tell
from genbench.nights.ledger.notes import PruneNote
from genbench.store.continuation import now
from genbench.store.folder import RunFolder

LAST_KEPT = 14
"""The newest runs of a track keep all files."""
_COMPLETIONS = ("completions.jsonl", "asks.jsonl", "judgments.jsonl")
_VERDICTS = ("verdicts.jsonl", "problems.jsonl")
_WITH_TEXTS = ("samples.parquet", "report.html", "engine.log")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class PrunedRun(JsonRecord):
    """The files of one run that were deleted, or would be."""

    path: str = Field(description="the run folder")
    uid: str = Field(description="UUID of the run")
    label: str = Field(description="its night or step")
    kept: Literal["verdicts", "none"] = Field(description="what is left: verdicts, or only scores")
    files: tuple[str, ...] = Field(description="deleted files, relative to the folder")
    bytes: int = Field(ge=0, description="their size")


class LedgerPruned(JsonRecord):
    """What `prune` deleted."""

    format: Literal[1] = Field(description="version of this record")
    ledger: str = Field(description="path or URL of the ledger")
    track: str = Field(description="the track")
    dry_run: bool = Field(description="whether nothing was deleted")
    runs: tuple[PrunedRun, ...] = Field(description="one entry for each run")
    spared: int = Field(ge=0, description="old runs that keep all files: base, open changes, the newest")


def parse_age(text: str) -> timedelta:
    """Read an age like 30d, 8w, 6m or 1y.

    Raises:
        InputError: the text has another form.
    """
    found = re.fullmatch(r"(\d{1,5})([dwmy])", text.strip())
    if found is None:
        raise InputError(f"{text}: wanted a number with d, w, m or y, such as 30d or 1y")
    return timedelta(days=int(found[1]) * _DAYS[found[2]])


def prune(
    ledger: Ledger,
    track: str,
    *,
    keep_completions: timedelta,
    keep_verdicts: timedelta | None = None,
    dry_run: bool = False,
    today: date | None = None,
) -> LedgerPruned:
    """Delete completions and verdicts of a track's old runs.

    The base, anchors, runs that an open change names and the newest 14 runs keep everything. A run's age is
    that of its folder's creation.

    Args:
        keep_completions: the age up to which texts are kept.
        keep_verdicts: the age up to which verdicts are kept. None keeps them for ever.
        dry_run: only say what would be deleted.
        today: the day from which ages are counted. None means today.

    Raises:
        InputError: there is no such track.
        RunFolderError: a run is being written, or a file cannot be deleted.
    """
    if keep_verdicts is not None and keep_verdicts < keep_completions:
        raise InputError("--keep-verdicts is shorter than --keep-completions; verdicts are kept for longer")
    history = track_history(ledger, track, tasks=())
    spared_uids = _spared(history)
    day = today or date.today()
    done: list[PrunedRun] = []
    spared = 0
    for night in (*history.points, *history.anchors):
        age = _age(night, day)
        if night.path is None or age is None or age <= keep_completions:
            continue
        if night.uid in spared_uids:
            spared += 1
            continue
        old = keep_verdicts is not None and age > keep_verdicts
        pruned = _prune_run(night, Path(night.path), "none" if old else "verdicts", dry_run)
        if pruned is None:
            continue
        done.append(pruned)
        if not dry_run:
            with ledger.write() as connection:
                note = PruneNote(note="prune", uid=night.uid, kept=pruned.kept, by=GENBENCH, at=now())
                tell(ledger, connection, note)
    return LedgerPruned(
        format=1, ledger=ledger.where, track=track, dry_run=dry_run, runs=tuple(done), spared=spared
    )


def _spared(history: TrackHistory) -> set[str]:
    """Return the runs that keep everything."""
    found = {night.uid for night in history.points[-LAST_KEPT:]} | {night.uid for night in history.anchors}
    if history.track.base_uid is not None:
        found.add(history.track.base_uid)
    for change in history.changes:
        if change.state == "open":
            found |= {change.first_uid, change.last_before_uid, change.found_uid, *change.suspects}
    return found


def _age(night: Night, today: date) -> timedelta | None:
    try:
        return today - date.fromisoformat(night.created[:10])
    except ValueError:
        return None


def _prune_run(
    night: Night, path: Path, kept: Literal["verdicts", "none"], dry_run: bool
) -> PrunedRun | None:
    """Delete a run's files. Return what was deleted, or None if nothing was there."""
    manifest = RunFolder(path).require_manifest()
    if manifest.run_uid != night.uid:
        return None
    kinds = _COMPLETIONS if kept == "verdicts" else (*_COMPLETIONS, *_VERDICTS)
    files = [path / name for name in _WITH_TEXTS]
    files += [path / task / kind for task in manifest.tasks for kind in kinds]
    found = [file for file in files if file.is_file() and not file.is_symlink()]
    if not found:
        return None
    size = sum(file.stat().st_size for file in found)
    if not dry_run:
        with RunFolder.writer(path):  # refuses a folder that is being written
            for file in found:
                _delete(file)
    names = tuple(str(file.relative_to(path)) for file in found)
    return PrunedRun(path=str(path), uid=night.uid, label=night.label, kept=kept, files=names, bytes=size)


def _delete(file: Path) -> None:
    try:
        file.unlink()
    except OSError as error:
        raise RunFolderError(f"{file}: cannot be deleted: {error.strerror}") from error
