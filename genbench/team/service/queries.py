"""The tracks, runs and changes that a path names. Errors: 404 missing, 410 files are gone.

`RunJson` is the form of answers with texts from run folders.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import Path
from fastapi.responses import JSONResponse
from sqlalchemy import Column, ColumnElement, Select, func, or_, select

from genbench.errors import InputError
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.listing import ListedRun, listed_runs, select_runs
from genbench.nights.trend.record import TrendChange
from genbench.store.json_files import encode
from genbench.store.stored_run import StoredRun
from genbench.team.service.responses import GoneError, NotFoundError, refused_as

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


@dataclass(frozen=True, slots=True)
class RunSearch:
    """What runs are looked for. Empty texts mean any. Dates are those on which runs were made."""

    text: str = ""
    """Words, each in model, track, suite, uid, state or reason of failure, or in a remark on the night."""
    model: str = ""
    """A part of the model's name, in any case."""
    track: str = ""
    suite: str = ""
    since: str = ""
    until: str = ""
    uid: str = ""
    tag: str = ""
    meta: str = ""
    """KEY or KEY=VALUE of the user's own values."""

    def __post_init__(self) -> None:
        for name, value in (("since", self.since), ("until", self.until)):
            if value and not _is_date(value):
                raise InputError(f"{name} {value[:20]}: wanted a date like 2026-11-22")

    def among(self, query: Select[Any]) -> Select[Any]:
        """Return a query of runs, made from `select_runs`, with only these."""
        own, run = tables.track, tables.run
        exact = ((own.c.name, self.track), (run.c.suite, self.suite), (run.c.uid, self.uid))
        for column, value in exact:
            query = query.where(column == value) if value else query
        if self.model:
            query = query.where(run.c.model.icontains(self.model, autoescape=True))
        if self.since:
            query = query.where(run.c.created >= self.since)
        if self.until:
            query = query.where(func.substr(run.c.created, 1, 10) <= self.until)
        if self.tag:
            query = query.where(run.c.tags.contains(json.dumps(self.tag), autoescape=True))
        if self.meta:
            key, equals, value = self.meta.partition("=")
            text = f"{json.dumps(key)}: " + (_meta_json(value) if equals else "")
            query = query.where(_has_value(text, whole=bool(equals)))
        for word in self.text.split():
            query = query.where(_has_word(word))
        return query


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _meta_json(text: str) -> str:
    """Return a value as the ledger has it: a number, or a text."""
    try:
        return json.dumps(float(text))
    except ValueError:
        return json.dumps(text)


def _has_value(text: str, *, whole: bool) -> ColumnElement[bool]:
    meta = tables.run.c.meta
    if not whole:
        return meta.contains(text, autoescape=True)
    return or_(*(meta.contains(text + end, autoescape=True) for end in (",", "}")))


def _has_word(word: str) -> ColumnElement[bool]:
    """Return the condition that a word occurs in something that is known of a run."""
    own, run, remark = tables.track, tables.run, tables.annotation
    given = (run.c.model, own.c.name, run.c.suite, run.c.uid, run.c.state, run.c.failed)
    said = (func.coalesce(column, "") for column in (run.c.tags, run.c.note, run.c.meta))
    named: tuple[ColumnElement[Any], ...] = (*given, *said)
    about = select(remark.c.id).where(
        remark.c.track == own.c.name,
        remark.c.position == run.c.position,
        remark.c.text.icontains(word, autoescape=True),
    )
    return or_(*(column.icontains(word, autoescape=True) for column in named), about.exists())


def read_runs(ledger: Ledger, wanted: RunSearch, start: int, limit: int) -> list[ListedRun]:
    """Return some of the runs that are looked for, newest first."""
    run = tables.run
    query = wanted.among(select_runs()).order_by(run.c.created.desc(), run.c.id.desc())
    return listed_runs(ledger, query.offset(start).limit(limit))


def count_runs(ledger: Ledger, wanted: RunSearch) -> int:
    """Return how many runs are looked for."""
    found = wanted.among(select_runs()).with_only_columns(func.count())
    return int(ledger.rows(found)[0][0])


MEASURES = ("seconds", "tokens", "cost")
"""Numbers of a run that are columns of a list besides scores and values of the user's own."""


@dataclass(frozen=True, slots=True)
class RunTable:
    """Further columns of a list of runs: `columns` by name, and the values of each run by uid."""

    columns: tuple[str, ...]
    values: dict[str, tuple[float | bool | str | None, ...]]


def run_table(ledger: Ledger, runs: Sequence[ListedRun], columns: Sequence[str]) -> RunTable:
    """Return further columns of some runs: `task:NAME` (its score), `meta:KEY`, tags, note, or a measure."""
    score, series, run = tables.score, tables.series, tables.run
    uids = [item.uid for item in runs]
    tasks = [name.removeprefix("task:") for name in columns if name.startswith("task:")]
    scores: dict[tuple[str, str], float | None] = {}
    if tasks and uids:
        query = (
            select(run.c.uid, series.c.task, score.c.value)
            .join(score, score.c.run_id == run.c.id)
            .join(series, series.c.id == score.c.series_id)
            .where(run.c.uid.in_(uids), series.c.task.in_(tasks))
        )
        scores = {(row[0], row[1]): row[2] for row in ledger.rows(query)}
    numbers = {
        row[0]: dict(zip(MEASURES, row[1:], strict=True))
        for row in ledger.rows(
            select(run.c.uid, *(run.c[name] for name in MEASURES)).where(run.c.uid.in_(uids))
        )
    }

    def cell(item: ListedRun, name: str) -> float | bool | str | None:
        kind, _, own = name.partition(":")
        if kind == "task":
            return scores.get((item.uid, own))
        if kind == "meta":
            return item.meta.get(own)
        return {"tags": " ".join(item.tags), "note": item.note}.get(name, numbers[item.uid].get(name))

    kept = tuple(dict.fromkeys(name for name in columns if _is_column(name)))
    return RunTable(kept, {item.uid: tuple(cell(item, name) for name in kept) for item in runs})


def _is_column(name: str) -> bool:
    return name in ("tags", "note", *MEASURES) or name.startswith(("task:", "meta:"))


def known_meta(ledger: Ledger) -> list[str]:
    """Return the names of all values of the user's own, in alphabetical order."""
    texts = known_values(ledger, tables.run.c.meta)
    return sorted({key for text in texts for key in json.loads(text)})


def known_tags(ledger: Ledger) -> list[str]:
    """Return all tags, in alphabetical order."""
    return sorted({tag for text in known_values(ledger, tables.run.c.tags) for tag in json.loads(text)})


def known_values(ledger: Ledger, column: Column[Any]) -> list[str]:
    """Return the values of a column of a table, in alphabetical order and without the empty one."""
    return [row[0] for row in ledger.rows(select(column).distinct().order_by(column)) if row[0]]


def runs_below(ledger: Ledger, folder: str, label: str | None = None) -> list[ListedRun]:
    """Return the runs that are in a folder, by model.

    Args:
        label: only those of this night or step, and anchors. None means all.
    """
    place = tables.location.c.path
    inside = or_(place == folder, place.startswith(f"{folder}/", autoescape=True))
    known = select(tables.location.c.run_id).where(inside)
    found = listed_runs(ledger, select_runs().where(tables.run.c.id.in_(known)).order_by(tables.run.c.model))
    return [run for run in found if label is None or run.label == label or run.role == "anchor"]


def read_run(ledger: Ledger, uid: str) -> ListedRun:
    """Return one run.

    Raises:
        NotFoundError: the ledger has none of this uid.
    """
    found = listed_runs(ledger, select_runs().where(tables.run.c.uid == uid))
    if not found:
        raise NotFoundError(f"the ledger has no run '{uid[:50]}'")
    return found[0]


REPORT = "report.html"
_HEAD_BYTES = 1 << 20


def folder_of(run: ListedRun) -> FilePath | None:
    """Return a folder of a run that is there, None if there is none."""
    return next((path for text in run.paths if ((path := FilePath(text)) / "manifest.json").is_file()), None)


def unrated_tasks(run: ListedRun) -> list[str]:
    """Return the tasks of a run that nothing scores and whose texts are here."""
    folder = folder_of(run)
    if folder is None or run.kept != "all":
        return []
    tasks = StoredRun(folder).manifest.tasks
    return [name for name, task in tasks.items() if task.is_unrated]


def report_of(run: ListedRun) -> FilePath | None:
    """Return the report of a run, None if it has none.

    The models of one command have one report, in the folder above. It lists the folders of its runs, so that
    of other runs is none of this one.
    """
    folder = folder_of(run)
    if folder is None:
        return None
    if (own := folder / REPORT).is_file():
        return own
    above = folder.parent / REPORT
    return above if above.is_file() and _names_run(above, folder.name) else None


def _names_run(report: FilePath, model: str) -> bool:
    """Return whether a report has a run of this name."""
    with report.open("rb") as file:
        return f">{html.escape(model)}<".encode() in file.read(_HEAD_BYTES)


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


MOST_POINTS = 10_000
"""Runs of a chart, at most."""


def point_choices(count: int, shown: int) -> list[tuple[int, bool]]:
    """Return how many of `count` runs a chart may show, each with whether it shows so many now."""
    sizes = [size for size in (30, 60, 120, 365) if size < count] + [max(2, count)]
    now = min((size for size in sizes if size >= shown), default=sizes[-1])
    return [(size, size == now) for size in sizes]
