"""The facts about a run that the ledger keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from genbench.ledger.vectors import Vector
from genbench.store.track_record import TrackRecord


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """One task of a finished run. Scores are fractions of 1."""

    key: Mapping[str, Any]
    problem_ids: tuple[str, ...]
    groups: tuple[str | None, ...] | None
    vector: Vector
    k: int
    gating: bool
    value: float | None
    ci: tuple[float, float] | None
    rerun_ci: tuple[float, float] | None
    excluded: int
    truncated: float | None
    tokens: float | None
    cost: float | None
    chance: float | None
    asked: tuple[str, ...] | None = None
    """Digests of each problem's prompts and references. Runs of older versions have none."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One run as its folder describes it. `tasks` is empty unless `state` is finished or failed."""

    path: str
    uid: str
    run_id: str
    track: TrackRecord | None
    model: str
    identity: str
    suite: str
    suite_digest: str
    run_seed: int
    terms_digest: str
    circumstances_digest: str
    packages: Mapping[str, str]
    state: str
    failed: tuple[str, ...]
    created: str
    seconds: float | None
    tokens: int | None
    cost: float | None
    currency: str | None
    version: str | None
    git: str | None
    sealed_lines: int
    seal_digest: str
    source_digest: str
    alarms_per_year: float
    tasks: Mapping[str, TaskFacts]
