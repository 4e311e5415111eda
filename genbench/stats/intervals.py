"""Intervals of one mean: for new problems of the same kind, and for a re-run of the same problems."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri, stdtrit  # scipy.stats takes a second to import

from genbench.stats.resample import RESAMPLES, ROUNDING, Clusters, bootstrap_means, cluster, resampled
from genbench.stats.scores import Floats, Scores

LEVEL = 0.95
MIN_COUNT = 10.0
"""With fewer effective right (or wrong) answers, percentile intervals cover less than 93 % (simulated)."""
ICC_FLOOR = 0.5
"""Least correlation assumed between samples of one problem, if too few deviate to measure it."""
ICC_FLOOR_FEW = 0.75
"""The same below FEW_PROBLEMS. Real reasoning tasks have up to 0.74: 0.5 claims more than 30 problems can."""
ICC_FLOOR_GROUP = 0.1
"""Least correlation assumed between the problems of a group, to decide whether their spread is trusted."""
ICC_FLOOR_EDGE = 0.2
"""The same for the interval if it cannot be trusted.

Samples of one problem are far more alike. With their floor, intervals of 10 to 15 groups were three times too
wide (simulated)."""
FEW_PROBLEMS = 100
EDGE_COUNT = 3.0
"""Up to this many effective failures the Wilson limit on their side covers less than it says."""


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
    z = normal_quantile(level)
    middle = (n * p + z**2 / 2) / (n + z**2)
    half = z * math.sqrt(n * p * (1 - p) + z**2 / 4) / (n + z**2)
    # At p = 0 and p = 1 the bound is exact; rounding must not move it inwards.
    return (0.0 if p == 0 else max(0.0, middle - half)), (1.0 if p == 1 else min(1.0, middle + half))


def wilson_near_edge(p: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Return the Wilson interval, with a wider limit next to 0 or 1 if one to three draws are away from it.

    With x successes, 0 < x <= 3, the lower limit is the Poisson limit gamma.ppf(1 - level, x)/n. The upper
    limit follows for failures. Plain Wilson covers 92 % in these cells (simulated).

    Source: Brown, Cai, DasGupta 2001, section 4.1.1.
    """
    low, high = wilson(p, n, level)
    if 0 < n * p <= EDGE_COUNT:
        low = min(low, float(gammaincinv(n * p, 1 - level)) / n)
    if 0 < n * (1 - p) <= EDGE_COUNT:
        high = max(high, 1 - float(gammaincinv(n * (1 - p), 1 - level)) / n)
    return low, high


def unseen_share(n: int, alpha: float) -> float:
    """Return the largest share of a population that n draws miss with probability alpha ("rule of three")."""
    return float(1 - alpha ** (1 / n))


def normal_quantile(level: float) -> float:
    """Return the two-sided normal quantile: 1.96 for 95 %."""
    return float(ndtri((1 + level) / 2))


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
    The estimate from the spread is at most the value for draws with correlation ICC_FLOOR (ICC_FLOOR_FEW
    below FEW_PROBLEMS), because a mean near 0 or 1 shows no spread.
    """
    problems = float(clusters.sizes.sum())
    per_cluster = draws * problems / clusters.count
    return _at_most_measured(problems * draws / _design(per_cluster, _floor(clusters)), p, clusters, level)


def grouped_n(p: float, clusters: Clusters, draws: float, correlation: float, level: float = LEVEL) -> float:
    """Return the same as `effective_n`, with another least correlation between the problems of one group."""
    problems = float(clusters.sizes.sum())
    alike = _design(draws, _floor(clusters)) * _design(problems / clusters.count, correlation)
    return _at_most_measured(problems * draws / alike, p, clusters, level)


def _floor(clusters: Clusters) -> float:
    return ICC_FLOOR_FEW if clusters.count < FEW_PROBLEMS else ICC_FLOOR


def _design(size: float, correlation: float) -> float:
    """Return by how much a cluster of `size` draws tells less than as many independent ones (Kish 1965)."""
    return 1 + (max(size, 1.0) - 1) * correlation


def _at_most_measured(n: float, p: float, clusters: Clusters, level: float) -> float:
    if clusters.se:
        n = min(n, p * (1 - p) / clusters.se**2)
    return n * (normal_quantile(level) / t_quantile(level, clusters.count)) ** 2


def problem_interval(
    values: Floats,
    *,
    seed: int,
    groups: Sequence[str | None] | None = None,
    draws: float = 1.0,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the question-population interval of the mean of per-problem values (n,) in [0, 1].

    It answers whether the mean would be the same on new problems of this kind. The interval is a percentile
    bootstrap of whole clusters, expanded for few of them. Near 0 and 1 it is Wilson on effective n, and also
    for fractional values, since p(1 - p) is the most that the variance of a value in [0, 1] can be. Equal
    values have no spread to resample. Their interval allows for problems that were not met.
    `draws` is the mean number of draws of a value.
    """
    clusters, unit = cluster(values, groups), "problem" if groups is None else "group"
    if clusters.count == 1:
        return Interval(0.0, 1.0, f"no interval: one {unit} tells nothing about others")
    p, units = min(1.0, max(0.0, clusters.mean)), f"{clusters.count} {unit}s"
    n = effective_n(p, clusters, draws, level)
    if clusters.se:  # equal values show no spread, so they keep the strictest floor
        n = grouped_n(p, clusters, draws, ICC_FLOOR_EDGE, level)
    if grouped_n(p, clusters, draws, ICC_FLOOR_GROUP, level) * min(p, 1 - p) < MIN_COUNT:
        return Interval(*wilson_near_edge(p, n, level), _wilson_words(p, n, units))
    if not clusters.se:
        return _equal_values(p, n, clusters.count, level)
    means = bootstrap_means(clusters, seed=seed, resamples=resamples)
    low, high = expanded_percentiles(means, clusters.count, level)
    return Interval(low, high, f"cluster bootstrap (expanded percentile, {resamples:,} resamples, {units})")


def resampled_interval(
    units: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    seed: int,
    bounds: tuple[float, float] | None = None,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Interval:
    """Return the interval of a statistic of sums over new clusters: expanded percentiles of `resampled`.

    With `bounds`, the least and the most that it can be, it follows the rule of `problem_interval` near them:
    Wilson on effective n, and for a statistic without spread a part of other clusters that were not met.

    Args:
        units: what each cluster adds to the sums (g, c), at least two clusters.
        statistic: makes values (r,) of sums (r, c).
    """
    count = len(units)
    drawn = resampled(units, statistic, seed=seed, resamples=resamples)
    method = f"cluster bootstrap (expanded percentile, {resamples:,} resamples, {count} clusters)"
    if bounds is not None:
        value = float(statistic(units.sum(axis=0, keepdims=True))[0])
        least, width = bounds[0], bounds[1] - bounds[0]
        if np.ptp(drawn) < ROUNDING:
            unseen = unseen_share(count, (1 - level) / 2)
            low, high = value + unseen * (bounds[0] - value), value + unseen * (bounds[1] - value)
            return Interval(low, high, f"exact binomial bound (no spread, {count} clusters)")
        p = min(1.0, max(0.0, (value - least) / width))
        n = p * (1 - p) * (width / float(drawn.std(ddof=1))) ** 2
        if n * min(p, 1 - p) < MIN_COUNT:
            n = min(n or math.inf, count) * (normal_quantile(level) / t_quantile(level, count)) ** 2
            low, high = (least + width * end for end in wilson_near_edge(p, n, level))
            return Interval(low, high, _wilson_words(p, n, f"{count} clusters"))
    return Interval(*expanded_percentiles(drawn, count, level), method)


def expanded_percentiles(drawn: Floats, clusters: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the ends of a percentile interval that is expanded for few clusters."""
    tail = expanded_tail(clusters, level)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def _equal_values(p: float, n: float, count: int, level: float) -> Interval:
    """Return the interval of equal values strictly between 0 and 1.

    It contains the exact binomial bound for other values that `count` draws miss, and Wilson on effective n
    for the noise of each value.
    """
    unseen = unseen_share(count, (1 - level) / 2)
    low, high = wilson(p, n, level)
    method = f"exact binomial bound and Wilson on effective n = {n:.1f} (all {count} values are equal)"
    return Interval(min(low, p * (1 - unseen)), max(high, p * (1 - unseen) + unseen), method)


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
    z = normal_quantile(level)
    if np.isnan(variances).all():
        if scores.is_binary:
            return Interval(*wilson_near_edge(p, n, level), "upper bound (k = 1): Wilson on n")
        se = cluster(means).se
        return (
            None
            if se is None
            else _normal(p, z * max(se, 1 / n), "upper bound (k = 1): spread of the problems")
        )
    within = np.where(np.isnan(variances), np.nanmean(variances), variances)
    v = max(float((within / scores.scored).sum()) / n**2, 1 / total**2)
    if not scores.is_binary:
        return _normal(p, z * math.sqrt(v), "normal on the variance within problems")
    effective = max(float(total), p * (1 - p) / v)
    return Interval(*wilson_near_edge(p, effective, level), "Wilson on effective n within problems")


def _normal(p: float, half: float, method: str) -> Interval:
    """Return the interval p ± half within [0, 1]."""
    return Interval(max(0.0, p - half), min(1.0, p + half), method)
