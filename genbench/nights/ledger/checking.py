"""The check of a ledger against the run folders that it was made from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import select, update

from genbench.analysis.results.record import Results, read_results
from genbench.analysis.results.run_state import run_state
from genbench.errors import GenbenchError, RunFolderError
from genbench.json_record import JsonRecord
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.run_facts import MOST_BYTES, sums_from_verdicts
from genbench.store.json_files import read_bytes
from genbench.store.stored_run import StoredRun
from genbench.store.sums import read_sums

Progress = Callable[[int, int], None]


class CheckedRun(JsonRecord):
    """One folder compared with the ledger."""

    path: str = Field(description="the run folder")
    uid: str = Field(description="UUID of the run")
    track: str | None = Field(description="its track; null if it belongs to none")
    state: Literal["ok", "edited", "missing"] = Field(description="what was found")
    problems: tuple[str, ...] = Field(description="what differs, and what to do")


class LedgerCheck(JsonRecord):
    """Every folder of a ledger compared with what the ledger has of it."""

    format: Literal[1] = Field(description="version of this record")
    ledger: str = Field(description="path or URL of the ledger")
    runs: tuple[CheckedRun, ...] = Field(description="one entry for each folder")

    @property
    def failed(self) -> bool:
        """Whether a folder was edited. A missing one is not a failure: a disk may be away."""
        return any(item.state == "edited" for item in self.runs)


def check(
    ledger: Ledger, track: str | None = None, *, lines: bool = True, progress: Progress | None = None
) -> LedgerCheck:
    """Compare every run of a ledger with its folders. Folders that are gone are marked as absent.

    Args:
        track: only this track. None means all runs.
        lines: also read all completions and verdicts, to compare them with their seals and sums.
        progress: called after each folder with the number of folders that are done, and of all.
    """
    run, location = tables.run, tables.location
    query = (
        select(location.c.path, run.c.uid, run.c.source_digest, run.c.kept, tables.track.c.name)
        .join(run, run.c.id == location.c.run_id)
        .join(tables.track, tables.track.c.id == run.c.track_id)
        .order_by(location.c.path)
    )
    if track is not None:
        query = query.where(tables.track.c.name == track)
    rows = ledger.rows(query)
    found: list[CheckedRun] = []
    for number, row in enumerate(rows):
        found.append(_checked(row, lines))
        if progress is not None:
            progress(number + 1, len(rows))
    _mark(ledger, found)
    return LedgerCheck(format=1, ledger=ledger.where, runs=tuple(found))


def _checked(row: Any, lines: bool) -> CheckedRun:
    path = Path(row.path)
    try:
        problems = list(_problems(path, row, lines))
    except GenbenchError as error:
        problems = [str(error)]
    gone = not (path / "manifest.json").is_file()
    if gone:
        problems = ["the folder is not there any more; if it was moved: genbench ledger add DIR"]
    return CheckedRun(
        path=row.path,
        uid=row.uid,
        track=row.name or None,
        state="missing" if gone else "edited" if problems else "ok",
        problems=tuple(problems),
    )


def _problems(path: Path, row: Any, lines: bool) -> Iterator[str]:
    """Yield what differs between a folder and the ledger."""
    manifest = read_bytes(path / "manifest.json", MOST_BYTES)
    if manifest is None:
        return
    source = hashlib.sha256(manifest)
    source.update(read_bytes(path / "results.json", MOST_BYTES) or b"")
    if source.hexdigest() != row.source_digest:
        yield (
            "manifest.json or results.json is not the one that was added; if that is right, take the new "
            f"content with: genbench ledger add {path}"
        )
    stored = StoredRun(path)
    if stored.manifest.run_uid != row.uid:
        yield f"is another run now, with uid {stored.manifest.run_uid}"
        return
    results = read_results(stored.folder)
    if results is None:
        return
    if results.sums:
        read_sums(path, results.sums)
    state = run_state(stored, results, lines=lines)
    kept = state.edits if row.kept != "all" else state.findings
    for found in kept:
        yield f"{found}; restore it, or draw the run again"
    if lines and row.kept == "all":
        yield from _sum_problems(stored, results)


def _sum_problems(stored: StoredRun, results: Results) -> Iterator[str]:
    """Yield the tasks whose sums are not those of their verdicts."""
    if results.sums is None:
        return
    try:
        kept = read_sums(stored.path, results.sums)
        made = sums_from_verdicts(stored.path, stored.manifest, results)
    except RunFolderError as error:
        yield str(error)
        return
    for name, own in kept.tasks.items():
        again = made.tasks[name]
        by_problem = dict(zip(again.problem_ids, zip(again.sums, again.counts, strict=True), strict=True))
        wanted = dict(zip(own.problem_ids, zip(own.sums, own.counts, strict=True), strict=True))
        if by_problem != wanted:
            yield f"task {name}: sums.json is not what verdicts.jsonl gives; {_SCORE} {stored.path}"


_SCORE = "write both again with: genbench score"


def _mark(ledger: Ledger, found: list[CheckedRun]) -> None:
    """Record which folders are there."""
    location = tables.location
    with ledger.write() as connection:
        for present in (True, False):
            paths = [item.path for item in found if (item.state != "missing") == present]
            for start in range(0, len(paths), 500):
                part = paths[start : start + 500]
                connection.execute(update(location).where(location.c.path.in_(part)).values(present=present))
