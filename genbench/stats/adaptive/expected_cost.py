"""The expected cost of an adaptive run, by simulated nights with normal errors, before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from genbench.stats.adaptive.alpha_spending import level
from genbench.stats.adaptive.group_sequential import POOLED_MARGIN, TaskRule
from genbench.stats.comparison.differences import ALPHA
from genbench.stats.comparison.power import ComponentsRecord
from genbench.stats.scores import Bools, Floats, Ints

NIGHTS = 4000


@dataclass(frozen=True, slots=True)
class ForeseenTask:
    """One task before it is drawn: its rule, its variances, its base, and the share of sure problems."""

    rule: TaskRule
    parts: ComponentsRecord
    k_base: float
    sure: float

    @property
    def samples(self) -> Floats:
        """The samples at each look (looks,), and 0 before the first one."""
        looks = self.rule.looks
        sure = np.arange(looks.n) < round(self.sure * looks.n)
        # Sure problems are spread evenly over the batches of a task that is drawn by problems.
        order = np.random.default_rng(0).permutation(looks.n)
        counts = [looks.samples(look, sure[order]).sum() for look in range(1, looks.count + 1)]
        return np.array([0, *counts], dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The expected outcome of a run. `share` is that of the samples of a run without any stop.

    `regressed` and `non_inferior` are the shares of nights with this verdict of the suite's tasks.
    `tasks` are the expected shares of samples by task.
    """

    share: float
    regressed: float
    non_inferior: float
    tasks: Mapping[str, float]


def foresee(
    tasks: Mapping[str, ForeseenTask],
    drops: Mapping[str, float],
    *,
    seed: int,
    nights: int = NIGHTS,
    alpha: float = ALPHA,
) -> Foreseen:
    """Simulate nights in which each task really lost `drops` (0 for the others).

    The differences at the looks are normal, with the variances of `tasks`. The rule is that of the run, with
    normal bounds instead of exact ones. It ends with the first task or pooled difference that REGRESSED.

    Args:
        drops: the true loss of each task, as a fraction of 1.
    """
    rng = np.random.default_rng(seed)
    names = list(tasks)
    paths = {name: _path(task, drops.get(name, 0.0), nights, rng) for name, task in tasks.items()}
    rounds = max(task.rule.looks.count for task in tasks.values())
    reached = {name: np.ones(nights, dtype=np.int64) for name in names}
    draws = {name: np.ones(nights, dtype=bool) for name in names}
    open_ = {name: np.ones(nights, dtype=bool) for name in names}
    passed = {name: np.zeros(nights, dtype=bool) for name in names}
    regressed = np.zeros(nights, dtype=bool)
    family = [name for name in names if tasks[name].rule.gating]
    fractions: list[float] = []
    for _ in range(rounds):
        for name in names:
            task, at = tasks[name], reached[name] - 1
            mean, se = paths[name][0][at, np.arange(nights)], paths[name][1][at]
            looked = draws[name] & open_[name]
            low = ndtr(mean / se) <= np.array(task.rule.drop)[at]
            bound = mean + ndtri(np.array(task.rule.bound)[at]) * se > -task.rule.margin
            regressed |= draws[name] & low & task.rule.gating
            passed[name] = (passed[name] | (looked & bound)) & ~(draws[name] & low)
            open_[name] &= ~(looked & (low | bound))
        doubt = np.zeros(nights, dtype=bool)
        if len(family) > 1:
            lower, p, fraction = _pooled(tasks, paths, reached, family)
            # Fractions must rise. They do not if no gating task drew in this round.
            fractions.append(max(fraction, (fractions[-1] if fractions else 0.0) + 1e-3))
            capped = [min(1.0, one) for one in fractions]
            regressed |= p <= level("obf", alpha / 2, capped)
            doubt = lower(level("pocock", alpha, capped)) <= -POOLED_MARGIN
        for name in names:
            rule = tasks[name].rule
            more = open_[name] | (doubt & rule.gating & (not rule.is_small))
            draws[name] = more & ~regressed & (reached[name] < rule.looks.count)
            reached[name] = reached[name] + draws[name]
        if not any(going.any() for going in draws.values()):
            break
    return _outcome(tasks, reached, regressed, passed)


def _path(task: ForeseenTask, drop: float, nights: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return simulated differences (looks, nights) and their standard errors (looks,)."""
    looks, parts = task.rule.looks, task.parts
    fixed = parts.change + parts.within / task.k_base
    if looks.by_problems:
        sizes = np.array([0, *looks.steps])
        spread = fixed + parts.within / looks.k
        sums = rng.normal(size=(looks.count, nights)) * np.sqrt(np.diff(sizes) * spread)[:, None]
        means = np.cumsum(sums, axis=0) / sizes[1:, None]
        return means - drop, np.sqrt(spread / sizes[1:])
    steps = np.array([0, *looks.steps])
    noise = rng.normal(size=(looks.count, nights)) * np.sqrt(np.diff(steps) * parts.within)[:, None]
    own = rng.normal(size=nights) * math.sqrt(fixed)
    means = (np.cumsum(noise, axis=0) / steps[1:, None] + own) / math.sqrt(looks.n)
    return means - drop, np.sqrt((fixed + parts.within / steps[1:]) / looks.n)


Paths = Mapping[str, tuple[Floats, Floats]]


class _Lower:
    """The lower bound of the pooled difference of each night, at any level."""

    def __init__(self, mean: Floats, se: Floats) -> None:
        self._mean, self._se = mean, se

    def __call__(self, error: float) -> Floats:
        return np.asarray(self._mean + float(ndtri(error)) * self._se)


def _pooled(
    tasks: Mapping[str, ForeseenTask], paths: Paths, reached: Mapping[str, Ints], family: Sequence[str]
) -> tuple[_Lower, Floats, float]:
    """Return bound and p of the pooled difference of each night, and the mean fraction over the nights."""
    nights = len(reached[family[0]])
    total, weighted, fraction = np.zeros(nights), np.zeros(nights), 0.0
    for name in family:
        at = reached[name] - 1
        mean, se = paths[name][0][at, np.arange(len(at))], paths[name][1][at]
        total, weighted = total + 1 / se**2, weighted + mean / se**2
        fraction += float(np.array(tasks[name].rule.looks.fractions)[at].mean()) / len(family)
    mean, se = np.asarray(weighted / total), np.asarray(1 / np.sqrt(total))
    return _Lower(mean, se), np.asarray(ndtr(mean / se)), fraction


def _outcome(
    tasks: Mapping[str, ForeseenTask],
    reached: Mapping[str, Ints],
    regressed: Bools,
    passed: Mapping[str, Bools],
) -> Foreseen:
    drawn = {name: float(task.samples[reached[name]].mean()) for name, task in tasks.items()}
    planned = {name: task.rule.looks.n * task.rule.looks.k for name, task in tasks.items()}
    gating = [passed[name] for name, task in tasks.items() if task.rule.gating and not task.rule.is_small]
    alike = np.logical_and.reduce(gating) if gating else np.zeros(len(regressed), dtype=bool)
    return Foreseen(
        share=sum(drawn.values()) / sum(planned.values()),
        regressed=float(regressed.mean()),
        non_inferior=float((alike & ~regressed).mean()),
        tasks={name: drawn[name] / planned[name] for name in tasks},
    )
