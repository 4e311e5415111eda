"""Intervals and the detectable size of a mean difference, from differences by independent cluster."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri

from genbench.stats.intervals import LEVEL, Interval, t_quantile, unseen_share
from genbench.stats.mover import mover_lower
from genbench.stats.resample import Clusters
from genbench.stats.scores import Scores

ALPHA = 0.05
POWER = 0.8


def difference_interval(clusters: Clusters, level: float = LEVEL) -> Interval:
    """Return the question-population interval of a mean difference: paired t over clusters, within [-1, 1].

    Equal differences show no spread. Then at most a share u = 1 - ((1 - level)/2)^(1/n) of other problems
    could differ (exact binomial). One cluster gives the interval [-1, 1].
    """
    d = clusters.mean
    if clusters.se is None:
        return Interval(-1.0, 1.0, "no interval: one problem tells nothing about others")
    if clusters.se == 0:
        u = unseen_share(clusters.count, (1 - level) / 2)
        low, high = d * (1 - u) - u, d * (1 - u) + u
        return Interval(low, high, f"exact binomial bound (all {clusters.count} differences are equal)")
    half = t_quantile(level, clusters.count) * clusters.se
    return Interval(max(-1.0, d - half), min(1.0, d + half), f"paired t ({clusters.count} differences)")


def lower_bound(clusters: Clusters, alpha: float = ALPHA) -> float:
    """Return the one-sided lower bound of the mean difference at confidence 1 - alpha.

    See `mover_lower`, here with the skewness of the losses. If no cluster got worse, losses up to the exact
    binomial bound may have gone unseen, so the bound is not above that.
    """
    bound = mover_lower(clusters, alpha, fit_skewness=True)
    if clusters.count > 1 and not (clusters.totals < 0).any():
        bound = min(bound, -unseen_share(clusters.count, alpha))
    return bound


def smallest_detectable_drop(clusters: Clusters, alpha: float = ALPHA, power: float = POWER) -> float | None:
    """Return the drop that a one-sided test at alpha finds with the given power: (z_alpha + z_power) * SE.

    Without any spread it is z^2/n: a drop of d by losses of whole problems has the variance d/n. Return
    None for one cluster.
    """
    if clusters.se is None:
        return None
    z = z_sum(alpha, power)
    return min(1.0, z * clusters.se if clusters.se else z**2 / clusters.count)


def z_sum(alpha: float = ALPHA, power: float = POWER) -> float:
    """Return z_{1-alpha} + z_power, the distance of the two hypotheses in standard errors."""
    return float(ndtri(1 - alpha) + ndtri(power))


def rerun_difference(
    base: Scores, tuned: Scores, *, shared_seeds: bool, level: float = LEVEL
) -> Interval | None:
    """Return the interval of the difference under sampling noise on fixed problems, or None at k = 1.

    With shared seeds the noise is that of the per-sample differences (sample j against sample j), which
    common random numbers reduce. Otherwise it is the sum of both runs' variances.
    """
    d = float((tuned.means - base.means).mean())
    if shared_seeds and base.values.shape == tuned.values.shape:
        v = _mean_variance(Scores(tuned.values - base.values, base.drawn))
        method = "normal on per-sample differences (shared seeds)"
    else:
        parts = [_mean_variance(scores) for scores in (base, tuned)]
        v = None if None in parts else math.fsum(part for part in parts if part is not None)
        method = "normal on both runs' variance within problems"
    if v is None:
        return None
    # Runs without any noise are treated as if one sample had deviated.
    v = max(v, 1 / min(int(base.scored.sum()), int(tuned.scored.sum())) ** 2)
    half = float(ndtri((1 + level) / 2)) * math.sqrt(v)
    return Interval(max(-1.0, d - half), min(1.0, d + half), method)


def _mean_variance(scores: Scores) -> float | None:
    """Return the sampling variance of the mean, or None if no problem has two scored samples."""
    variances = scores.variances
    if np.isnan(variances).all():
        return None
    # Problems with one scored sample get the others' average variance.
    within = np.where(np.isnan(variances), np.nanmean(variances), variances)
    return float((within / np.maximum(scores.scored, 1)).sum()) / scores.n**2
