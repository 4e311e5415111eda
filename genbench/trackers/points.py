"""The scores of runs as messages for experiment trackers: each run once, and again if it was scored again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, select

from genbench.ledger import tables as ledger_tables
from genbench.ledger.database import Ledger
from genbench.queue import tables
from genbench.queue.database import Queue
from genbench.queue.messages import MessageKind, put_message
from genbench.store.contract import digest

KIND: MessageKind = "scores"
MOST = 200
"""Runs of one message. Older ones are not exported."""
COLUMNS = (
    *("value", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference", "difference_low"),
    *("difference_high", "truncated", "tokens", "cost"),
)
"""What is exported of each task. Scores, differences and shares are fractions of 1."""


def tell_points(ledger: Ledger, queue: Queue, track: str) -> int:
    """Put one message with the scores of all runs of a track that no message had. Return their number."""
    with ledger.read() as connection:
        runs = _runs(connection, track)
        with queue.write() as own:
            table = tables.message
            rows = own.execute(
                select(table.c.detail).where(table.c.kind == KIND, table.c.track == track)
            ).all()
            told = {name for row in rows for name in json.loads(row.detail)["told"]}
            fresh = [run for run in runs if _name(run) not in told]
            if not fresh:
                return 0
            names = [_name(run) for run in fresh]
            detail = {
                "told": names,
                "kind": fresh[0].kind,
                "points": [_point(connection, run) for run in fresh],
            }
            put_message(
                own,
                f"{KIND}:{digest([track, names])[:16]}",
                KIND,
                track,
                f"{track}: scores of {len(fresh)} runs",
                detail=detail,
            )
    return len(fresh)


def _runs(connection: Connection, track: str) -> Sequence[Any]:
    """Return the newest finished points of a track, in the order of their positions."""
    run, own = ledger_tables.run, ledger_tables.track
    query = (
        select(run.c.id, run.c.uid, run.c.source_digest, run.c.position, run.c.model, own.c.kind)
        .join(own, own.c.id == run.c.track_id)
        .where(own.c.name == track, run.c.role == "point", run.c.state == "finished")
        .order_by(run.c.position.desc(), run.c.id.desc())
        .limit(MOST)
    )
    return connection.execute(query).all()[::-1]


def _name(run: Any) -> str:
    return f"{run.uid} {run.source_digest[:12]}"


def _point(connection: Connection, run: Any) -> dict[str, Any]:
    """Return the scores of a run: `TASK/COLUMN` -> number. What is not known is left out."""
    score, series = ledger_tables.score, ledger_tables.series
    query = (
        select(series.c.task, *(score.c[name] for name in COLUMNS))
        .join(series, series.c.id == score.c.series_id)
        .where(score.c.run_id == run.id)
        .order_by(series.c.task)
    )
    values = {
        f"{row.task}/{name}": float(value)
        for row in connection.execute(query)
        for name in COLUMNS
        if (value := getattr(row, name)) is not None
    }
    return {"uid": run.uid, "model": run.model, "position": run.position, "values": values}
