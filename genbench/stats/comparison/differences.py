"""Intervals and the detectable size of a mean difference, from differences by independent cluster."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri, stdtrit

from genbench.stats.intervals import LEVEL, Interval, normal_quantile, t_quantile, unseen_share, wilson
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
    half = normal_quantile(level) * math.sqrt(v)
    return Interval(max(-1.0, d - half), min(1.0, d + half), method)


def _mean_variance(scores: Scores) -> float | None:
    """Return the sampling variance of the mean, or None if no problem has two scored samples."""
    variances = scores.variances
    if np.isnan(variances).all():
        return None
    # Problems with one scored sample get the others' average variance.
    within = np.where(np.isnan(variances), np.nanmean(variances), variances)
    return float((within / np.maximum(scores.scored, 1)).sum()) / scores.n**2


def mover_lower(clusters: Clusters, alpha: float, *, fit_skewness: bool = False) -> float:
    """Return the lower bound of the mean difference at confidence 1 - alpha.

    The difference is a mean gain minus a mean loss. Each gets a Wilson limit on its effective number of
    problems, and the two limits are joined by the method of variance estimates recovery (Newcombe 1998, Zou
    and Donner 2008) with the negative correlation that gain and loss of one sample have. A t bound assumes a
    symmetric spread and grants non-inferiority up to four times too often if a few problems collapse.

    The effective number fits the mean and the variance of the losses. If most problems lose a little by
    chance and a few collapse, it counts more losses than there are collapses. The limit is then too near:
    a nominal error of 5 % was up to 7.5 % (simulated). With `fit_skewness` the limit of the loss fits the
    third moment too (see `_skewed_limit`), and the error of such nights is at most 6.6 % (simulated).

    Args:
        clusters: differences tuned minus base, summed by cluster. Problems are clusters of size 1.
        alpha: error of the bound, in (0, 0.5].
        fit_skewness: whether the bound also allows for the skewness of the losses. It is never higher then.

    Returns:
        A value in [-1, 1]; -1 for a single cluster, which says nothing about others.
    """
    if clusters.count < 2:
        return -1.0
    shrink = (float(ndtri(1 - alpha)) / float(stdtrit(clusters.count - 1, 1 - alpha))) ** 2
    loss = Clusters(np.maximum(-clusters.totals, 0.0), clusters.sizes)
    gain = Clusters(np.maximum(clusters.totals, 0.0), clusters.sizes)
    level = 1 - 2 * alpha
    highest_loss = wilson(loss.mean, _effective(loss) * shrink, level)[1]
    if fit_skewness:
        highest_loss = max(highest_loss, _skewed_limit(loss, shrink, level))
    lowest_gain = wilson(gain.mean, _effective(gain) * shrink, level)[0] if gain.mean > 0 else 0.0
    below = gain.mean - lowest_gain
    above = highest_loss - loss.mean
    spread = below**2 + above**2 - 2 * _correlation(loss, gain) * below * above
    return max(-1.0, gain.mean - loss.mean - math.sqrt(max(0.0, spread)))


def _effective(part: Clusters) -> float:
    """Return how many 0/1 problems would show the spread of `part`."""
    mean, se = part.mean, part.se
    if not se or not 0 < mean < 1:
        return float(part.count)
    return mean * (1 - mean) / se**2


def _skewed_limit(loss: Clusters, shrink: float, level: float) -> float:
    """Return the upper limit of a mean loss from its first three moments.

    The losses are matched to a constant and a share of clusters that lose one and the same amount: with
    moments m1, m2, m3 the amount is m3/m2, the share (m2/amount)/amount, and the constant takes the rest of
    m1. The constant is not negative, because m2² is at most m1 m3. The share gets the Wilson limit on the
    number of clusters that its spread is worth. Losses of one size give the plain Wilson limit.
    """
    values = loss.totals * (loss.count / float(loss.sizes.sum()))
    second, third = float((values**2).mean()), float((values**3).mean())
    if third <= 0 or not loss.se:
        return 0.0
    amount = third / second
    moving = second / amount
    share = min(1.0, moving / amount)
    number = share * (1 - share) * (amount / loss.se) ** 2 * shrink
    if number <= 0:
        return 0.0
    return loss.mean - moving + amount * wilson(share, number, level)[1]


def _correlation(loss: Clusters, gain: Clusters) -> float:
    """Return the correlation of both means: a problem that gains cannot lose."""
    if not loss.se or not gain.se:
        return 0.0
    return -loss.mean * gain.mean / ((loss.count - 1) * loss.se * gain.se)
