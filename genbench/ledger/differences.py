"""The difference of a run to its base, from the sums and counts of their problems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genbench.ledger.vectors import Vector
from genbench.stats.differences import difference_interval
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats

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
