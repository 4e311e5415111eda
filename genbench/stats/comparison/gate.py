"""The gate: a decision on each task of a comparison, and on the suite from all gating tasks together."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.errors import InputError, nearest
from genbench.json_record import JsonRecord, Share
from genbench.stats.comparison.differences import ALPHA, lower_bound, smallest_detectable_drop
from genbench.stats.comparison.exchange_test import flip_law, weighted
from genbench.stats.comparison.paired import Paired
from genbench.stats.comparison.sign_flip_test import sign_flip
from genbench.stats.intervals import LEVEL, normal_quantile
from genbench.stats.multiple_testing import holm
from genbench.stats.resample import Clusters
from genbench.stats.scores import Floats

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
    half = normal_quantile(LEVEL) / math.sqrt(total)
    ci = (max(-1.0, difference - half), min(1.0, difference + half))
    names = tuple(moved)
    if len(tasks) == 1:
        only = tasks[names[0]]
        return Pooled(difference, only.ci, p_or_one(only.p_regression), p_or_one(only.p_gain), names)
    flips = sign_flip(np.concatenate(parts))
    drop, gain = flips.p_regression, flips.p_improvement
    if any(task.bounds for task in tasks.values()):
        # A gain must remain if every excluded sample counts against tuned.
        worst = [_scaled(tasks[name].worst, weight / total) for name, weight in weights.items()]
        gain = sign_flip(np.concatenate(worst)).p_improvement
    if any(tasks[name].law is not None for name in moved):
        laws = [tasks[name].law or flip_law(_scaled(tasks[name].clusters, 1.0)) for name in names]
        law = weighted(laws, [weight / total for weight in weights.values()])
        drop, gain = max(drop, law.p_regression), max(gain, law.p_improvement)
    return Pooled(difference, ci, drop, gain, names)


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


GateVerdict = Literal["REGRESSED", "IMPROVED", "NON_INFERIOR", "INCONCLUSIVE"]
MARGIN = 0.03


class TaskGate(JsonRecord):
    """The gate's decision on one task."""

    verdict: GateVerdict = Field(description="the gate's decision")
    gating: bool = Field(description="whether the task is in the gate's family")
    margin: Share = Field(description="largest loss that counts as none")
    alpha: Share = Field(description="level of the test of the (adjusted) p values")
    finds: Share | None = Field(
        description="smallest drop found with 80% power at the strictest level that the gate may use"
    )
    p_regression_adjusted: Share | None = Field(
        description="Holm over the gating tasks, or over the others; null for others of an adaptive run"
    )
    p_improvement_adjusted: Share | None = Field(
        description="Holm over the gating tasks, or over the others; null in an adaptive run"
    )


@dataclass(frozen=True, slots=True)
class Gate:
    """All decisions of one comparison.

    `alpha` bounds the chance of a false REGRESSED on the suite, and separately that of a false IMPROVED and
    of a false NON_INFERIOR. `alpha_pooled` is the part of it for the pooled difference. `undecided` names
    gating tasks without a difference: missing in one side, or without any sample that both sides scored. It
    also names those that are inconclusive while too many samples have no score.
    """

    tasks: Mapping[str, TaskGate]
    pooled: Pooled
    together: Together
    verdict: GateVerdict
    alpha: float
    alpha_pooled: float
    undecided: tuple[str, ...]

    @property
    def inconclusive(self) -> tuple[str, ...]:
        """Return the gating tasks that are inconclusive by themselves."""
        return tuple(
            name for name, task in self.tasks.items() if task.gating and task.verdict == "INCONCLUSIVE"
        )

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 1 if the suite or a gating task regressed, or if a gating task could not be decided.

        It is 1 as well if no task gates, because nothing was decided then.

        With `strict`, also if the suite is inconclusive. A task that is inconclusive by itself does not fail.
        """
        gating = [task.verdict for task in self.tasks.values() if task.gating]
        failing = {"REGRESSED", "INCONCLUSIVE"} if strict else {"REGRESSED"}
        return int(bool(not gating or self.undecided or "REGRESSED" in gating or self.verdict in failing))


def gate(
    tasks: Mapping[str, Paired],
    *,
    gating: Collection[str] | None = None,
    margins: Mapping[str, float] | None = None,
    suite_margin: float | None = None,
    absent: Sequence[str] = (),
    lacking: Collection[str] = (),
    alpha: float = ALPHA,
) -> Gate:
    """Decide on each task and the suite, with at most `alpha` chance of a false alarm over all gating tasks.

    Half of `alpha` goes to Holm over the gating tasks. The other half goes to the pooled difference, which
    finds a small drop that is spread over all of them. A single gating task needs no split. Improvement is
    tested the same way in a family of its own. Tasks that do not gate are a family at `alpha`.

    The suite is REGRESSED if a gating task or the pooled difference is. Otherwise it is decided by
    `together`: if a mean loss of `suite_margin` is excluded, the suite is IMPROVED or NON_INFERIOR, else
    INCONCLUSIVE. The same holds if no gating task is inconclusive by itself. A gain in one task does not hide
    that a loss in others is not excluded.

    Args:
        gating: the tasks that decide. None: all.
        margins: the loss that counts as none, by task. Others have MARGIN.
        suite_margin: the same for the mean of the gating tasks. None: the smallest margin of them.
        absent: gating tasks that only one side has. They count in the family, and nothing passes with them.
        lacking: tasks with too many samples without a score. If one is inconclusive, it is undecided.

    Raises:
        InputError: `gating` or `margins` name a task that is not in the comparison.
    """
    margins = margins or {}
    names = list(tasks) if gating is None else [name for name in tasks if name in gating]
    for name in [*(gating or ()), *margins]:
        if name not in tasks:
            raise InputError(f"no task '{name}' in this comparison{nearest(name, tasks)}")
    count = len(names) + len(absent)
    share = alpha if count == 1 else alpha / 2
    family = {name: tasks[name] for name in names}
    drafts = _drafts(tasks, family, margins, levels=(alpha, share), absent=len(absent))
    gates = {name: _decide(tasks[name], draft) for name, draft in drafts.items()}
    pooled = pool(family)
    open_ = {name for name in lacking if gates[name].verdict == "INCONCLUSIVE"}
    undecided = (*(name for name in names if family[name].clusters is None or name in open_), *absent)
    own = {name: gates[name].margin for name in names}
    whole = together(family, own, suite_margin or min(own.values(), default=MARGIN))
    verdict = _suite([gates[name].verdict for name in names], pooled, share, whole, bool(undecided))
    return Gate(gates, pooled, whole, verdict, alpha, share, undecided)


def _drafts(
    tasks: Mapping[str, Paired],
    family: Mapping[str, Paired],
    margins: Mapping[str, float],
    *,
    levels: tuple[float, float],
    absent: int,
) -> dict[str, TaskGate]:
    """Return each task's margin, level and adjusted p values, not decided yet.

    `levels` are those of a task outside the family and of the family.
    """
    alone, share = levels
    others = {name: task for name, task in tasks.items() if name not in family}
    p_worse = _adjusted(family, "p_regression", absent) | _adjusted(others, "p_regression")
    p_better = _adjusted(family, "p_gain", absent) | _adjusted(others, "p_gain")
    drafts = {}
    for name, task in tasks.items():
        strictest = share / (len(family) + absent) if name in family else alone / len(others)
        drafts[name] = TaskGate(
            verdict="INCONCLUSIVE",
            gating=name in family,
            margin=margins.get(name, MARGIN),
            alpha=share if name in family else alone,
            p_regression_adjusted=p_worse.get(name),
            p_improvement_adjusted=p_better.get(name),
            finds=None if task.clusters is None else smallest_detectable_drop(task.clusters, strictest),
        )
    return drafts


def _adjusted(
    family: Mapping[str, Paired], test: Literal["p_regression", "p_gain"], absent: int = 0
) -> dict[str, float]:
    """Return the p values of a family of tasks after Holm. Absent tasks count with a p value of 1."""
    found = holm([*(p_or_one(getattr(task, test)) for task in family.values()), *[1.0] * absent])
    return dict(zip(family, found, strict=False))


def _decide(task: Paired, draft: TaskGate) -> TaskGate:
    """Return the draft with its decision."""
    verdict: GateVerdict = "INCONCLUSIVE"
    if p_or_one(draft.p_regression_adjusted) <= draft.alpha:
        verdict = "REGRESSED"
    elif p_or_one(draft.p_improvement_adjusted) <= draft.alpha:
        verdict = "IMPROVED"
    elif _is_non_inferior(task, draft.margin):
        verdict = "NON_INFERIOR"
    return draft.model_copy(update={"verdict": verdict})


def _is_non_inferior(task: Paired, margin: float) -> bool:
    """Return whether there are enough problems and the lower bound is above minus the margin."""
    many = task.worst is not None and task.worst.count >= MIN_PROBLEMS
    return many and task.lower is not None and task.lower > -margin


def _suite(
    verdicts: list[GateVerdict], pooled: Pooled, alpha: float, whole: Together, undecided: bool
) -> GateVerdict:
    """Return the decision on the suite."""
    if "REGRESSED" in verdicts or pooled.p_regression <= alpha:
        return "REGRESSED"
    each = bool(verdicts) and "INCONCLUSIVE" not in verdicts
    if undecided or not (each or whole.is_non_inferior):
        return "INCONCLUSIVE"
    if "IMPROVED" in verdicts or pooled.p_improvement <= alpha:
        return "IMPROVED"
    return "NON_INFERIOR"
