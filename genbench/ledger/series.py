"""The series of a track's tasks: one entry for each finished point, without the sums of problems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from genbench.ledger import tables
from genbench.ledger.connecting import driver_rows
from genbench.ledger.records import TaskSeries
from genbench.stats.scores import Floats

_FLOATS = (
    *("value", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference", "difference_low"),
    *("difference_high", "difference_rerun_low", "difference_rerun_high", "truncated", "tokens", "cost"),
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
    return {
        task: _series(task, sorted(rows, key=itemgetter(1)), points, keys)
        for task, rows in sorted(found.items())
    }


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
    task: str, rows: list[Sequence[Any]], points: dict[int, str], keys: dict[int, tuple[str, int]]
) -> TaskSeries:
    rows = _in_order(rows, points)
    last = rows[-1]
    numbers: Floats = np.array([row[7:] for row in rows], dtype=np.float64)
    columns = dict(zip(_FLOATS, numbers.T, strict=True))
    return TaskSeries(
        task=task,
        gating=bool(last[5]),
        n=keys[last[3]][1],
        chance=last[6],
        epochs=(),
        keys=tuple(keys[row[3]][0] for row in rows),
        uids=tuple(points[row[2]] for row in rows),
        positions=np.array([row[1] for row in rows], dtype=np.int64),
        ks=np.array([row[4] for row in rows], dtype=np.int64),
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
