"""Scores of a judge that a few labels of people correct: means, differences, and what would explain a gain.

The labelled problems are a random subset of all. Problems are the units.

Sources: prediction-powered inference (arXiv 2301.09633 and 2311.01453); for known error rates Rogan and
Gladen 1978 and arXiv 2511.21140.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, stdtr

from genbench.stats.intervals import LEVEL, MIN_COUNT, normal_quantile, t_quantile, wilson
from genbench.stats.scores import Floats

FEW = 25
"""With fewer labels of one class nobody knows how the judge errs, and the labels stand alone."""
_LEAST_SKILL = 0.2
"""Sensitivity + specificity - 1 below which a judge is taken not to know."""


@dataclass(frozen=True, slots=True)
class Corrected:
    """A mean of labels that a judge's scores of many more problems make more precise.

    Args:
        value, se, ci: of the corrected mean.
        weight: how much of the judge is believed, in [0, 1]. With 0 the labels stand alone.
        labels: the mean of the labels alone; `labels_ci`: its interval.
        judge: the mean of the judge's scores of all problems.
        n, rest: labelled problems, and those with the judge's score only.
    """

    value: float
    se: float
    ci: tuple[float, float]
    weight: float
    labels: float
    labels_ci: tuple[float, float]
    judge: float
    n: int
    rest: int

    @property
    def p(self) -> float:
        """The two-sided p value of a mean of 0, for differences (Student's t)."""
        if self.se == 0:
            return 1.0 if self.value == 0 else 0.0
        return float(2 * stdtr(self.n - 1, -abs(self.value) / self.se))


def corrected_mean(
    labels: Floats,
    judged: Floats,
    rest: Floats,
    *,
    own: Floats | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
    few: int = FEW,
    level: float = LEVEL,
) -> Corrected:
    """Return the mean of labels, corrected by the judge's scores of everything (PPI++).

    Args:
        labels: what people said, one value for each labelled problem (n,), n >= 5.
        judged: the judge's score of the same answers (n,).
        rest: the judge's mean score of each other problem (N,).
        own: the judge's mean score of all answers of each labelled problem (n,). None: each has one answer.
        bounds: (0, 1) for scores, (-1, 1) for differences.
        few: the least number of labels of one class with which the judge is believed at all.
    """
    n, many = len(labels), len(rest)
    alone = _mean(labels, bounds, level)
    everything = np.concatenate((judged if own is None else own, rest))
    judge, share = float(everything.mean()), n / (n + many)
    # What is left of the judge's score of an answer beyond what the mean of everything has of it already.
    beyond = judged - share * (judged if own is None else own)
    spread = float(everything.var(ddof=1))
    single = (1 - share) ** 2 * spread if own is None else float(beyond.var(ddof=1))
    denominator = single + share * (1 - share) * spread
    weight = 0.0
    if denominator > 0 and _is_enough(labels, bounds, few):
        covariance = float(np.cov(labels, beyond, ddof=1)[0, 1])
        weight = min(max(covariance / denominator, 0.0), 1.0)
    left = labels - weight * beyond
    value = float(left.mean() + weight * (rest.sum() / (n + many)))
    # A good judge contradicts few of the labels, so that their spread is hardly measured: one more is added.
    added = 1.0 if few and float(np.abs(labels - judged).sum()) < MIN_COUNT else 0.0
    variance = float(np.square(left - left.mean()).sum() + added) / (n - 1) / n
    if few:  # the weight is estimated from the same labels, as the slope of a regression estimator is
        variance *= (n - 1) / (n - 2) * (1 + 1 / (n - 3))
    if many > 1:
        variance += (weight * (1 - share)) ** 2 * float(rest.var(ddof=1)) / many
    if weight == 0 or math.sqrt(variance) >= alone[1]:
        return Corrected(alone[0], alone[1], alone[2], 0.0, alone[0], alone[2], judge, n, many)
    held = min(max(value, bounds[0]), bounds[1])
    ci = _interval(value, math.sqrt(variance), n, bounds, level)
    return Corrected(held, math.sqrt(variance), ci, weight, alone[0], alone[2], judge, n, many)


def _is_enough(labels: Floats, bounds: tuple[float, float], few: int) -> bool:
    """Return whether enough labels tell how the judge errs: of each class, or in all for differences."""
    if bounds[0] < 0:
        return len(labels) >= 2 * few and float(np.abs(labels).sum()) >= min(MIN_COUNT, few)
    right = float(labels.sum())
    return min(right, len(labels) - right) >= few


def _mean(
    values: Floats, bounds: tuple[float, float], level: float
) -> tuple[float, float, tuple[float, float]]:
    value, se = float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values))
    if bounds[0] < 0 and float(np.abs(values).sum()) < MIN_COUNT:
        return value, se, _few_changes(values, level)
    return value, se, _interval(value, se, len(values), bounds, level)


def _few_changes(values: Floats, level: float) -> tuple[float, float]:
    """Return the interval of a mean of which few values are not 0 (Newcombe 1998, method 10)."""
    n = len(values)
    gains, losses = float(values.clip(0).mean()), float((-values).clip(0).mean())
    up, down = wilson(gains, n, level), wilson(losses, n, level)
    value = gains - losses
    low = value - math.hypot(gains - up[0], down[1] - losses)
    high = value + math.hypot(up[1] - gains, losses - down[0])
    return max(low, -1.0), min(high, 1.0)


def _interval(
    value: float, se: float, n: int, bounds: tuple[float, float], level: float
) -> tuple[float, float]:
    """Return a t interval, or Wilson's on the effective number of labels where few of one class are in it."""
    low, high = bounds
    if low == 0:
        inside = min(max(value, 0.0), 1.0)
        effective = float(n) if se == 0 else max(inside * (1 - inside) / se**2, 1.0)
        if effective * min(inside, 1 - inside) < MIN_COUNT:
            shrunk = effective * (normal_quantile(level) / t_quantile(level, n)) ** 2
            return wilson(inside, shrunk, level)
    half = t_quantile(level, n) * se
    return max(value - half, low), min(value + half, high)


def labels_needed(correlation: float, problems: int, n: int, sd: float = 0.5, level: float = LEVEL) -> float:
    """Return the half width of a corrected interval with n labels of `problems`.

    Args:
        correlation: of labels and judge. 0 gives the half width of the labels alone.
        sd: of the labels.
    """
    kept = 1 - correlation**2 * (problems - n) / problems
    return t_quantile(level, n) * sd * math.sqrt(kept / n)


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """How often a judge is right on right answers (`q1`, of `m1` known ones) and on wrong (`q0`, `m0`)."""

    q1: float
    m1: float
    q0: float
    m0: float

    @property
    def skill(self) -> float:
        """By how much the judge shrinks a true difference: q0 + q1 - 1."""
        return self.q0 + self.q1 - 1


def rates_by_class(labels: Sequence[bool], judged: Sequence[bool]) -> tuple[int, int, int, int]:
    """Return (judged right of the right ones, right ones, judged wrong of the wrong ones, wrong ones)."""
    right = [found for label, found in zip(labels, judged, strict=True) if label]
    wrong = [found for label, found in zip(labels, judged, strict=True) if not label]
    return sum(right), len(right), sum(not found for found in wrong), len(wrong)


def without_errors(
    share: float, n: int, rates: ErrorRates, level: float = LEVEL
) -> tuple[float, float, float, float]:
    """Return (value, se, low, high) of the true share, from that which a judge of known errors calls right.

    The error rates are of *other* answers, a set that is kept. For labels on a random part of these answers
    `corrected_mean` is narrower.

    Raises:
        ValueError: the judge does not know: q0 + q1 - 1 is below 0.2.
    """
    if rates.skill < _LEAST_SKILL:
        raise ValueError(f"q0 + q1 - 1 is {rates.skill:.2f}, wanted {_LEAST_SKILL} or more")
    value = (share + rates.q0 - 1) / rates.skill
    variance = share * (1 - share) / n
    variance += (1 - value) ** 2 * rates.q0 * (1 - rates.q0) / rates.m0
    variance += value**2 * rates.q1 * (1 - rates.q1) / rates.m1
    se = math.sqrt(variance) / rates.skill
    half = normal_quantile(level) * se
    return value, se, max(value - half, 0.0), min(value + half, 1.0)


def tipping_point(base: float, tuned: float, rates: ErrorRates | None = None) -> float:
    """Return how much more lenient to one side a judge must be so that it alone explains a difference.

    For a gain: the share of tuned's wrong answers that it would call right beyond those of base. For a loss
    the same of base's. Infinite if no answer is wrong.

    Args:
        base, tuned: the shares that the judge calls right.
        rates: its error rates on both. None takes it as right on all others.
    """
    low, high = sorted((base, tuned))
    truth = low if rates is None else min(max((low + rates.q0 - 1) / rates.skill, 0.0), 1.0)
    return math.inf if truth >= 1 else (high - low) / (1 - truth)


def fisher_exact(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided p value of equal shares (Fisher 1935): all tables as unlikely as this one or more.

    Args:
        first, second: (successes, trials).
    """
    (x, m), (y, n) = first, second
    total = x + y
    places = np.arange(max(0, total - n), min(m, total) + 1, dtype=np.float64)
    logs = _log_binomial(m, places) + _log_binomial(n, total - places)
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    own = chances[x - max(0, total - n)]
    return float(min(1.0, chances[chances <= own * (1 + 1e-7)].sum()))


def _log_binomial(n: int, k: Floats) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), dtype=np.float64)
