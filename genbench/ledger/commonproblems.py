"""Problems that keys of one task share: a task whose data changed a little keeps its series."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from genbench.ledger import tables
from genbench.ledger.vectors import Vector
from genbench.stats.scores import Bools, Ints
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
