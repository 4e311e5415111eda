"""Means and ratios of sums over problems, of one run or of two paired runs, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field
from scipy.special import stdtr

from genbench.json_record import JsonRecord, Share
from genbench.stats.intervals import LEVEL, expanded_percentiles, t_quantile
from genbench.stats.resample import RESAMPLES, cluster, resampled
from genbench.stats.scores import Floats

Transform = Callable[[float], float]
"""An increasing function of a ratio, such as the exponential of nats per word."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """A value with its interval and its standard error. They are None for a single cluster."""

    value: float
    ci: tuple[float, float] | None
    se: float | None = None


class MeanDifference(JsonRecord):
    """The paired difference tuned - base of a mean or of a ratio of sums."""

    base: float = Field(description="the measure of base")
    tuned: float = Field(description="the measure of tuned")
    difference: float = Field(description="tuned - base, over the problems of both")
    ci: tuple[float, float] | None = Field(
        description="95% interval of the difference; null for a single problem"
    )
    p_two_sided: Share | None = Field(description="p value of no difference")


def mean_bounds(values: Floats, groups: Sequence[str | None] | None, level: float = LEVEL) -> Bounds:
    """Return the mean of values (n,) of any size, with the t interval of whole clusters."""
    clusters = cluster(values, groups)
    se = clusters.se
    if se is None:
        return Bounds(clusters.mean, None)
    half = t_quantile(level, clusters.count) * se
    return Bounds(clusters.mean, (clusters.mean - half, clusters.mean + half), se)


def mean_difference(
    base: Floats, tuned: Floats, groups: Sequence[str | None] | None, level: float = LEVEL
) -> MeanDifference:
    """Return the mean of the differences (n,) of two runs, with the t interval of whole clusters."""
    found = mean_bounds(tuned - base, groups, level)
    p = None
    if found.se is not None:
        count = cluster(base, groups).count
        p = 1.0 if found.value == 0 else 0.0
        if found.se > 0:
            p = float(2 * stdtr(count - 1, -abs(found.value) / found.se))
    return MeanDifference(
        base=float(base.mean()),
        tuned=float(tuned.mean()),
        difference=found.value,
        ci=found.ci,
        p_two_sided=p if p is not None and math.isfinite(p) else None,
    )


@dataclass(frozen=True, slots=True)
class Ratio:
    """Two sums over the same units (n,): nats, and what they are divided by."""

    nats: Floats
    units: Floats

    @property
    def value(self) -> float:
        """Return the ratio of the sums."""
        return float(self.nats.sum() / self.units.sum())

    def clustered(self, groups: Sequence[str | None] | None) -> Floats:
        """Return both sums by cluster (g, 2)."""
        return np.stack([cluster(sums, groups).totals for sums in (self.nats, self.units)], axis=1)


def ratio_bounds(
    found: Ratio, groups: Sequence[str | None] | None, transform: Transform, *, seed: int
) -> Bounds:
    """Return a ratio of sums, with the expanded percentile interval of resampled clusters (documents)."""
    own, value = found.clustered(groups), transform(found.value)
    if len(own) < 2:
        return Bounds(value, None)
    low, high = expanded_percentiles(resampled(own, _ratio, seed=seed), len(own))
    return Bounds(value, (transform(low), transform(high)))


def ratio_difference(
    base: Ratio,
    tuned: Ratio,
    groups: Sequence[str | None] | None,
    transform: Transform,
    *,
    seed: int,
) -> MeanDifference:
    """Return the difference of two ratios of the same units. Both are resampled together."""
    units = np.hstack([base.clustered(groups), tuned.clustered(groups)])
    before, after = transform(base.value), transform(tuned.value)
    ci, p = None, None
    if len(units) > 1:
        changed = np.vectorize(transform)
        differences = resampled(
            units, lambda sums: changed(_ratio(sums[:, 2:])) - changed(_ratio(sums[:, :2])), seed=seed
        )
        ci = expanded_percentiles(differences, len(units))
        below, above = float((differences <= 0).mean()), float((differences >= 0).mean())
        p = min(1.0, 2 * max(min(below, above), 1 / (RESAMPLES + 1)))
    return MeanDifference(base=before, tuned=after, difference=after - before, ci=ci, p_two_sided=p)


def _ratio(sums: Floats) -> Floats:
    """Return the ratios (r,) of sums (r, 2)."""
    return np.asarray(sums[:, 0] / sums[:, 1], dtype=np.float64)
