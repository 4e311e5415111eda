"""Intervals of one mean: for new problems of the same kind, and for a re-run of the same problems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit  # scipy.stats takes a second to import, scipy.special 0.2 s

from genbench.stats.resample import RESAMPLES, Clusters, bootstrap_means, cluster
from genbench.stats.scores import Floats, Scores

LEVEL = 0.95
MIN_COUNT = 10.0
"""With fewer effective right (or wrong) answers, percentile intervals cover less than 93 % (simulated)."""
ICC_FLOOR = 0.5
"""Least correlation assumed between samples of one problem, if too few deviate to measure it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds as fractions of 1, and the method in words."""

    low: float
    high: float
    method: str

    @property
    def bounds(self) -> tuple[float, float]:
        """The lower and the upper bound."""
        return self.low, self.high


def wilson(p: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Return the Wilson score interval of a share p of n draws.

    n may be a fraction (an effective number) or infinite. With n = 0 the interval is (0, 1).

    Sources: Wilson 1927. On effective n: Franco et al. 2019 (PMC6690503).
    """
    if math.isinf(n):
        return p, p
    z = float(ndtri((1 + level) / 2))
    middle = (n * p + z**2 / 2) / (n + z**2)
    half = z * math.sqrt(n * p * (1 - p) + z**2 / 4) / (n + z**2)
    # At p = 0 and p = 1 the bound is exact; rounding must not move it inwards.
    return (0.0 if p == 0 else max(0.0, middle - half)), (1.0 if p == 1 else min(1.0, middle + half))


def t_quantile(level: float, clusters: int) -> float:
    """Return the two-sided t quantile at clusters - 1 degrees of freedom, infinite for one cluster."""
    return math.inf if clusters < 2 else float(stdtrit(clusters - 1, (1 + level) / 2))


def expanded_tail(clusters: int, level: float = LEVEL) -> float:
    """Return the tail probability that gives a percentile interval the width of t (Hesterberg 2015, §3.3)."""
    widening = math.sqrt(clusters / (clusters - 1))
    return float(ndtr(-t_quantile(level, clusters) * widening))


def effective_n(p: float, clusters: Clusters, draws: float, level: float = LEVEL) -> float:
    """Return the number of independent 0/1 draws with the same information (Korn & Graubard 1998).

    The number is shrunk by z²/t² for few clusters. `draws` is the mean number of 0/1 draws of one problem.
    The estimate from the spread is at most the value for draws with correlation ICC_FLOOR, because a mean
    near 0 or 1 shows no spread.
    """
    problems = float(clusters.sizes.sum())
    per_cluster = draws * problems / clusters.count
    n = problems * draws / (1 + (max(per_cluster, 1.0) - 1) * ICC_FLOOR)
    if clusters.se:
        n = min(n, p * (1 - p) / clusters.se**2)
    z = float(ndtri((1 + level) / 2))
    return n * (z / t_quantile(level, clusters.count)) ** 2


def problem_interval(
    values: Floats,
    *,
    seed: int,
    groups: Sequence[str | None] | None = None,
    draws: float | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the question-population interval of the mean of per-problem values (n,).

    It answers whether the mean would be the same on new problems of this kind. The interval is a percentile
    bootstrap of whole clusters, expanded for few of them. Near 0 and 1 it is Wilson on effective n.
    `draws` is the mean number of 0/1 draws of a value. It is None for fractional scores: their variance is
    not p(1 - p), so they never use Wilson.
    """
    clusters = cluster(values, groups)
    unit = "problem" if groups is None else "group"
    units = f"{clusters.count} {unit}s"
    p = min(1.0, max(0.0, clusters.mean))
    if clusters.count == 1:
        return Interval(0.0, 1.0, f"no interval: one {unit} tells nothing about others")
    if draws is not None:
        n = effective_n(p, clusters, draws, level)
        if min(n * p, n * (1 - p)) < MIN_COUNT:
            return Interval(*wilson(p, n, level), _wilson_words(p, n, units))
    if not clusters.se:
        return Interval(p, p, f"no width: {units} with equal scores")
    tail = expanded_tail(clusters.count, level)
    means = bootstrap_means(clusters, seed=seed, resamples=resamples)
    low, high = (float(q) for q in np.quantile(means, [tail, 1 - tail]))
    method = f"cluster bootstrap (expanded percentile, {resamples:,} resamples, {units})"
    if draws is None and min(p, 1 - p) * clusters.count < MIN_COUNT:
        method += "; scores close to 0 or 1, may cover under 95 %"  # 80 to 93 % in simulation
    return Interval(low, high, method)


def _wilson_words(p: float, n: float, units: str) -> str:
    """Return the method of a Wilson interval in words, and why it was used."""
    where = (
        "all right"
        if p == 1
        else "all wrong"
        if p == 0
        else f"under {MIN_COUNT:.0f} effective right or wrong"
    )
    return f"Wilson on effective n = {n:.1f} ({where}, {units})"


def rerun_interval(scores: Scores, *, level: float = LEVEL) -> Interval | None:
    """Return the interval of sampling noise on fixed problems: what a re-run of this checkpoint would give.

    The interval is Wilson on n_eff = max(samples, p(1 - p)/v) with v = sum(s_i²/k_i)/n². Fractional scores
    have a normal interval on v. With k = 1 the noise cannot be separated from the spread of the problems,
    so the interval is an upper bound. If no problem shows any noise, v is that of one deviating sample
    and not zero. Return None if a problem has no scored sample.
    """
    means, variances = scores.means, scores.variances
    if np.isnan(means).any():
        return None
    p, n = float(means.mean()), scores.n
    total = int(scores.scored.sum())
    z = float(ndtri((1 + level) / 2))
    if np.isnan(variances).all():
        if scores.is_binary:
            return Interval(*wilson(p, n, level), "upper bound (k = 1): Wilson on n")
        se = cluster(means).se
        return None if se is None else _normal(p, z * se, "upper bound (k = 1): spread of the problems")
    within = np.where(np.isnan(variances), np.nanmean(variances), variances)
    v = max(float((within / scores.scored).sum()) / n**2, 1 / total**2)
    if not scores.is_binary:
        return _normal(p, z * math.sqrt(v), "normal on the variance within problems")
    effective = max(float(total), p * (1 - p) / v)
    return Interval(*wilson(p, effective, level), "Wilson on effective n within problems")


def _normal(p: float, half: float, method: str) -> Interval:
    """Return the interval p ± half within [0, 1]."""
    return Interval(max(0.0, p - half), min(1.0, p + half), method)
