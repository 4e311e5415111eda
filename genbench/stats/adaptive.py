"""The decision on one task at its planned looks, with one error over all of them.

A drop is tested by exact sign-flips. Its error is spent by the function of Lan and DeMets that resembles
O'Brien and Fleming. Non-inferiority is decided by the MOVER bound, and its error is spent evenly (Pocock).
The fractions of information are planned ones, which hold for any variance of the problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scipy.special import ndtr

from genbench.stats.differences import ALPHA, difference_interval, lower_bound
from genbench.stats.gate import MARGIN
from genbench.stats.lookplan import Looks
from genbench.stats.paired import Paired
from genbench.stats.pool import MIN_PROBLEMS, p_or_one
from genbench.stats.spending import Spending, boundaries

Decision = Literal["REGRESSED", "NON_INFERIOR", "QUIET", "INCONCLUSIVE", "STOPPED"]
"""Why a task draws no more.

QUIET is a task with under MIN_PROBLEMS problems whose loss would probably have shown. INCONCLUSIVE is a task
at its last look. STOPPED is a task that was still open when the night ended. Each of the three is
INCONCLUSIVE for the gate.
"""
QUIET_ALPHA = 0.2
"""Error of QUIET. It is no claim, so it may be large: it only stops the drawing."""


@dataclass(frozen=True, slots=True)
class TaskRule:
    """The rule of one task: its planned looks, and what each of them needs for a decision.

    The levels are one-sided. `drop` is that of the test of a drop, `bound` that of the lower bound, and
    `interval` the two-sided confidence of the repeated interval.
    """

    looks: Looks
    margin: float
    gating: bool
    alpha: float
    drop: tuple[float, ...]
    bound: tuple[float, ...]
    interval: tuple[float, ...]

    @property
    def is_small(self) -> bool:
        """Whether the task has too few problems for NON_INFERIOR."""
        return self.looks.n < MIN_PROBLEMS


@dataclass(frozen=True, slots=True)
class TaskLook:
    """One look at one task. Differences are fractions of 1.

    `look` is the number of the task's own look, from 1. `p` is that of a drop, `level` the level that it must
    not exceed. `lower` has the confidence 1 - `lower_level`. `ci` has the two-sided confidence `ci_level`, at
    which the intervals of all looks together contain the difference with 95 %. `decision` is None if the task
    goes on.
    """

    look: int
    fraction: float
    n: int
    difference: float | None
    p: float
    level: float
    lower: float | None
    lower_level: float
    ci: tuple[float, float] | None
    ci_level: float
    decision: Decision | None


def task_rule(
    looks: Looks, *, margin: float = MARGIN, gating: bool = True, family: int = 1, alpha: float = ALPHA
) -> TaskRule:
    """Return the rule of a task.

    Args:
        margin: the loss that counts as none.
        gating: whether the task is one of the `family` that decide together. Another one is tested at alpha.
        family: the number of gating tasks. They share half of alpha, since the other half goes to their
            pooled difference. A single one has all of it.
        alpha: error of a false REGRESSED over all looks, and separately of a false NON_INFERIOR.
    """
    own = alpha / 2 / family if gating and family > 1 else alpha
    kind: Spending = "obf" if looks.n < MIN_PROBLEMS else "pocock"
    error = QUIET_ALPHA if looks.n < MIN_PROBLEMS else alpha
    return TaskRule(
        looks=looks,
        margin=margin,
        gating=gating,
        alpha=own,
        drop=levels("obf", own, looks.fractions),
        bound=levels(kind, error, looks.fractions),
        interval=tuple(1 - 2 * one for one in levels("pocock", alpha / 2, looks.fractions)),
    )


def levels(kind: Spending, alpha: float, fractions: tuple[float, ...]) -> tuple[float, ...]:
    """Return the one-sided level of each look, see `spending.boundaries`."""
    return tuple(float(ndtr(-z)) for z in boundaries(kind, alpha, fractions))


def look_at(rule: TaskRule, look: int, data: Paired) -> TaskLook:
    """Return the look number `look` at a task.

    Excluded samples never help: the bound counts them against tuned.

    Args:
        data: the paired difference over the samples of this look.
    """
    at = look - 1
    p, lower, ci = p_or_one(data.p_regression), None, None
    if data.worst is not None:
        lower = lower_bound(data.worst, rule.bound[at])
    if data.clusters is not None:
        ci = difference_interval(data.clusters, rule.interval[at]).bounds
    decision: Decision | None = None
    if p <= rule.drop[at]:
        decision = "REGRESSED"
    elif lower is not None and lower > -rule.margin:
        decision = "QUIET" if rule.is_small else "NON_INFERIOR"
    elif look == rule.looks.count:
        decision = "INCONCLUSIVE"
    return TaskLook(
        look=look,
        fraction=rule.looks.fractions[at],
        n=data.n,
        difference=data.difference,
        p=p,
        level=rule.drop[at],
        lower=lower,
        lower_level=rule.bound[at],
        ci=ci,
        ci_level=rule.interval[at],
        decision=decision,
    )
