"""Recovery: the score of a variant over that of its base, with the interval of the ratio."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from genbench.json_record import JsonRecord
from genbench.stats.comparison.differences import ALPHA, lower_bound
from genbench.stats.comparison.gate import MIN_PROBLEMS, SHOWABLE_LOSSES, Gate, GateVerdict, TaskGate
from genbench.stats.comparison.paired import Paired
from genbench.stats.intervals import LEVEL, t_quantile
from genbench.stats.resample import Clusters

RECOVERY_MARGIN = 0.01
"""The loss of recovery over all tasks that counts as none. Cards of quantized models call 99 % recovered."""
MOST_RELATIVE_ERROR = 0.25
"""Above this standard error of base, relative to its score, no ratio is given: its interval has no use."""


class Ratio(JsonRecord):
    """A recovery: the score of a variant over that of base."""

    value: float = Field(description="the ratio; 1 is the score of base")
    ci: tuple[float, float] = Field(description="95% interval for new questions of this kind")
    lower: float = Field(
        description="one-sided 95% lower bound with every excluded sample against the variant; above 1 less "
        "the margin a loss is excluded"
    )


@dataclass(frozen=True, slots=True)
class Recoveries:
    """The recovery of each task, and of all gating tasks in two ways.

    `tasks` has None for a task whose base is too near 0. `mean` is the plain mean of the tasks' ratios, and
    `of_means` is the ratio of the mean scores. Both are None if no gating task has a ratio.
    """

    tasks: dict[str, Ratio | None]
    mean: Ratio | None
    of_means: Ratio | None


def recoveries(found: Mapping[str, Paired], gating: Sequence[str]) -> Recoveries:
    """Return the recovery of each task and over the gating ones."""
    tasks = {name: recovery(task) for name, task in found.items()}
    known = [(ratio, found[name].base or 0.0) for name in gating if (ratio := tasks[name]) is not None]
    if not known:
        return Recoveries(tasks, None, None)
    ratios = [ratio for ratio, _ in known]
    total = math.fsum(base for _, base in known)
    return Recoveries(
        tasks,
        _joined(ratios, [1 / len(ratios)] * len(ratios)),
        _joined(ratios, [base / total for _, base in known]),
    )


def recovery(found: Paired) -> Ratio | None:
    """Return the ratio tuned / base of one task, or None if base is too near 0 or there is one cluster.

    Each end of the interval is the farther one of two. Fieller's (paired, of whole clusters) knows that base
    varies too, but assumes symmetric spread. The other one is that of the difference, which allows for a few
    problems that collapse (see `lower_bound`), over the score of base. Fieller's alone says in up to 16 %
    instead of 5 % that no more than the margin was lost (100 problems, one of which collapses, simulated).
    """
    base, tuned, worst, moved = found.base_scores, found.tuned_scores, found.worst, found.clusters
    if base is None or tuned is None or worst is None or moved is None:
        return None
    if base.se is None or base.mean <= 0 or base.se > MOST_RELATIVE_ERROR * base.mean:
        return None
    better = Clusters(-moved.totals, moved.sizes)

    def bounds(alpha: float) -> tuple[float, float]:
        low, high = _fieller(tuned, base, 1 - 2 * alpha)
        return (
            max(0.0, min(low, 1 + lower_bound(worst, alpha) / base.mean)),
            max(high, 1 - lower_bound(better, alpha) / base.mean),
        )

    ci = bounds((1 - LEVEL) / 2)
    return Ratio(value=tuned.mean / base.mean, ci=ci, lower=bounds(ALPHA)[0])


def _fieller(tuned: Clusters, base: Clusters, level: float) -> tuple[float, float]:
    """Return the ratios R for which the mean of tuned - R base does not differ from 0 (Fieller 1954).

    It exists, since base is several standard errors above 0.
    """
    quantile = t_quantile(level, base.count) ** 2
    sizes = base.sizes / base.sizes.sum()
    parts = np.stack([side.totals / base.sizes.sum() - sizes * side.mean for side in (tuned, base)])
    cov = parts @ parts.T * base.count / (base.count - 1) * quantile
    square = base.mean**2 - cov[1, 1]
    if square <= 0:
        return 0.0, math.inf
    middle = tuned.mean * base.mean - cov[0, 1]
    half = math.sqrt(max(0.0, middle**2 - square * (tuned.mean**2 - cov[0, 0])))
    return (middle - half) / square, (middle + half) / square


def _joined(ratios: Sequence[Ratio], weights: Sequence[float]) -> Ratio:
    """Return a weighted mean of ratios. The distances of their bounds are joined in squares."""
    value = math.fsum(weight * one.value for weight, one in zip(weights, ratios, strict=True))

    def distance(of: Sequence[float]) -> float:
        pairs = zip(weights, ratios, of, strict=True)
        return math.sqrt(math.fsum((weight * (one.value - end)) ** 2 for weight, one, end in pairs))

    low, high = (distance([one.ci[side] for one in ratios]) for side in (0, 1))
    lower = distance([one.lower for one in ratios])
    return Ratio(value=value, ci=(max(0.0, value - low), value + high), lower=max(0.0, value - lower))


def task_verdict(decided: TaskGate, ratio: Ratio | None, problems: int) -> GateVerdict:
    """Return the gate's decision on a task by its ratio.

    A drop that is shown, but is smaller than the margin, is not a regression of a variant: a loss within the
    margin was accepted.
    """
    if ratio is not None and _excludes(ratio, decided.margin, problems):
        return "NON_INFERIOR"
    return "REGRESSED" if decided.verdict == "REGRESSED" else "INCONCLUSIVE"


def suite_verdict(
    decided: Gate, verdicts: Sequence[GateVerdict], mean: Ratio | None, margin: float
) -> GateVerdict:
    """Return the decision on all gating tasks: the mean of their ratios, and none that regressed itself.

    Args:
        decided: the gate's decision on the differences.
        verdicts: those of the gating tasks by their ratios.
        margin: the loss of recovery that counts as none.
    """
    if "REGRESSED" in verdicts:
        return "REGRESSED"
    excluded = mean is not None and _excludes(mean, margin, decided.together.problems)
    if excluded and not decided.undecided:
        return "NON_INFERIOR"
    return "REGRESSED" if decided.verdict == "REGRESSED" else "INCONCLUSIVE"


def _excludes(ratio: Ratio, margin: float, problems: float) -> bool:
    """Return whether a loss of the margin is excluded.

    So few problems that they could not show such a loss vouch for no margin, unless a gain is shown.
    """
    enough = problems * margin >= SHOWABLE_LOSSES or ratio.lower > 1
    return problems >= MIN_PROBLEMS and enough and ratio.lower > 1 - margin
