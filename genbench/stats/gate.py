"""The gate: a decision on each task of a comparison, and on the suite from the pooled difference."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import ndtri

from genbench.errors import InputError, nearest
from genbench.stats.differences import ALPHA
from genbench.stats.families import holm
from genbench.stats.intervals import LEVEL
from genbench.stats.paired import Paired
from genbench.stats.scores import Floats
from genbench.stats.signflip import sign_flip

GateVerdict = Literal["REGRESSED", "IMPROVED", "NON_INFERIOR", "INCONCLUSIVE"]
MARGIN = 0.03
MIN_PROBLEMS = 100
"""Problems needed for non-inferiority: at 30 problems near 1 the 5 % test errs in 13 % (simulated)."""


@dataclass(frozen=True, slots=True)
class TaskGate:
    """The gate's decision on one task. Adjusted p values are None outside the gating family."""

    verdict: GateVerdict
    gating: bool
    margin: float
    alpha: float
    """Level of the test of the (adjusted) p values."""
    p_regression_adjusted: float | None
    p_improvement_adjusted: float | None


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
class Gate:
    """All decisions of one comparison."""

    tasks: Mapping[str, TaskGate]
    pooled: Pooled
    verdict: GateVerdict
    alpha_pooled: float

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 1 if the suite or a gating task regressed. With `strict`, also if one is inconclusive."""
        gating = [task.verdict for task in self.tasks.values() if task.gating]
        failing = {"REGRESSED", "INCONCLUSIVE"} if strict else {"REGRESSED"}
        return int(bool(failing & {self.verdict, *gating}))


def gate(
    tasks: Mapping[str, Paired],
    *,
    gating: Collection[str] | None = None,
    margins: Mapping[str, float] | None = None,
    alpha: float = ALPHA,
) -> Gate:
    """Decide on each task and the suite, with at most `alpha` chance of a false alarm over all gating tasks.

    Half of `alpha` goes to Holm over the gating tasks. The other half goes to the pooled difference, which
    finds a small drop that is spread over all of them. A single gating task needs no split. Improvement is
    tested the same way in a family of its own. The first of REGRESSED, IMPROVED and NON_INFERIOR counts.
    Tasks that do not gate are decided by their own p at `alpha`. With `gating` None every task gates.

    Raises:
        InputError: `gating` or `margins` name a task that is not in the comparison.
    """
    margins = margins or {}
    names = list(tasks) if gating is None else [name for name in tasks if name in gating]
    for name in [*(gating or ()), *margins]:
        if name not in tasks:
            raise InputError(f"no task '{name}' in this comparison{nearest(name, tasks)}")
    share = alpha if len(names) == 1 else alpha / 2
    family = {name: tasks[name] for name in names}
    gates = {
        name: _decide(task, draft)
        for (name, task), draft in zip(
            tasks.items(), _drafts(tasks, family, margins, alpha, share), strict=True
        )
    }
    pooled = pool(family)
    return Gate(gates, pooled, _suite([gates[name].verdict for name in names], pooled, share), share)


def _drafts(
    tasks: Mapping[str, Paired],
    family: Mapping[str, Paired],
    margins: Mapping[str, float],
    alpha: float,
    share: float,
) -> list[TaskGate]:
    """Return each task's margin, level and adjusted p values, not decided yet."""
    worse = dict(zip(family, holm([_p(task.p_regression) for task in family.values()]), strict=True))
    better = dict(zip(family, holm([_p(task.p_improvement) for task in family.values()]), strict=True))
    return [
        TaskGate(
            verdict="INCONCLUSIVE",
            gating=name in family,
            margin=margins.get(name, MARGIN),
            alpha=share if name in family else alpha,
            p_regression_adjusted=worse.get(name),
            p_improvement_adjusted=better.get(name),
        )
        for name in tasks
    ]


def pool(tasks: Mapping[str, Paired]) -> Pooled:
    """Return the inverse-variance pooled difference over tasks.

    The p values flip the signs of all tasks' differences at once, with fixed weights. Unlike a normal p
    they do not rely on a variance estimated from three problems. A task whose problems all score the same
    in both runs has no weight, since it has nothing to flip.
    """
    moved = {
        name: variance
        for name, task in tasks.items()
        if task.clusters is not None and (variance := _variance(task)) > 0
    }
    if not moved:
        known = any(task.clusters is not None for task in tasks.values())
        return Pooled(0.0 if known else None, None, 1.0, 1.0, ())
    weights = {name: 1 / variance for name, variance in moved.items()}
    total = math.fsum(weights.values())
    parts = [_scaled(tasks[name], weight / total) for name, weight in weights.items()]
    difference = math.fsum(float(part.sum()) for part in parts)
    half = float(ndtri((1 + LEVEL) / 2)) / math.sqrt(total)
    ci = (max(-1.0, difference - half), min(1.0, difference + half))
    names = tuple(moved)
    if len(tasks) == 1:
        only = tasks[names[0]]
        return Pooled(difference, only.ci, _p(only.p_regression), _p(only.p_improvement), names)
    flips = sign_flip(np.concatenate(parts))
    return Pooled(difference, ci, flips.p_regression, flips.p_improvement, names)


def _decide(task: Paired, draft: TaskGate) -> TaskGate:
    """Return the draft with its decision."""
    p_worse = draft.p_regression_adjusted if draft.gating else task.p_regression
    p_better = draft.p_improvement_adjusted if draft.gating else task.p_improvement
    verdict: GateVerdict = "INCONCLUSIVE"
    if _p(p_worse) <= draft.alpha:
        verdict = "REGRESSED"
    elif _p(p_better) <= draft.alpha:
        verdict = "IMPROVED"
    elif _is_non_inferior(task, draft.margin):
        verdict = "NON_INFERIOR"
    return replace(draft, verdict=verdict)


def _is_non_inferior(task: Paired, margin: float) -> bool:
    """Return whether there are enough problems and the lower bound is above minus the margin."""
    many = task.clusters is not None and task.clusters.count >= MIN_PROBLEMS
    return many and task.lower is not None and task.lower > -margin


def _suite(verdicts: list[GateVerdict], pooled: Pooled, alpha: float) -> GateVerdict:
    """Return the decision on the suite from those on the gating tasks and the pooled difference."""
    if "REGRESSED" in verdicts or pooled.p_regression <= alpha:
        return "REGRESSED"
    if "IMPROVED" in verdicts or pooled.p_improvement <= alpha:
        return "IMPROVED"
    if verdicts and all(verdict == "NON_INFERIOR" for verdict in verdicts):
        return "NON_INFERIOR"
    return "INCONCLUSIVE"


def _variance(task: Paired) -> float:
    """Return the sampling variance of the difference. If all differences are equal, their mean square."""
    assert task.clusters is not None
    if task.se:
        return task.se**2
    square = (task.clusters.totals**2).sum() / task.clusters.sizes.sum() ** 2
    return float(square)


def _scaled(task: Paired, weight: float) -> Floats:
    """Return the task's differences by cluster, scaled so that they add up to weight * difference."""
    assert task.clusters is not None
    return np.asarray(weight * task.clusters.totals / task.clusters.sizes.sum(), dtype=np.float64)


def _p(p: float | None) -> float:
    """Return p, or 1 for a task without a value, which cannot reject anything."""
    return 1.0 if p is None else p
