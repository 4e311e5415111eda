"""The decision on a run at planned looks: how many samples each look has, and who draws on after it.

One error is kept over all looks. A drop is tested by exact sign-flips. Its error is spent by the function of
Lan and DeMets that resembles O'Brien and Fleming. Non-inferiority is decided by the MOVER bound, and its
error is spent evenly (Pocock). The fractions of information are planned ones, which hold for any variance of
the problems.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from genbench.errors import InputError
from genbench.stats.adaptive.alpha_spending import Spending, boundaries, level
from genbench.stats.adaptive.looks import NightLookRecord, PooledLookRecord, TaskDecision, TaskLookRecord
from genbench.stats.comparison.differences import ALPHA, difference_interval, lower_bound
from genbench.stats.comparison.gate import MARGIN, MIN_PROBLEMS, GateVerdict, p_or_one, pool, together
from genbench.stats.comparison.paired import Paired
from genbench.stats.intervals import LEVEL, normal_quantile
from genbench.stats.scores import Bools, Ints, ScoresLike, as_scores

LOOKS = 4
"""Planned looks, if a task has so many samples or problems."""
SURE_PART = 4
"""Before the last look a sure problem gets one of so many samples that another problem gets."""
SURE_SAMPLES = 64
"""Samples of base that are needed to call a problem sure."""
SURE_EXCEPTIONS = 1
"""A sure problem was solved, or was not solved, in at most so many samples of base."""


@dataclass(frozen=True, slots=True)
class Looks:
    """The planned looks of one task with n problems by k samples.

    `steps` are the samples of each problem at each look. If `by_problems` is true, they are the number of
    problems instead, and each of these has all its samples.
    """

    n: int
    k: int
    steps: tuple[int, ...]
    by_problems: bool

    @property
    def count(self) -> int:
        """The number of looks."""
        return len(self.steps)

    @property
    def fractions(self) -> tuple[float, ...]:
        """The share of the planned information at each look. The last one is 1."""
        return tuple(step / self.steps[-1] for step in self.steps)

    def samples(self, look: int, sure: Sequence[bool] | Bools) -> Ints:
        """Return the samples (n,) of each problem at a look.

        Sure problems have a part of the samples until the last look. There they have all, since a problem
        that tuned lost is not sure any more and would make the last test weaker.

        Args:
            look: the number of the look, from 1.
            sure: for each problem (n,), in the order in which problems are drawn, whether it is sure.
        """
        step = self.steps[look - 1]
        most = self.k if self.by_problems else step
        few = most if look == self.count and not self.by_problems else max(1, most // SURE_PART)
        counts = np.where(np.asarray(sure, dtype=bool), few, most).astype(np.int64)
        if self.by_problems:
            counts[step:] = 0
        return counts


def plan_looks(n: int, k: int) -> Looks:
    """Return the looks of a task with n problems by k samples: at quarters of the samples.

    A task with fewer than LOOKS samples has its looks at quarters of its problems.

    Raises:
        InputError: n or k is below 1.
    """
    if n < 1 or k < 1:
        raise InputError(f"{n} problems by {k} samples: at least one of each is needed")
    by_problems = k < LOOKS
    whole = n if by_problems else k
    steps = sorted({math.ceil(whole * look / LOOKS) for look in range(1, LOOKS + 1)})
    return Looks(n, k, tuple(steps), by_problems)


def sure_problems(base: ScoresLike) -> Bools:
    """Return for each problem (n,) whether base always or never solved it, with at most one exception.

    A problem with fewer than SURE_SAMPLES scored samples, or with a fractional score, is not sure.
    """
    scores = as_scores(base)
    right = np.nansum(scores.values == 1, axis=1)
    wrong = np.nansum(scores.values == 0, axis=1)
    whole = (right + wrong == scores.scored) & (scores.scored >= SURE_SAMPLES)
    return np.asarray(whole & (np.minimum(right, wrong) <= SURE_EXCEPTIONS), dtype=bool)


QUIET_ALPHA = 0.2
"""Error of QUIET. It is not a claim, so it may be large: it only stops the drawing."""


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
    """Return the one-sided level of each look, see `alpha_spending.boundaries`."""
    return tuple(float(ndtr(-z)) for z in boundaries(kind, alpha, fractions))


def look_at(rule: TaskRule, look: int, data: Paired, samples: int = 0) -> TaskLookRecord:
    """Return the look number `look` at a task.

    Excluded samples never help: the bound counts them against tuned.

    Args:
        data: the paired difference over the samples of this look.
        samples: the samples so far, for the record.
    """
    at = look - 1
    p, lower, ci = p_or_one(data.p_regression), None, None
    if data.worst is not None:
        lower = lower_bound(data.worst, rule.bound[at])
    if data.clusters is not None:
        ci = difference_interval(data.clusters, rule.interval[at]).bounds
    decision: TaskDecision | None = None
    if p <= rule.drop[at]:
        decision = "REGRESSED"
    elif lower is not None and lower > -rule.margin:
        decision = "QUIET" if rule.is_small else "NON_INFERIOR"
    elif look == rule.looks.count:
        decision = "INCONCLUSIVE"
    return TaskLookRecord(
        look=look,
        fraction=rule.looks.fractions[at],
        n=data.n,
        samples=samples,
        difference=data.difference,
        p=p,
        level=rule.drop[at],
        lower=lower,
        lower_level=rule.bound[at],
        ci=ci,
        ci_level=rule.interval[at],
        decision=decision,
    )


POOLED_MARGIN = 0.01
"""Loss of the pooled difference that must be excluded before tasks with a decision stop drawing.

A loss of one point in every task is inside each task's margin. Without this rule it is missed in 29 % of
nights that fixed samples find (simulated)."""

LEAST_WORTH = 0.5
"""Least ratio of the shares of information and of samples with which a decided task draws on."""


class Night:
    """The state of an adaptive run, which is a pure function of the data of its looks.

    `reached` is the look of each task that is drawn now, or was drawn last. `draws` are the tasks that draw.

    Args:
        rules: the rule of each task.
        alpha: error of a false REGRESSED over all looks and gating tasks.
        finish: go on after a task REGRESSED, until each task is decided.
    """

    def __init__(self, rules: Mapping[str, TaskRule], *, alpha: float = ALPHA, finish: bool = False) -> None:
        self.rules, self._alpha, self._finish = dict(rules), alpha, finish
        self.reached = dict.fromkeys(rules, 1)
        self.draws: tuple[str, ...] = tuple(rules)
        self.decisions: dict[str, TaskDecision] = {}
        self.looks: list[NightLookRecord] = []
        self._fractions: list[float] = []
        self._last: dict[str, TaskLookRecord] = {}
        self._pooled_dropped = False

    @property
    def gating(self) -> tuple[str, ...]:
        """The tasks that decide."""
        return tuple(name for name, rule in self.rules.items() if rule.gating)

    @property
    def is_over(self) -> bool:
        """Whether no task draws any more."""
        return not self.draws

    @property
    def last(self) -> Mapping[str, TaskLookRecord]:
        """The last look at each task."""
        return self._last

    def look(self, data: Mapping[str, Paired], samples: Mapping[str, int] | None = None) -> NightLookRecord:
        """Look at the run when all samples of the drawing tasks have verdicts. Return what was seen.

        Args:
            data: the paired difference of every task over the samples of its look in `reached`.
            samples: the samples of each task so far, for the record.
        """
        drawn = samples or {}
        seen = {name: self._seen(name, data[name], drawn.get(name, 0)) for name in self.draws}
        self._last |= seen
        self.decisions |= {name: look.decision for name, look in seen.items() if look.decision is not None}
        pooled = self._pooled(data)
        self.draws = self._next(pooled, data)
        for name in self.draws:
            self.reached[name] += 1
        if self.is_over:
            for name in self.rules:
                self.decisions.setdefault(name, "STOPPED")
        verdict = self._verdict(data) if self.is_over else None
        found = NightLookRecord(
            number=len(self.looks) + 1, tasks=seen, pooled=pooled, draws=self.draws, verdict=verdict
        )
        self.looks.append(found)
        return found

    def _seen(self, name: str, data: Paired, samples: int) -> TaskLookRecord:
        """Return the look at a task. A decided one that draws on keeps its decision unless it REGRESSED.

        The error of REGRESSED is spent as if no other decision could stop a task, so it may still be found.
        """
        found = look_at(self.rules[name], self.reached[name], data, samples)
        before = self.decisions.get(name)
        kept = before is None or found.decision == "REGRESSED"
        return found if kept else found.model_copy(update={"decision": before})

    def _pooled(self, data: Mapping[str, Paired]) -> PooledLookRecord | None:
        """Return the look at the pooled difference, None if nothing of it changed."""
        names = self.gating
        fraction = math.fsum(self._fraction(name) for name in names) / len(names) if names else 0.0
        if len(names) < 2 or (self._fractions and fraction <= self._fractions[-1]):
            return None
        self._fractions.append(fraction)
        found = pool({name: data[name] for name in names})
        fractions = tuple(self._fractions)
        allowed = level("obf", self._alpha / 2, fractions)
        lower_level = level("pocock", self._alpha, fractions)
        lower = found.difference
        if found.ci is not None and lower is not None:
            half = (found.ci[1] - found.ci[0]) / 2
            lower -= half * float(ndtri(1 - lower_level)) / normal_quantile(LEVEL)
        self._pooled_dropped |= found.p_regression <= allowed
        return PooledLookRecord(
            fraction=fraction,
            difference=found.difference,
            p=found.p_regression,
            level=allowed,
            lower=lower,
            lower_level=lower_level,
            regressed=found.p_regression <= allowed,
            is_excluded=lower is not None and lower > -POOLED_MARGIN,
        )

    def _fraction(self, name: str) -> float:
        return self.rules[name].looks.fractions[self.reached[name] - 1]

    def _next(self, pooled: PooledLookRecord | None, data: Mapping[str, Paired]) -> tuple[str, ...]:
        """Return the tasks that draw their next look.

        While a pooled loss is not excluded, tasks with a decision keep it and draw on, if their samples are
        worth it. Small tasks do not, because they have almost no weight in the pooled difference.
        """
        regressed = any(self.decisions.get(name) == "REGRESSED" for name in self.gating)
        if (regressed or self._pooled_dropped) and not self._finish:
            return ()
        useful = self._useful(data)
        doubtful = pooled is not None and not pooled.is_excluded and not (regressed or self._pooled_dropped)
        return tuple(
            name
            for name, rule in self.rules.items()
            if self.reached[name] < rule.looks.count
            and (name not in self.decisions or (doubtful and name in useful))
        )

    def _useful(self, data: Mapping[str, Paired]) -> set[str]:
        """Return the gating tasks whose further samples make the pooled difference sharper at a fair price.

        Their share of the information is at least LEAST_WORTH of their share of the samples. The choice
        depends on spreads alone, so it does not favour any sign of the difference.
        """
        kept = [name for name in self.gating if not self.rules[name].is_small]
        information: dict[str, float] = {}
        samples: dict[str, float] = {}
        for name in kept:
            clusters, looks = data[name].clusters, self.rules[name].looks
            se = None if clusters is None else clusters.se
            information[name] = 1 / se**2 if se else 0.0
            samples[name] = looks.n * looks.k * self._fraction(name)
        whole, drawn = math.fsum(information.values()), math.fsum(samples.values())
        return {name for name in kept if information[name] * drawn >= LEAST_WORTH * whole * samples[name]}

    def _verdict(self, data: Mapping[str, Paired]) -> GateVerdict:
        """Return the verdict of the suite. An adaptive run never claims an improvement."""
        names = self.gating
        decisions = [self.decisions[name] for name in names]
        if "REGRESSED" in decisions or self._pooled_dropped:
            return "REGRESSED"
        if names and all(decision == "NON_INFERIOR" for decision in decisions):
            return "NON_INFERIOR"
        if len(names) < 2 or not all(name in data for name in names):
            return "INCONCLUSIVE"
        margins = {name: self.rules[name].margin for name in names}
        allowed = level("pocock", self._alpha, tuple(self._fractions))
        whole = together({name: data[name] for name in names}, margins, min(margins.values()), allowed)
        return "NON_INFERIOR" if whole.is_non_inferior else "INCONCLUSIVE"
