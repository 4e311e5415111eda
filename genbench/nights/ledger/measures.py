"""The measures of each problem next to its score: how replies end, and bits per byte of the right choice."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from genbench.analysis.stopping import SharePair
from genbench.errors import InputError
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.differences import base_runs, groups_of
from genbench.nights.ledger.vectors import unpack
from genbench.stats.scores import Floats
from genbench.store.stopping import ENDINGS

Measures = Mapping[str, Sequence[float | None]]
"""By name, one value for each problem, None without one."""
CUT_OFF = "cut_off"


def pack_measures(measures: Measures | None) -> bytes | None:
    """Return measures as bytes."""
    return None if measures is None else zlib.compress(json.dumps(measures, sort_keys=True).encode(), 9)


def unpack_measures(data: bytes | None) -> Measures:
    """Return the measures of bytes, which are empty for a run of an older version.

    Raises:
        InputError: the bytes are damaged.
    """
    try:
        found = {} if data is None else json.loads(zlib.decompress(data))
        return {str(name): tuple(values) for name, values in found.items()}
    except (zlib.error, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"the ledger has a damaged row ({error}); make it again with: genbench ledger rebuild"
        ) from error


@dataclass(frozen=True, slots=True)
class MeasurePair:
    """The measures of one task in a run and in the base of its track, which was drawn under the same key."""

    base: Measures
    own: Measures
    groups: tuple[str | None, ...] | None
    samples: int
    """Scored samples of the run."""

    def columns(self, name: str) -> tuple[Floats, Floats] | None:
        """Return a measure of each problem in both (n,), NaN without one. None if one of them lacks it.

        Of a run whose replies were counted, an ending that no reply has is not stored.
        """
        found = []
        for side in (self.base, self.own):
            values = side.get(name)
            if values is None and name != CUT_OFF and CUT_OFF in side:
                values = [0.0 if value is not None else None for value in side[CUT_OFF]]
            if values is None:
                return None
            found.append(np.array(values, dtype=np.float64))
        return found[0], found[1]


def measure_pairs(ledger: Ledger, track: str, uid: str) -> dict[str, MeasurePair]:
    """Return the measures of a run next to those of its track's base, by task.

    Tasks are left out whose base was drawn under another key, or that have measures in neither.
    """
    with ledger.read() as connection:
        own = connection.execute(_scores().where(tables.run.c.uid == uid)).all()
        drawn = _base_measures(connection, track, [row.key_id for row in own if row.measures is not None])
    found = {}
    for row in own:
        run_id, measures = drawn.get(row.key_id, (row.run_id, b""))
        if row.measures is None or run_id == row.run_id:
            continue
        found[row.task] = MeasurePair(
            base=unpack_measures(measures),
            own=unpack_measures(row.measures),
            groups=groups_of(row.groups),
            samples=int(unpack(row.vector).counts.sum()),
        )
    return found


def _base_measures(connection: Connection, track: str, keys: Sequence[int]) -> dict[int, tuple[int, bytes]]:
    """Return by key the first run of the base that was drawn under it: its number and its measures."""
    score, runs = tables.score, base_runs(connection, track)
    query = select(score.c.key_id, score.c.run_id, score.c.measures).where(
        score.c.run_id.in_(runs), score.c.key_id.in_(keys), score.c.measures.is_not(None)
    )
    rows = sorted(connection.execute(query), key=lambda row: -runs.index(row.run_id))
    return {row.key_id: (row.run_id, row.measures) for row in rows}


def _scores() -> Any:
    """Return the query of scores with their measures."""
    score, series, key, problems = tables.score, tables.series, tables.task_key, tables.problem_set
    columns = (score.c.run_id, score.c.key_id, score.c.measures, score.c.vector)
    return (
        select(series.c.task, *columns, problems.c.groups)
        .join(score, score.c.series_id == series.c.id)
        .join(tables.run, tables.run.c.id == score.c.run_id)
        .join(key, key.c.id == score.c.key_id)
        .join(problems, problems.c.id == key.c.problem_set_id)
    )


def share_pairs(measured: Mapping[str, MeasurePair]) -> dict[str, SharePair]:
    """Return how the replies of each task end in the base and in a run, as far as both say so."""
    found = {}
    for name, pair in measured.items():
        columns = {ending: pair.columns(ending) for ending in ENDINGS}
        known = {ending: both for ending, both in columns.items() if both is not None}
        if len(known) == len(ENDINGS):
            base, own = ({ending: both[side].tolist() for ending, both in known.items()} for side in (0, 1))
            found[name] = SharePair(base, own, pair.groups, pair.samples)
    return found
