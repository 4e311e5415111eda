"""The gating tasks of a comparison taken together: their pooled difference, and a bound of their mean."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from genbench.stats.differences import ALPHA, lower_bound
from genbench.stats.intervals import LEVEL
from genbench.stats.paired import Paired
from genbench.stats.resample import Clusters
from genbench.stats.scores import Floats
from genbench.stats.signflip import sign_flip

MIN_PROBLEMS = 100
"""Problems needed for non-inferiority: at 30 problems near 1 the 5 % test errs in 13 % (simulated)."""
SHOWABLE_LOSSES = 4.0
"""n problems without a loss exclude 3 of n at best. A loss of 4 of n is the smallest asked of a task."""


@dataclass(frozen=True, slots=True)
class Pooled:
    """The inverse-variance pooled difference of the gating tasks, with its sign-flip p values."""

    difference: float | None
    ci: tuple[float, float] | None
    p_regression: float
    p_improvement: float
    tasks: tuple[str, ...]
    """Tasks with any difference at all. The others have no weight."""


@dataclass(frozen=True, slots=True)
class Together:
    """Whether the gating tasks together lost less than a margin. Shares are fractions of 1.

    `difference` is the plain mean of the tasks' differences, every excluded sample against tuned. `lower` is
    its one-sided 95 % lower bound. `problems` is the number of problems with the same weight that the mean
    is worth. `doubtful` names the tasks whose own loss may be twice their margin.
    """

    difference: float | None
    lower: float | None
    margin: float
    problems: float = 0.0
    doubtful: tuple[str, ...] = ()

    @property
    def is_non_inferior(self) -> bool:
        """Whether a mean loss of the margin is excluded, and a loss of twice the margin in each task."""
        many = self.problems >= MIN_PROBLEMS
        return many and self.lower is not None and self.lower > -self.margin and not self.doubtful


@dataclass(frozen=True, slots=True)
class PlainMean:
    """The plain mean of the tasks' differences, as a reader of the table would take it."""

    difference: float | None
    ci: tuple[float, float] | None


def pool(tasks: Mapping[str, Paired]) -> Pooled:
    """Return the inverse-variance pooled difference over tasks.

    The p values flip the signs of all tasks' differences at once, with fixed weights. Unlike a normal p
    they do not rely on a variance estimated from three problems. A task whose problems all score the same
    in both runs has no weight, since it has nothing to flip.
    """
    moved = {
        name: variance
        for name, task in tasks.items()
        if task.clusters is not None and (variance := _variance(task.clusters)) > 0
    }
    if not moved:
        return _without_change(tasks)
    weights = {name: 1 / variance for name, variance in moved.items()}
    total = math.fsum(weights.values())
    parts = [_scaled(tasks[name].clusters, weight / total) for name, weight in weights.items()]
    difference = math.fsum(float(part.sum()) for part in parts)
    half = float(ndtri((1 + LEVEL) / 2)) / math.sqrt(total)
    ci = (max(-1.0, difference - half), min(1.0, difference + half))
    names = tuple(moved)
    if len(tasks) == 1:
        only = tasks[names[0]]
        return Pooled(difference, only.ci, p_or_one(only.p_regression), p_or_one(only.p_gain), names)
    flips = sign_flip(np.concatenate(parts))
    gain = flips.p_improvement
    if any(task.bounds for task in tasks.values()):
        # A gain must remain if every excluded sample counts against tuned.
        worst = [_scaled(tasks[name].worst, weight / total) for name, weight in weights.items()]
        gain = sign_flip(np.concatenate(worst)).p_improvement
    return Pooled(difference, ci, flips.p_regression, gain, names)


def _without_change(tasks: Mapping[str, Paired]) -> Pooled:
    """Return the pooled difference of tasks whose problems all score the same in both runs."""
    known = any(task.clusters is not None for task in tasks.values())
    return Pooled(0.0 if known else None, None, 1.0, 1.0, ())


def together(
    tasks: Mapping[str, Paired], margins: Mapping[str, float], margin: float, alpha: float = ALPHA
) -> Together:
    """Return the bound of the mean difference over tasks, and the tasks that may have lost far more.

    Every task has the same weight. Weights by variance would shrink just where a few problems collapse. The
    mean of the lower bounds' distances is joined in squares, as in the bound of one task (Zou and Donner
    2008, method of variance estimates recovery), so the tasks' skewed errors remain skewed.

    A mean hides a loss in one of many tasks. So each task must also exclude a loss of twice its margin, at
    97.5 %, because the bound of one task with single samples errs in up to 8 % instead of 5 % (simulated). A
    task of n problems need exclude no less than a share of 4/n.

    Args:
        margins: the margin of each task.
        margin: the margin of the mean.
        alpha: error of the bound of the mean. That of each task's own bound is half of it.
    """
    known = {name: task.worst for name, task in tasks.items() if task.worst is not None}
    if not known or len(known) < len(tasks):
        return Together(None, None, margin)
    bounds = {name: lower_bound(worst, alpha) for name, worst in known.items()}
    difference = math.fsum(worst.mean for worst in known.values()) / len(known)
    squares = math.fsum((worst.mean - bounds[name]) ** 2 for name, worst in known.items())
    doubtful = tuple(
        name
        for name, worst in known.items()
        if lower_bound(worst, alpha / 2) <= -max(2 * margins[name], SHOWABLE_LOSSES / worst.count)
    )
    lower = max(-1.0, difference - math.sqrt(squares) / len(known))
    problems = len(known) ** 2 / math.fsum(1 / worst.count for worst in known.values())
    return Together(difference, lower, margin, problems, doubtful)


def plain_mean(tasks: Mapping[str, Paired]) -> PlainMean:
    """Return the plain mean of the tasks' differences. Tasks without a difference are left out.

    The distances of the tasks' interval bounds are joined in squares, as in `together`.
    """
    known = [(task.difference, task.ci) for task in tasks.values() if task.difference is not None]
    if not known:
        return PlainMean(None, None)
    count = len(known)
    mean = math.fsum(difference for difference, _ in known) / count
    if any(ci is None for _, ci in known):
        return PlainMean(mean, None)
    low, high = (
        math.sqrt(math.fsum((difference - ci[side]) ** 2 for difference, ci in known if ci)) / count
        for side in (0, 1)
    )
    return PlainMean(mean, (max(-1.0, mean - low), min(1.0, mean + high)))


def _variance(clusters: Clusters) -> float:
    """Return the sampling variance of the difference. If all differences are equal, their mean square."""
    if clusters.se:
        return clusters.se**2
    return float((clusters.totals**2).sum() / clusters.sizes.sum() ** 2)


def _scaled(clusters: Clusters | None, weight: float) -> Floats:
    """Return the differences by cluster, scaled so that they add up to weight * difference."""
    assert clusters is not None
    return np.asarray(weight * clusters.totals / clusters.sizes.sum(), dtype=np.float64)


def p_or_one(p: float | None) -> float:
    """Return p, or 1 for a task without a value, which cannot reject anything."""
    return 1.0 if p is None else p
