"""The epochs of a track's tasks, with the sums and counts of every problem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from sqlalchemy import Connection, select

from genbench.errors import InputError
from genbench.ledger import tables
from genbench.ledger.baseline import BaseDraw, base_draws
from genbench.ledger.commonproblems import CommonProblems, KeyProblems, read_problems
from genbench.ledger.records import Epoch, TaskSeries
from genbench.ledger.vectors import Vector, unpack
from genbench.stats.scores import Floats, Ints


@dataclass(frozen=True, slots=True)
class _Row:
    """One score with its vector."""

    uid: str
    position: int
    role: str
    key: int
    vector: Vector


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
    keys = read_problems(connection, {row.key for own in rows.values() for row in own})
    draws = base_draws(connection, track, keys)
    uids = _uids(connection, draws)
    return {
        task: replace(own, epochs=_epochs(own, rows[task], keys, draws, uids)) for task, own in series.items()
    }


def _rows(
    connection: Connection, track: str, tasks: Sequence[str], since: int | None
) -> dict[str, list[_Row]]:
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
    found: defaultdict[str, list[_Row]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.task].append(_Row(row.uid, row.position, row.role, row.key_id, unpack(row.vector)))
    for own in found.values():
        own.sort(key=lambda item: (item.position, item.uid))
    return found


def _uids(connection: Connection, draws: Mapping[int, BaseDraw]) -> dict[int, str]:
    run = tables.run
    numbers = {draw.run_id for draw in draws.values()}
    query = select(run.c.id, run.c.uid).where(run.c.id.in_(numbers))
    return {row.id: row.uid for row in connection.execute(query)}


def _epochs(
    series: TaskSeries,
    rows: Sequence[_Row],
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
        nearby = [row for row in anchors if row.key in own.keys and _within(row.position, start, end)]
        found.append(_epoch(series.task, keys, own, nearby, draw=draws.get(own.newest), uids=uids))
    return tuple(found)


@dataclass(slots=True)
class _Stretch:
    """Points in a row whose keys are compared: the newest key, all keys, and their common problems."""

    newest: int
    keys: set[int]
    common: CommonProblems
    rows: list[_Row]


def _stretches(
    points: Sequence[_Row], keys: Mapping[int, KeyProblems], draws: Mapping[int, BaseDraw]
) -> list[_Stretch]:
    """Return the stretches of points, old to new. A key joins the newer one if both share most problems."""
    found: list[_Stretch] = []
    for key, rows in reversed([(key, list(own)) for key, own in groupby(points, key=lambda row: row.key)]):
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
    anchors: Sequence[_Row],
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
    rows: Sequence[_Row], keys: Mapping[int, KeyProblems], common: CommonProblems
) -> tuple[Floats, Ints]:
    """Return sums and counts (rows, n) of the common problems.

    Raises:
        InputError: a row has another number of problems than its key.
    """
    places = {key: common.places_in(keys[key]) for key in {row.key for row in rows}}
    for row in rows:
        n = len(keys[row.key].ids)
        if len(row.vector.sums) != n:
            raise InputError(
                f"run {row.uid} has {len(row.vector.sums)} problems, its key {n}; the ledger is damaged, "
                "make it again with: genbench ledger rebuild"
            )
    shape = (len(rows), common.count)
    sums = np.array([row.vector.sums[places[row.key]] for row in rows], dtype=np.float64).reshape(shape)
    counts = np.array([row.vector.counts[places[row.key]] for row in rows], dtype=np.int64).reshape(shape)
    return sums, counts
