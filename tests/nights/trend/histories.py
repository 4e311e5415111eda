"""Histories of tracks, made from problem means without a ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np

from genbench.nights.ledger.history import Epoch, Night, TaskSeries, Track, TrackHistory
from genbench.nights.ledger.notes import AnnotationNote, Change
from genbench.stats.scores import Floats

K = 8
FIRST = (date(2026, 10, 1) - date(1970, 1, 1)).days
"""The position of the first night."""


def drawn(losses: Floats, problems: int = 120, seed: int = 1) -> Floats:
    """Return correct answers of K (nights, problems) for rates that are lowered by a share of themselves."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.8, 0.8, size=problems)
    return rng.binomial(K, rates * (1 - losses[:, None])).astype(np.float64)


def losses(nights: int, start: int | None = None, stop: int | None = None, share: float = 0.3) -> Floats:
    """Return no losses but `share` from night `start` to before night `stop`."""
    values = np.zeros(nights)
    if start is not None:
        values[start:stop] = share
    return values


def night(number: int, kind: str = "night", **fields: Any) -> Night:
    """Return one point. Nights count from FIRST, steps by 100."""
    position = FIRST + number if kind == "night" else 100 * number
    label = date.fromordinal(date(1970, 1, 1).toordinal() + position).isoformat()
    values: dict[str, Any] = {
        "uid": f"uid{number:04}",
        "position": position,
        "label": label if kind == "night" else f"step-{position}",
        "role": "point",
        "model": "tuned" if kind == "night" else f"checkpoint-{position}",
        "identity": "sha256:1",
        "created": f"{label}T01:00:00Z",
        "state": "finished",
        "failed": (),
        "terms_digest": "terms",
        "circumstances_digest": "here",
        "packages": {"vllm": "0.32.0"},
        "path": f"runs/{label}",
    }
    return Night(**values | fields)


def epoch(
    task: str, sums: Floats, points: Sequence[Night], base: Floats | None = None, **fields: Any
) -> Epoch:
    """Return an epoch of one task. `base` are sums of the base."""
    problems = sums.shape[1]
    values: dict[str, Any] = {
        "task": task,
        "key": "key",
        "problem_ids": tuple(map(str, range(problems))),
        "groups": None,
        "uids": tuple(point.uid for point in points),
        "positions": np.array([point.position for point in points]),
        "sums": sums,
        "counts": np.full(sums.shape, K),
        "ks": np.full(len(points), K),
        "base_uid": None if base is None else "base",
        "base_sums": base,
        "base_counts": None if base is None else np.full(problems, K),
        "anchor_uids": (),
        "anchor_positions": np.zeros(0, dtype=np.int64),
        "anchor_sums": np.zeros((0, problems)),
        "anchor_counts": np.zeros((0, problems), dtype=np.int64),
    }
    return Epoch(**values | fields)


def series(
    task: str, epochs: Sequence[Epoch], *, gating: bool = True, chance: float | None = None
) -> TaskSeries:
    """Return the series of some epochs, with intervals of fixed widths around the values."""
    sums = np.concatenate([epoch.sums.mean(axis=1) / K for epoch in epochs])
    bases = [
        np.full(len(epoch.uids), np.nan if epoch.base_sums is None else epoch.base_sums.mean() / K)
        for epoch in epochs
    ]
    difference = sums - np.concatenate(bases)
    return TaskSeries(
        task=task,
        gating=gating,
        n=epochs[-1].sums.shape[1],
        chance=chance,
        epochs=tuple(epochs),
        keys=tuple(epoch.key for epoch in epochs for _ in epoch.uids),
        uids=tuple(uid for epoch in epochs for uid in epoch.uids),
        positions=np.concatenate([epoch.positions for epoch in epochs]),
        ks=np.concatenate([epoch.ks for epoch in epochs]),
        value=sums,
        ci_low=sums - 0.06,
        ci_high=sums + 0.06,
        rerun_low=sums - 0.02,
        rerun_high=sums + 0.02,
        difference=difference,
        difference_low=difference - 0.03,
        difference_high=difference + 0.03,
        difference_rerun_low=difference - 0.02,
        difference_rerun_high=difference + 0.02,
        truncated=np.zeros(len(sums)),
        loops=np.zeros(len(sums)),
        empty=np.zeros(len(sums)),
        tokens=np.full(len(sums), 300.0),
        cost=np.full(len(sums), np.nan),
    )


def history(
    tasks: Mapping[str, Floats],
    *,
    kind: str = "night",
    bases: bool = True,
    changes: Sequence[Change] = (),
    skipped: Sequence[int] = (),
    **fields: Any,
) -> TrackHistory:
    """Return a track of sums by task, (nights, problems). Numbers in `skipped` are nights without a run."""
    count = max(len(sums) for sums in tasks.values()) + len(skipped)
    points = [night(number, kind) for number in range(count) if number not in skipped]
    missing = tuple(night(number).label for number in skipped)
    own = {
        task: series(task, [epoch(task, sums, points[: len(sums)], base_of(sums) if bases else None)])
        for task, sums in tasks.items()
    }
    values: dict[str, Any] = {
        "track": Track("nightly", "night", "suite", 1.0, 365.0, "base", "the release"),
        "points": tuple(points),
        "anchors": (),
        "others": (),
        "base": night(0, uid="base", model="base", role="anchor") if bases else None,
        "series": own,
        "changes": tuple(changes),
        "annotations": (),
        "missing": missing,
    }
    values["track"] = replace(values["track"], kind=kind)
    return TrackHistory(**values | fields)


def base_of(sums: Floats) -> Floats:
    """Return the sums of a base that is about as good as the first nights."""
    return np.asarray(np.round(sums[:5].mean(axis=0)))


def change(first: int, found: int, **fields: Any) -> Change:
    """Return an open drop of the task `gpqa`."""
    values: dict[str, Any] = {
        "id": "c-12345678",
        "track": "nightly",
        "task": "gpqa",
        "direction": "drop",
        "gating": True,
        "first_uid": night(first).uid,
        "last_before_uid": night(first - 1).uid,
        "found_uid": night(found).uid,
        "found_position": night(found).position,
        "z": -4.2,
        "threshold": 3.6,
        "size": -0.021,
        "ci": (-0.03, -0.012),
        "suspects": (night(first).uid,),
        "state": "open",
        "by": "genbench",
        "note": "",
        "at": "2026-11-01T00:00:00Z",
    }
    return Change(**values | fields)


def remark(position: int = FIRST + 3, text: str = "vllm 0.33", by: str = "ada") -> AnnotationNote:
    """Return a remark on a night."""
    at = "2026-11-01T00:00:00Z"
    return AnnotationNote(
        note="annotation",
        id="a-1",
        track="nightly",
        position=position,
        kind="engine",
        text=text,
        by=by,
        at=at,
    )
