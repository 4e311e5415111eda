"""The records that are read from a ledger: tracks, nights, series of a task, changes and annotations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.ledger import tables
from genbench.ledger.notes import AnnotationKind, ChangeState, Direction
from genbench.stats.scores import Floats, Ints
from genbench.store.manifest import TrackRole, position_label
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
class Night:
    """One run of a track. `path` is a folder that contains the run, or None if there is none any more."""

    uid: str
    position: int
    label: str
    role: TrackRole
    model: str
    identity: str
    created: str
    state: str
    failed: tuple[str, ...]
    terms_digest: str
    circumstances_digest: str
    packages: Mapping[str, str]
    path: str | None


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


@dataclass(frozen=True, slots=True)
class TaskSeries:
    """One task of a track: one entry for each finished point, old to new. NaN is unknown.

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
    tokens: Floats
    cost: Floats


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark on a night or step of a track."""

    id: str
    track: str
    position: int
    kind: AnnotationKind
    text: str
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change of level of one task, or of the pooled line if `task` is None.

    `size` is after minus before, a fraction of 1, with the interval `ci`. `suspects` are the runs with which
    it may have begun.
    """

    id: str
    track: str
    task: str | None
    direction: Direction
    gating: bool
    first_uid: str
    last_before_uid: str
    found_uid: str
    found_position: int
    z: float
    threshold: float
    size: float
    ci: tuple[float, float]
    suspects: tuple[str, ...]
    state: ChangeState
    by: str
    note: str
    at: str
    closed_uid: str | None = None


@dataclass(frozen=True, slots=True)
class TrackHistory:
    """A track as the ledger knows it.

    `points` are finished runs in order. `others` failed or are unfinished. `missing` are labels of nights
    without a finished point. `base` is the pinned run, None if it is not in the ledger.
    """

    track: Track
    points: tuple[Night, ...]
    anchors: tuple[Night, ...]
    others: tuple[Night, ...]
    base: Night | None
    series: Mapping[str, TaskSeries]
    changes: tuple[Change, ...]
    annotations: tuple[Annotation, ...]
    missing: tuple[str, ...]


_RUN = tables.run.c
NIGHT_COLUMNS = (
    *(_RUN.id, _RUN.uid, _RUN.position, _RUN.role, _RUN.model, _RUN.identity, _RUN.created, _RUN.state),
    *(_RUN.failed, _RUN.terms_digest, _RUN.circumstances_digest, _RUN.packages),
)
"""The columns of the table `run` that a night is made of."""


def night_of(
    row: Sequence[Any], kind: TrackKind, path: str | None, known: dict[str, Mapping[str, str]] | None = None
) -> Night:
    """Return the night of a row of the table `run`.

    Args:
        row: the values of NIGHT_COLUMNS.
        kind: the kind of the track, which says how the position is written.
        path: a folder that contains the run.
        known: texts of packages that were parsed before. Most runs of a track have the same.
    """
    known = {} if known is None else known
    _, uid, position, role, model, identity, created, state, failed, terms, circumstances, packages = row
    if packages not in known:
        known[packages] = json.loads(packages)
    return Night(
        uid=uid,
        position=position,
        label=position_label(kind, position),
        role=role,
        model=model,
        identity=identity,
        created=created,
        state=state,
        failed=() if failed == "[]" else tuple(json.loads(failed)),
        terms_digest=terms,
        circumstances_digest=circumstances,
        packages=known[packages],
        path=path,
    )


def change_of(row: Any) -> Change:
    """Return the change of a row of the table `change`."""
    values = dict(row._mapping)
    low, high = values.pop("ci_low"), values.pop("ci_high")
    return Change(**{**values, "ci": (low, high), "suspects": tuple(json.loads(values["suspects"]))})
