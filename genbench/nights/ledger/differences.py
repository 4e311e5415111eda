"""Differences of runs over the problems that they share, computed from the scores in the ledger.

Every run of a track has its difference to the track's base. A task whose data changed a little keeps its
series, because only the shared problems are compared.
"""

from __future__ import annotations

import json
import math
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, bindparam, select, update

from genbench.errors import InputError
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.vectors import Vector, unpack
from genbench.stats.comparison.differences import difference_interval
from genbench.stats.resample import cluster
from genbench.stats.scores import Bools, Floats, Ints
from genbench.store.contract import digest

SHARE = 0.95
"""Two keys are compared on their common problems if these are at least this share of either."""
_MAY_DIFFER = frozenset({"data", "questions", "asked"})
"""Parts of a key's record that differ if some of the problems do."""


@dataclass(frozen=True, slots=True)
class KeyProblems:
    """The problems of one key.

    `terms` is a digest of everything else in the key. `asked` are the digests of each problem's prompts and
    references, None for a run of an older version. `groups` are the clusters, None if there are none.
    """

    digest: str
    task: str
    terms: str
    ids: tuple[str, ...]
    groups: tuple[str | None, ...] | None
    asked: tuple[str, ...] | None

    @property
    def places(self) -> dict[tuple[str, str], int]:
        """Where each problem is, by its id and what is asked."""
        return {name: place for place, name in enumerate(zip(self.ids, self.asked or (), strict=False))}


class CommonProblems:
    """The problems that several keys share, in the order of the newest key.

    Args:
        newest: the key that the others are compared with.
    """

    def __init__(self, newest: KeyProblems) -> None:
        self._newest = newest
        self._kept: Bools = np.ones(len(newest.ids), dtype=bool)

    def take(self, other: KeyProblems) -> bool:
        """Take another key, unless too few common problems would remain. Return whether it was taken."""
        if other.digest == self._newest.digest:
            return True
        if other.terms != self._newest.terms or None in (other.asked, self._newest.asked):
            return False
        known = other.places
        shared = np.array([name in known for name in self._newest.places], dtype=bool)
        return self.keep(shared, len(other.ids))

    def keep(self, shared: Bools, size: int = 0) -> bool:
        """Keep only `shared` problems of the newest key, (n,), if these are enough. Return whether they are.

        Args:
            size: the number of problems of the other key.
        """
        kept = self._kept & shared
        enough = bool(kept.sum() >= SHARE * max(len(self._kept), size))
        if enough:
            self._kept = kept
        return enough

    @property
    def count(self) -> int:
        """The number of common problems."""
        return int(self._kept.sum())

    @property
    def ids(self) -> tuple[str, ...]:
        """The common problems."""
        return tuple(self._newest.ids[place] for place in np.flatnonzero(self._kept))

    @property
    def groups(self) -> tuple[str | None, ...] | None:
        """The clusters of the common problems."""
        groups = self._newest.groups
        return None if groups is None else tuple(groups[place] for place in np.flatnonzero(self._kept))

    def places_in(self, key: KeyProblems) -> Ints | slice:
        """Return where the common problems are in a key that was taken: an index of its arrays."""
        if key.digest == self._newest.digest:
            return slice(None) if self._kept.all() else np.flatnonzero(self._kept).astype(np.int64)
        names = [name for name, kept in zip(self._newest.places, self._kept, strict=True) if kept]
        known = key.places
        return np.array([known[name] for name in names], dtype=np.int64)


def spread(vector: Vector, source: KeyProblems, target: KeyProblems) -> tuple[Vector, Bools]:
    """Return the sums of one key in the order of another, and which problems (n,) both have.

    A problem that `source` lacks has the count 0.
    """
    common = CommonProblems(target)
    if not common.take(source):
        raise AssertionError("the keys have too few common problems")
    shared = np.zeros(len(target.ids), dtype=bool)
    shared[common.places_in(target)] = True
    places = common.places_in(source)

    def moved(values: Any) -> Any:
        found = np.zeros(len(target.ids), dtype=values.dtype)
        found[shared] = values[places]
        return found

    squares = None if vector.squares is None else moved(vector.squares)
    return Vector(moved(vector.sums), moved(vector.counts), squares), shared


def read_problems(connection: Connection, numbers: Collection[int]) -> dict[int, KeyProblems]:
    """Return the problems of keys by the keys' numbers."""
    key, problems = tables.task_key, tables.problem_set
    query = (
        select(key.c.id, key.c.digest, key.c.task, key.c.record, problems.c.ids, problems.c.groups)
        .join(problems, problems.c.id == key.c.problem_set_id)
        .where(key.c.id.in_(list(numbers)))
    )
    return {row.id: _problems_of(row) for row in connection.execute(query)}


def _problems_of(row: Any) -> KeyProblems:
    record = json.loads(zlib.decompress(row.record))
    asked = record.get("asked")
    return KeyProblems(
        digest=row.digest,
        task=row.task,
        terms=digest({name: value for name, value in record.items() if name not in _MAY_DIFFER}),
        ids=tuple(json.loads(zlib.decompress(row.ids))),
        groups=groups_of(row.groups),
        asked=None if asked is None else tuple(asked),
    )


def groups_of(data: bytes | None) -> tuple[str | None, ...] | None:
    """Return the clusters of a problem set from its blob."""
    return None if data is None else tuple(json.loads(zlib.decompress(data)))


def alike_keys(connection: Connection, numbers: Iterable[int]) -> list[int]:
    """Return the numbers of keys that are compared with these, and of these, in order."""
    wanted = list(numbers)
    alike = set(wanted)
    for own, others in same_task(connection, wanted).items():
        mine = read_problems(connection, [own, *others])
        alike |= {other for other in others if CommonProblems(mine[own]).take(mine[other])}
    return sorted(alike)


def same_task(connection: Connection, numbers: Collection[int]) -> dict[int, list[int]]:
    """Return for each key that has any the other keys of its task, by number."""
    key = tables.task_key
    tasks = {
        row.id: row.task
        for row in connection.execute(select(key.c.id, key.c.task).where(key.c.id.in_(list(numbers))))
    }
    known: defaultdict[str, list[int]] = defaultdict(list)
    query = select(key.c.id, key.c.task).where(key.c.task.in_(list(set(tasks.values())))).order_by(key.c.id)
    for row in connection.execute(query):
        known[row.task].append(row.id)
    found = {own: [other for other in known[task] if other != own] for own, task in tasks.items()}
    return {own: others for own, others in found.items() if others}


_Z = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class BaseDifference:
    """A mean difference run - base over the problems that both have scored, as a fraction of 1.

    `ci` is the 95 % interval for new problems. `rerun_ci` is that of sampling noise on these problems, None
    if a run has one sample of each problem.
    """

    difference: float
    ci: tuple[float, float]
    rerun_ci: tuple[float, float] | None


def base_difference(
    base: Vector, own: Vector, groups: Sequence[str | None] | None = None
) -> BaseDifference | None:
    """Return the paired difference of two runs with equal problems, or None if they share no scored one."""
    kept = (base.counts > 0) & (own.counts > 0)
    if not kept.any():
        return None
    values = (own.means - base.means)[kept]
    chosen = None if groups is None else [group for group, take in zip(groups, kept, strict=True) if take]
    clusters = cluster(values, chosen)
    interval = difference_interval(clusters)
    noise = _noise(base, kept) + _noise(own, kept)
    d = clusters.mean
    half = _Z * math.sqrt(noise) if math.isfinite(noise) else None
    return BaseDifference(
        difference=d,
        ci=interval.bounds,
        rerun_ci=None if half is None else (max(-1.0, d - half), min(1.0, d + half)),
    )


def _noise(vector: Vector, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """Return the variance of the mean over the kept problems in a re-run, NaN if it cannot be known.

    Problems with one scored sample get the mean variance of those with more.
    """
    counts, sums = vector.counts[kept].astype(np.float64), vector.sums[kept]
    squares = sums if vector.squares is None else vector.squares[kept]
    many = counts > 1
    if not many.any():
        return math.nan
    spread: Floats = np.maximum(squares - sums**2 / counts, 0.0)
    within = np.divide(spread, counts - 1, out=np.full(len(counts), np.nan), where=many)
    within = np.where(many, within, np.nanmean(within))
    return float((within / counts).sum() / len(counts) ** 2)


run, score, series, track = tables.run, tables.score, tables.series, tables.track


@dataclass(frozen=True, slots=True)
class BaseDraw:
    """A draw of the base for one key: the run's number in the table, and its sums.

    `shared` (n,) are the problems of the key that the base was drawn on, None if these are all.
    """

    run_id: int
    vector: Vector
    groups: tuple[str | None, ...] | None
    shared: Bools | None = None


def base_draws(connection: Connection, track_name: str, wanted: Iterable[int] = ()) -> dict[int, BaseDraw]:
    """Return the base of a track under each key, by the key's number.

    It is the pinned run if that was drawn under the key. Otherwise it is the earliest finished anchor of the
    same model that was.

    Args:
        wanted: keys for which a draw under a key with almost the same problems will do.
    """
    draws = _exact_draws(connection, track_name)
    lacking = [key for key in wanted if key not in draws]
    return draws | _alike_draws(connection, draws, lacking) if draws and lacking else draws


def _alike_draws(
    connection: Connection, draws: Mapping[int, BaseDraw], lacking: Collection[int]
) -> dict[int, BaseDraw]:
    """Return for keys without a draw the first one under a key with almost the same problems."""
    found: dict[int, BaseDraw] = {}
    for key, others in same_task(connection, lacking).items():
        drawn = [other for other in others if other in draws]
        problems = read_problems(connection, [key, *drawn])
        # In an order that does not depend on the order in which runs were added.
        for other in sorted(drawn, key=lambda one: problems[one].digest):
            if CommonProblems(problems[key]).take(problems[other]):
                vector, shared = spread(draws[other].vector, problems[other], problems[key])
                found[key] = BaseDraw(draws[other].run_id, vector, problems[key].groups, shared)
                break
    return found


def _exact_draws(connection: Connection, track_name: str) -> dict[int, BaseDraw]:
    draws: dict[int, BaseDraw] = {}
    for number in base_runs(connection, track_name):
        draws = _draws_of(connection, number) | draws
    return draws


def base_runs(connection: Connection, track_name: str) -> list[int]:
    """Return the numbers of the runs that can be the base of a task: the pinned one, then its later draws."""
    found = connection.execute(select(track.c.id, track.c.base_uid).where(track.c.name == track_name)).first()
    if found is None or found.base_uid is None:
        return []
    base = connection.execute(
        select(run.c.id, run.c.identity, run.c.state).where(run.c.uid == found.base_uid)
    ).first()
    if base is None:
        return []
    anchors = select(run.c.id).where(
        run.c.track_id == found.id,
        run.c.role == "anchor",
        run.c.identity == base.identity,
        run.c.state == "finished",
        run.c.id != base.id,
    )
    own = [base.id] if base.state == "finished" else []
    return [*own, *connection.scalars(anchors.order_by(run.c.position, run.c.created, run.c.uid)).all()]


def _draws_of(connection: Connection, number: int) -> dict[int, BaseDraw]:
    """Return what a run drew for each key."""
    query = (
        select(score.c.key_id, score.c.run_id, score.c.vector, tables.problem_set.c.groups)
        .join(tables.task_key, tables.task_key.c.id == score.c.key_id)
        .join(tables.problem_set, tables.problem_set.c.id == tables.task_key.c.problem_set_id)
        .where(score.c.run_id == number)
    )
    return {
        row.key_id: BaseDraw(row.run_id, unpack(row.vector), groups_of(row.groups))
        for row in connection.execute(query)
    }


def difference_columns(draw: BaseDraw | None, run_id: int, vector: Vector) -> dict[str, Any]:
    """Return the columns of a score that compare it with the base. The base itself has none."""
    found = None
    if draw is not None and draw.run_id != run_id:
        found = base_difference(draw.vector, vector, draw.groups)
    rerun = (None, None) if found is None or found.rerun_ci is None else found.rerun_ci
    return {
        "base_id": draw.run_id if draw is not None and found is not None else None,
        "difference": found and found.difference,
        "difference_low": found and found.ci[0],
        "difference_high": found and found.ci[1],
        "difference_rerun_low": rerun[0],
        "difference_rerun_high": rerun[1],
    }


def renew_differences(connection: Connection, track_name: str, keys: Iterable[int] | None = None) -> None:
    """Compute the differences of a track's runs to its base again.

    Args:
        keys: only scores under these keys, and under keys with almost the same problems. None means all.
    """
    of_track = (
        select(series.c.id).join(track, track.c.id == series.c.track_id).where(track.c.name == track_name)
    )
    own = connection.scalars(of_track).all()
    chosen = None if keys is None else alike_keys(connection, keys)
    known = select(score.c.key_id).where(score.c.series_id.in_(own)).distinct()
    draws = base_draws(connection, track_name, chosen or connection.scalars(known).all())
    for number in own:
        _renew_series(connection, number, draws, chosen)


def _renew_series(
    connection: Connection, number: int, draws: Mapping[int, BaseDraw], keys: Sequence[int] | None
) -> None:
    """Compute the differences of one series again."""
    query = select(score.c.position, score.c.run_id, score.c.key_id, score.c.vector)
    query = query.where(score.c.series_id == number)
    if keys is not None:
        query = query.where(score.c.key_id.in_(keys))
    changed = [
        {"at_position": row.position, "at_run": row.run_id}
        | difference_columns(draws.get(row.key_id), row.run_id, unpack(row.vector))
        for row in connection.execute(query)
    ]
    if changed:
        place = (score.c.position == bindparam("at_position"), score.c.run_id == bindparam("at_run"))
        connection.execute(update(score).where(score.c.series_id == number, *place), changed)


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """One task of two runs: mean scores, and the paired difference with its 95 % interval. Fractions of 1."""

    task: str
    problems: int
    base: float | None
    tuned: float | None
    difference: float
    ci: tuple[float, float]


@dataclass(frozen=True, slots=True)
class StoredScoresComparison:
    """The tasks of two runs that can be compared, and those that cannot."""

    tasks: tuple[ScoreDifference, ...]
    left_out: tuple[str, ...]


def compare_scores(ledger: Ledger, base: str, tuned: str) -> StoredScoresComparison:
    """Return the differences of two runs, paired by problem. Only tasks of equal terms and data are compared.

    Args:
        base: uid of the base.
        tuned: uid of the run that is compared with it.

    Raises:
        InputError: the ledger has no scores of one of them.
    """
    with ledger.read() as connection:
        sides = [_scores(connection, uid) for uid in (base, tuned)]
    left, right = sides
    found, left_out = [], []
    for task in sorted({*left, *right}):
        one, other = left.get(task), right.get(task)
        compared = None if one is None or other is None else _compared(task, one, other)
        if compared is None:
            left_out.append(task)
        else:
            found.append(compared)
    return StoredScoresComparison(tuple(found), tuple(left_out))


def _compared(task: str, one: Any, other: Any) -> ScoreDifference | None:
    """Return the difference of two scores, or None if their keys differ or they share no scored problem."""
    first, second = unpack(one.vector), unpack(other.vector)
    difference = base_difference(first, second, groups_of(one.groups)) if one.key_id == other.key_id else None
    if difference is None:
        return None
    shared = int(((first.counts > 0) & (second.counts > 0)).sum())
    return ScoreDifference(task, shared, one.value, other.value, difference.difference, difference.ci)


def _scores(connection: Connection, uid: str) -> Mapping[str, Any]:
    """Return the scores of a run by task."""
    key, problems = tables.task_key, tables.problem_set
    query = (
        select(series.c.task, score.c.key_id, score.c.value, score.c.vector, problems.c.groups)
        .join(series, series.c.id == score.c.series_id)
        .join(run, run.c.id == score.c.run_id)
        .join(key, key.c.id == score.c.key_id)
        .join(problems, problems.c.id == key.c.problem_set_id)
        .where(run.c.uid == uid)
    )
    found = {row.task: row for row in connection.execute(query)}
    if not found:
        raise InputError(f"the ledger has no scores of run '{uid[:50]}'")
    return found
