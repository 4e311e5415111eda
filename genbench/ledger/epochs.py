"""The epochs of a track's tasks, with the sums and counts of every problem."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from sqlalchemy import Connection, select

from genbench.errors import InputError
from genbench.ledger import tables
from genbench.ledger.baseline import BaseDraw, base_draws, groups_of
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


@dataclass(frozen=True, slots=True)
class _Key:
    """One key: its digest and its problems."""

    digest: str
    ids: tuple[str, ...]
    groups: tuple[str | None, ...] | None


def read_epochs(
    connection: Connection, track: str, series: Mapping[str, TaskSeries], since: int | None
) -> dict[str, TaskSeries]:
    """Return the series with their epochs.

    Args:
        track: the name of the track.
        series: the series by task, from `read_series`.
        since: only positions from this one on. None means all.
    """
    rows = _rows(connection, track, list(series), since)
    keys = _keys(connection, {row.key for own in rows.values() for row in own})
    draws = base_draws(connection, track)
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


def _keys(connection: Connection, numbers: set[int]) -> dict[int, _Key]:
    key, problems = tables.task_key, tables.problem_set
    query = (
        select(key.c.id, key.c.digest, problems.c.ids, problems.c.groups)
        .join(problems, problems.c.id == key.c.problem_set_id)
        .where(key.c.id.in_(numbers))
    )
    return {
        row.id: _Key(row.digest, tuple(json.loads(zlib.decompress(row.ids))), groups_of(row.groups))
        for row in connection.execute(query)
    }


def _uids(connection: Connection, draws: Mapping[int, BaseDraw]) -> dict[int, str]:
    run = tables.run
    numbers = {draw.run_id for draw in draws.values()}
    query = select(run.c.id, run.c.uid).where(run.c.id.in_(numbers))
    return {row.id: row.uid for row in connection.execute(query)}


def _epochs(
    series: TaskSeries,
    rows: Sequence[_Row],
    keys: Mapping[int, _Key],
    draws: Mapping[int, BaseDraw],
    uids: Mapping[int, str],
) -> tuple[Epoch, ...]:
    points = [row for row in rows if row.role == "point"]
    anchors = [row for row in rows if row.role == "anchor"]
    found: list[Epoch] = []
    stretches = [(key, list(own)) for key, own in groupby(points, key=lambda row: row.key)]
    for number, (key, own) in enumerate(stretches):
        start = own[0].position if number else None
        end = stretches[number + 1][1][0].position if number + 1 < len(stretches) else None
        nearby = [row for row in anchors if row.key == key and _within(row.position, start, end)]
        found.append(_epoch(series.task, keys[key], own, nearby, draw=draws.get(key), uids=uids))
    return tuple(found)


def _within(position: int, start: int | None, end: int | None) -> bool:
    return (start is None or position >= start) and (end is None or position < end)


def _epoch(
    task: str,
    key: _Key,
    rows: Sequence[_Row],
    anchors: Sequence[_Row],
    *,
    draw: BaseDraw | None,
    uids: Mapping[int, str],
) -> Epoch:
    sums, counts = _matrices(rows, len(key.ids))
    anchor_sums, anchor_counts = _matrices(anchors, len(key.ids))
    return Epoch(
        task=task,
        key=key.digest,
        problem_ids=key.ids,
        groups=key.groups,
        uids=tuple(row.uid for row in rows),
        positions=np.array([row.position for row in rows], dtype=np.int64),
        sums=sums,
        counts=counts,
        ks=counts.max(axis=1, initial=0),
        base_uid=None if draw is None else uids[draw.run_id],
        base_sums=None if draw is None else draw.vector.sums,
        base_counts=None if draw is None else draw.vector.counts,
        anchor_uids=tuple(row.uid for row in anchors),
        anchor_positions=np.array([row.position for row in anchors], dtype=np.int64),
        anchor_sums=anchor_sums,
        anchor_counts=anchor_counts,
    )


def _matrices(rows: Sequence[_Row], n: int) -> tuple[Floats, Ints]:
    """Return sums and counts (rows, n).

    Raises:
        InputError: a row has another number of problems than its key.
    """
    for row in rows:
        if len(row.vector.sums) != n:
            raise InputError(
                f"run {row.uid} has {len(row.vector.sums)} problems, its key {n}; the ledger is damaged, "
                "make it again with: genbench ledger rebuild"
            )
    sums = np.array([row.vector.sums for row in rows], dtype=np.float64).reshape(len(rows), n)
    counts = np.array([row.vector.counts for row in rows], dtype=np.int64).reshape(len(rows), n)
    return sums, counts
