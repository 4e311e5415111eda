"""Read a ledger: tracks with their nights, series, changes and annotations. Nothing is written.

A series comes without the sums of problems, or as epochs with the sums and counts of every problem.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, func, select

from genbench.errors import InputError, nearest
from genbench.nights.database import driver_rows
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.differences import (
    BaseDraw,
    CommonProblems,
    KeyProblems,
    base_draws,
    read_problems,
)
from genbench.nights.ledger.measures import MeasurePair
from genbench.nights.ledger.note_application import LOOSE, meta_value, set_meta
from genbench.nights.ledger.notes import AnnotationNote, Change
from genbench.nights.ledger.run_facts import RunHead
from genbench.nights.ledger.vectors import problem_means, unpack_all
from genbench.stats.scores import Floats, Ints
from genbench.store.contract import differences
from genbench.store.manifest import TrackRole, position_label
from genbench.suite.block import is_headline
from genbench.suite.track import TrackKind


@dataclass(frozen=True, slots=True)
class Track:
    """A series of runs in order, with its budget of false alarms and its base."""

    name: str
    kind: TrackKind
    suite: str
    alarms_per_year: float
    nights_per_year: float
    base_uid: str | None
    base_reason: str


@dataclass(frozen=True, slots=True)
class Night(RunHead):
    """One run of a track. `path` is None if the run is in no folder any more."""

    position: int
    label: str
    role: TrackRole


@dataclass(frozen=True, slots=True)
class Epoch:
    """The nights of one task under one key, or under keys that differ in at most 5 % of the problems.

    Only common problems are in it, in the order of the newest key, which is `key`. `sums` and `counts` are
    (nights, problems). A count of 0 is a problem without a scored sample. The rows of the base are None if it
    was not drawn under this key or one like it. Anchors are later draws of the base's model.
    """

    task: str
    key: str
    problem_ids: tuple[str, ...]
    groups: tuple[str | None, ...] | None
    uids: tuple[str, ...]
    positions: Ints
    sums: Floats
    counts: Ints
    ks: Ints
    base_uid: str | None
    base_sums: Floats | None
    base_counts: Ints | None
    anchor_uids: tuple[str, ...]
    anchor_positions: Ints
    anchor_sums: Floats
    anchor_counts: Ints

    @property
    def base_means(self) -> Floats | None:
        """The mean score (problems,) of the base, None if it was not drawn."""
        if self.base_sums is None or self.base_counts is None:
            return None
        return problem_means(self.base_sums, self.base_counts)


@dataclass(frozen=True, slots=True)
class TaskSeries:
    """One task of a track: one entry for each finished point, old to new. NaN is unknown.

    `gating` is whether the task decides: the suite of its last point declares it gating, or declares none.
    `difference` is to the track's base, with its interval for new problems and for a re-run. `tokens` is the
    mean of completion tokens of a sample. `epochs` are empty if the vectors were not read.
    """

    task: str
    gating: bool
    n: int
    chance: float | None
    epochs: tuple[Epoch, ...]
    keys: tuple[str, ...]
    uids: tuple[str, ...]
    positions: Ints
    ks: Ints
    value: Floats
    ci_low: Floats
    ci_high: Floats
    rerun_low: Floats
    rerun_high: Floats
    difference: Floats
    difference_low: Floats
    difference_high: Floats
    difference_rerun_low: Floats
    difference_rerun_high: Floats
    truncated: Floats
    loops: Floats
    empty: Floats
    tokens: Floats
    cost: Floats
    parts: tuple[str | None, ...] = ()
    """The means of the named parts of the score as JSON, None for a run without. Empty: no run has any."""


@dataclass(frozen=True, slots=True)
class EpochStart:
    """The first point of a task under another key, and which parts of the key changed there.

    The parts are named as in `run_facts.key_record`: verifier, judge, data, questions, terms …
    """

    task: str
    uid: str
    changed: tuple[str, ...]
    edits: tuple[str, ...] = ()
    """What was edited, in words: settings with both values, and how many problems are asked otherwise."""


@dataclass(frozen=True, slots=True)
class TrackHistory:
    """A track as the ledger knows it.

    `points` are finished runs in order. `others` failed or are unfinished. `missing` are labels of nights
    without a finished point. `base` is the pinned run, None if it is not in the ledger. `night_noise` is the
    variance of one night's mean beyond its samples, by series that was searched for changes ("" is the pooled
    one).
    """

    track: Track
    points: tuple[Night, ...]
    anchors: tuple[Night, ...]
    others: tuple[Night, ...]
    base: Night | None
    series: Mapping[str, TaskSeries]
    changes: tuple[Change, ...]
    annotations: tuple[AnnotationNote, ...]
    missing: tuple[str, ...]
    night_noise: Mapping[str, float] = field(default_factory=dict)
    epoch_starts: tuple[EpochStart, ...] = ()
    """Among the points of `series`. Empty if they were not looked for."""
    measures: Mapping[str, MeasurePair] = field(default_factory=dict)
    """The measures of the newest point next to those of the base, by task, if they were read."""


_NIGHT_COLUMNS = tuple(
    tables.run.c[name]
    for name in (
        *("id", "packages", "failed", "position", "role", "uid", "model", "identity", "created", "state"),
        *("terms_digest", "circumstances_digest"),
    )
)
"""The columns of the table `run` that a night is made of."""
_NIGHT_FIELDS = tuple(column.name for column in _NIGHT_COLUMNS[3:])
"""Those that are fields of a night as they are."""


def _night_of(
    row: Sequence[Any], kind: TrackKind, path: str | None, known: dict[str, Mapping[str, str]]
) -> Night:
    """Return the night of a row of the table `run`.

    Args:
        row: the values of _NIGHT_COLUMNS.
        kind: the kind of the track, which says how the position is written.
        path: a folder that contains the run.
        known: texts of packages that were parsed before. Most runs of a track have the same.
    """
    _, packages, failed, position, *_ = row
    if packages not in known:
        known[packages] = json.loads(packages)
    return Night(
        **dict(zip(_NIGHT_FIELDS, row[3:], strict=True)),
        label=position_label(kind, position),
        failed=() if failed == "[]" else tuple(json.loads(failed)),
        packages=known[packages],
        path=path,
    )


def change_of(row: Any) -> Change:
    """Return the change of a row of the table `change`."""
    more = {"ci": (row.ci_low, row.ci_high), "suspects": json.loads(row.suspects)}
    return Change.from_object(row, **more)


_FLOATS = (
    *("value", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference", "difference_low"),
    *("difference_high", "difference_rerun_low", "difference_rerun_high", "truncated", "loops", "empty"),
    *("tokens", "cost"),
)
_SOUGHT = 1000
"""At most so many runs are named in one query."""


def read_series(
    connection: Connection, track: int, tasks: Collection[str] | None, since: int | None
) -> dict[str, TaskSeries]:
    """Return the series of a track by task, in alphabetical order.

    Args:
        track: the number of the track.
        tasks: only these. None means all.
        since: only positions from this one on. None means all.
    """
    if tasks is not None and not tasks:
        return {}
    score, series = tables.score, tables.series
    key, problems = tables.task_key, tables.problem_set
    points = _points(connection, track, since)
    keys = {
        row.id: (row.digest, row.n)
        for row in connection.execute(
            select(key.c.id, key.c.digest, problems.c.n).join(problems, problems.c.id == key.c.problem_set_id)
        )
    }
    # The database seeks each series: a range over all positions would read every row of the table.
    columns = [score.c.position, score.c.run_id, score.c.key_id, score.c.k, score.c.gating, score.c.chance]
    columns.append(score.c.parts)
    query = select(series.c.task, *columns, *(score.c[name] for name in _FLOATS)).join(
        score, score.c.series_id == series.c.id
    )
    query = query.where(series.c.track_id == track)
    if tasks is not None:
        query = query.where(series.c.task.in_(list(tasks)))
    if since is not None:
        query = query.where(score.c.position >= since)
        if connection.dialect.name == "postgresql" and len(points) <= _SOUGHT:
            # It stores rows by night and would read the whole table for a range of positions.
            query = query.where(score.c.run_id.in_(list(points)))
    found: defaultdict[str, list[Sequence[Any]]] = defaultdict(list)
    for values in driver_rows(connection, query):
        if values[2] in points:
            found[values[0]].append(values)
    ordered = {task: _in_order(sorted(rows, key=itemgetter(1)), points) for task, rows in found.items()}
    declaring = _declaring(connection, {rows[-1][2] for rows in ordered.values()})
    return {
        task: _series(task, ordered[task], points, keys, all_gate=ordered[task][-1][2] not in declaring)
        for task in sorted(ordered)
    }


def _declaring(connection: Connection, runs: Collection[int]) -> set[int]:
    """Return the runs whose suite declares a gating task. In the others every task gates."""
    score = tables.score
    query = select(score.c.run_id).where(score.c.run_id.in_(list(runs)), score.c.gating).distinct()
    return set(connection.scalars(query))


def _points(connection: Connection, track: int, since: int | None) -> dict[int, str]:
    """Return the uids of the finished points of a track by their number in the ledger."""
    run = tables.run
    query = select(run.c.id, run.c.uid).where(
        run.c.track_id == track, run.c.role == "point", run.c.state == "finished"
    )
    if since is not None:
        query = query.where(run.c.position >= since)
    return dict(driver_rows(connection, query))


def _series(
    task: str,
    rows: list[Sequence[Any]],
    points: dict[int, str],
    keys: dict[int, tuple[str, int]],
    *,
    all_gate: bool,
) -> TaskSeries:
    last = rows[-1]
    # numpy reads columns of numbers faster than rows.
    _, positions, runs, own_keys, ks, _, _, parts, *numbers = zip(*rows, strict=True)
    columns: dict[str, Floats] = {
        name: np.array(column, dtype=np.float64) for name, column in zip(_FLOATS, numbers, strict=True)
    }
    return TaskSeries(
        task=task,
        gating=bool(last[5]) or (all_gate and is_headline(task)),
        n=keys[last[3]][1],
        chance=last[6],
        epochs=(),
        keys=tuple(keys[key][0] for key in own_keys),
        uids=tuple(points[run] for run in runs),
        positions=np.array(positions, dtype=np.int64),
        ks=np.array(ks, dtype=np.int64),
        parts=parts if any(parts) else (),
        **columns,
    )


def _in_order(rows: list[Sequence[Any]], points: dict[int, str]) -> list[Sequence[Any]]:
    """Return rows by position. Runs of one position are in the order of their uids."""
    if len({row[1] for row in rows}) == len(rows):
        return rows
    ordered: list[Sequence[Any]] = []
    for _, same in groupby(rows, key=itemgetter(1)):
        ordered += sorted(same, key=lambda row: points[row[2]])
    return ordered


def read_epochs(
    connection: Connection, track: str, series: Mapping[str, TaskSeries], since: int | None
) -> dict[str, TaskSeries]:
    """Return the series with their epochs.

    Args:
        track: the name of the track.
        series: the series by task, from `read_series`.
        since: only positions from this one on. None means all.
    """
    if not series:
        return {}
    rows = _rows(connection, track, list(series), since)
    keys = read_problems(connection, {row.key_id for own in rows.values() for row in own})
    draws = base_draws(connection, track, keys)
    uids = _uids(connection, draws)
    return {
        task: replace(own, epochs=_epochs(own, rows[task], keys, draws, uids)) for task, own in series.items()
    }


class _ScoreRow(NamedTuple):
    """The score of one run, with its vector as bytes."""

    uid: str
    role: str
    position: int
    key_id: int
    vector: bytes


def _rows(
    connection: Connection, track: str, tasks: Sequence[str], since: int | None
) -> dict[str, list[Any]]:
    """Return the scores of finished runs by task, with their vectors, by position and uid."""
    run, score, series = tables.run, tables.score, tables.series
    query = (
        select(series.c.task, run.c.uid, run.c.role, score.c.position, score.c.key_id, score.c.vector)
        .join(score, score.c.series_id == series.c.id)
        .join(run, run.c.id == score.c.run_id)
        .join(tables.track, tables.track.c.id == series.c.track_id)
        .where(tables.track.c.name == track, series.c.task.in_(tasks), run.c.state == "finished")
    )
    if since is not None:
        query = query.where(score.c.position >= since)
    found: defaultdict[str, list[Any]] = defaultdict(list)
    for task, *values in driver_rows(connection, query):
        found[task].append(_ScoreRow(*values))
    for own in found.values():
        own.sort(key=attrgetter("position", "uid"))
    return found


def _uids(connection: Connection, draws: Mapping[int, BaseDraw]) -> dict[int, str]:
    run = tables.run
    numbers = {draw.run_id for draw in draws.values()}
    query = select(run.c.id, run.c.uid).where(run.c.id.in_(numbers))
    return {row.id: row.uid for row in connection.execute(query)}


def _epochs(
    series: TaskSeries,
    rows: Sequence[Any],
    keys: Mapping[int, KeyProblems],
    draws: Mapping[int, BaseDraw],
    uids: Mapping[int, str],
) -> tuple[Epoch, ...]:
    points = [row for row in rows if row.role == "point"]
    anchors = [row for row in rows if row.role == "anchor"]
    stretches = _stretches(points, keys, draws)
    found: list[Epoch] = []
    for number, own in enumerate(stretches):
        start = own.rows[0].position if number else None
        end = stretches[number + 1].rows[0].position if number + 1 < len(stretches) else None
        nearby = [row for row in anchors if row.key_id in own.keys and _within(row.position, start, end)]
        found.append(_epoch(series.task, keys, own, nearby, draw=draws.get(own.newest), uids=uids))
    return tuple(found)


@dataclass(slots=True)
class _Stretch:
    """Points in a row whose keys are compared: the newest key, all keys, and their common problems."""

    newest: int
    keys: set[int]
    common: CommonProblems
    rows: list[Any]


def _stretches(
    points: Sequence[Any], keys: Mapping[int, KeyProblems], draws: Mapping[int, BaseDraw]
) -> list[_Stretch]:
    """Return the stretches of points, old to new. A key joins the newer one if both share most problems."""
    found: list[_Stretch] = []
    for key, rows in reversed([(key, list(own)) for key, own in groupby(points, key=lambda row: row.key_id)]):
        if found and found[-1].common.take(keys[key]):
            found[-1].keys.add(key)
            found[-1].rows[:0] = rows
            continue
        common = CommonProblems(keys[key])
        draw = draws.get(key)
        if draw is not None and draw.shared is not None:
            common.keep(draw.shared)
        found.append(_Stretch(key, {key}, common, rows))
    return found[::-1]


def _within(position: int, start: int | None, end: int | None) -> bool:
    return (start is None or position >= start) and (end is None or position < end)


def _epoch(
    task: str,
    keys: Mapping[int, KeyProblems],
    own: _Stretch,
    anchors: Sequence[Any],
    *,
    draw: BaseDraw | None,
    uids: Mapping[int, str],
) -> Epoch:
    newest, common = keys[own.newest], own.common
    sums, counts = _matrices(own.rows, keys, common)
    anchor_sums, anchor_counts = _matrices(anchors, keys, common)
    places = common.places_in(newest)
    return Epoch(
        task=task,
        key=newest.digest,
        problem_ids=common.ids,
        groups=common.groups,
        uids=tuple(row.uid for row in own.rows),
        positions=np.array([row.position for row in own.rows], dtype=np.int64),
        sums=sums,
        counts=counts,
        ks=counts.max(axis=1, initial=0),
        base_uid=None if draw is None else uids[draw.run_id],
        base_sums=None if draw is None else draw.vector.sums[places],
        base_counts=None if draw is None else draw.vector.counts[places],
        anchor_uids=tuple(row.uid for row in anchors),
        anchor_positions=np.array([row.position for row in anchors], dtype=np.int64),
        anchor_sums=anchor_sums,
        anchor_counts=anchor_counts,
    )


def _matrices(
    rows: Sequence[Any], keys: Mapping[int, KeyProblems], common: CommonProblems
) -> tuple[Floats, Ints]:
    """Return sums and counts (rows, n) of the common problems.

    Raises:
        InputError: a row has another number of problems than its key.
    """
    shape = (len(rows), common.count)
    sums, counts = np.empty(shape), np.empty(shape, dtype=np.int64)
    of_key: defaultdict[int, list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        of_key[row.key_id].append(at)
    for key, own in of_key.items():
        places, n = common.places_in(keys[key]), len(keys[key].ids)
        found, known = unpack_all([rows[at].vector for at in own])
        for at, vector in zip(own, found, strict=True):
            if len(vector) != n:
                raise InputError(
                    f"run {rows[at].uid} has {len(vector)} problems, its key {n}; the ledger is damaged, "
                    "make it again with: genbench ledger rebuild"
                )
        sums[own], counts[own] = np.asarray(found)[:, places], np.asarray(known)[:, places]
    return sums, counts


_DAYS_SHOWN = 400
"""Missing nights before that many days are not listed."""


def track_names(ledger: Ledger) -> list[str]:
    """Return the names of the tracks that have a run, in alphabetical order."""
    track, run = tables.track, tables.run
    query = select(track.c.name).join(run, run.c.track_id == track.c.id).distinct().order_by(track.c.name)
    return [row.name for row in ledger.rows(query) if row.name != LOOSE]


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


def with_epochs(ledger: Ledger, history: TrackHistory, last: int) -> TrackHistory:
    """Return a history with its newest points only, whose series have the sums and counts of every problem.

    The numbers of the series stay as they are.

    Args:
        last: the newest so many positions of points.
    """
    newest = sorted({point.position for point in history.points})[-last:]
    since = newest[0] if newest else None
    with ledger.read() as connection:
        series = read_epochs(connection, history.track.name, history.series, since)
    points = tuple(point for point in history.points if since is None or point.position >= since)
    return replace(history, points=points, series=series)


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
        noise = json.loads(meta_value(connection, _noise_key(name)) or "{}")
    settings = dict(row._mapping)
    del settings["id"]
    points = tuple(night for night in nights if night.role == "point" and night.state == "finished")
    return TrackHistory(
        track=Track(**settings),
        points=points,
        anchors=tuple(night for night in nights if night.role == "anchor" and night.state == "finished"),
        others=tuple(night for night in nights if night.state != "finished"),
        base=base,
        series=series,
        changes=changes,
        annotations=annotations,
        missing=_missing(row.kind, points),
        night_noise=noise,
    )


def store_night_noise(connection: Connection, track: str, variances: Mapping[str, float]) -> None:
    """Remember the variance of one night's mean beyond its samples, by series ("" is the pooled one)."""
    set_meta(connection, _noise_key(track), json.dumps(variances))


def _noise_key(track: str) -> str:
    return f"night noise {track}"


def _track_row(connection: Connection, name: str) -> Any:
    track, run = tables.track, tables.run
    row = connection.execute(select(track).where(track.c.name == name)).first()
    if row is None or name == LOOSE or not row.kind:
        query = select(track.c.name).join(run, run.c.track_id == track.c.id).distinct()
        names = [found for found in connection.scalars(query) if found != LOOSE]
        hint = nearest(name, names) or "; it has none yet: genbench ledger add DIR"
        raise InputError(f"the ledger has no track '{name}'{hint}")
    return row


def _known_tasks(connection: Connection, track: int, tasks: Collection[str] | None) -> list[str] | None:
    if tasks is None:
        return None
    series = tables.series
    names = connection.scalars(select(series.c.task).where(series.c.track_id == track)).all()
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
    return min(connection.scalars(query), default=None)


def _nights(connection: Connection, row: Any, since: int | None) -> list[Night]:
    run = tables.run
    query = select(*_NIGHT_COLUMNS).where(run.c.track_id == row.id)
    if since is not None:
        query = query.where(run.c.position >= since)
    found = driver_rows(connection, query.order_by(run.c.position, run.c.created, run.c.uid))
    paths = _paths(connection, [values[0] for values in found])
    known: dict[str, Mapping[str, str]] = {}
    return [_night_of(values, row.kind, paths.get(values[0]), known) for values in found]


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
    found = connection.execute(select(*_NIGHT_COLUMNS).where(run.c.uid == row.base_uid)).first()
    if found is None:
        return None
    return _night_of(found, row.kind, _paths(connection, [found.id]).get(found.id), {})


def _changes(connection: Connection, name: str) -> tuple[Change, ...]:
    change = tables.change
    query = select(change).where(change.c.track == name).order_by(change.c.found_position, change.c.id)
    return tuple(change_of(row) for row in connection.execute(query))


def read_epoch_starts(ledger: Ledger, series: Mapping[str, TaskSeries]) -> tuple[EpochStart, ...]:
    """Return where tasks go on under another key, and what changed there, task by task from old to new."""
    starts = [
        (task, uid, before, after)
        for task, own in series.items()
        for uid, before, after in zip(own.uids[1:], own.keys, own.keys[1:], strict=False)
        if before != after
    ]
    if not starts:
        return ()
    key, wanted = tables.task_key, {digest for *_, before, after in starts for digest in (before, after)}
    with ledger.read() as connection:
        rows = connection.execute(select(key.c.digest, key.c.record).where(key.c.digest.in_(wanted)))
        records = {row.digest: json.loads(zlib.decompress(row.record)) for row in rows}
    return tuple(
        EpochStart(
            task, uid, _changed(records[before], records[after]), _edits(records[before], records[after])
        )
        for task, uid, before, after in starts
    )


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    names = dict.fromkeys((*before, *after))
    return tuple(name for name in names if name != "asked" and before.get(name) != after.get(name))


_EDITS = 4
_SETTINGS = ("decoding", "fields", "terms", "reasoning", "judge")


def _edits(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what was edited between two keys of a task, in words."""
    found = [line for name in _SETTINGS for line in differences(before.get(name), after.get(name), name)]
    old, new = before.get("asked"), after.get("asked")
    if isinstance(old, list) and isinstance(new, list):
        moved = sum(was != now for was, now in zip(old, new, strict=False))
        count = len(new)
        if len(old) != count:
            found.append(f"{len(old)} -> {count} problems")
        elif moved:
            found.append(f"prompt or reference of {moved} of {count} problems")
    more = len(found) - _EDITS
    return (*found[:_EDITS], *([f"… and {more} more"] if more > 0 else []))


def _annotations(connection: Connection, name: str) -> tuple[AnnotationNote, ...]:
    annotation = tables.annotation
    query = (
        select(annotation)
        .where(annotation.c.track == name)
        .order_by(annotation.c.position, annotation.c.at, annotation.c.kind, annotation.c.id)
    )
    return tuple(AnnotationNote.from_object(row, note="annotation") for row in connection.execute(query))


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


MOST_PREVIOUS = 20
"""Earlier runs that are read at most, the newest first."""


def stored_runs(ledger: Ledger, track: str, most: int = 60) -> list[Path]:
    """Return the folders of the newest runs of a track that are there, from old to new.

    Raises:
        InputError: there is no such track, or fewer than two of its folders are there.
    """
    nights = recent(ledger, track, nights=most).points
    found = [Path(night.path) for night in nights if night.path is not None and Path(night.path).is_dir()]
    if len(found) < 2:
        raise InputError(f"track {track}: the folders of {len(found)} runs are there; wanted two or more")
    return found


def previous_runs(ledger: Ledger, track: str, tested: Path, most: int = MOST_PREVIOUS) -> list[Path]:
    """Return the folders of the track's base, of its earlier runs from old to new, and the tested one.

    Runs whose folder is gone are left out, and so is the tested run itself.

    Raises:
        InputError: there is no such track, it has no base, its folder is gone, or the tested run is the base.
    """
    history = recent(ledger, track, nights=most + 1)
    if history.base is None or history.base.path is None or not Path(history.base.path).is_dir():
        raise InputError(
            f"track {track}: the folder of its base is not there; add it with `genbench ledger add`, or name "
            "the runs: genbench contamination runs BASE EARLIER... TUNED"
        )
    own = tested.resolve()
    if Path(history.base.path).resolve() == own:
        raise InputError(f"{tested}: is the base of track {track}; name a later run")
    folders = [Path(night.path) for night in history.points if night.path is not None]
    earlier = [folder for folder in folders if folder.resolve() != own and folder.is_dir()]
    return [Path(history.base.path), *earlier[-most:], tested]
