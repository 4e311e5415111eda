"""What a run would have scored with fewer tokens: its replies cut at a budget, and what that leaves open.

Decoding goes from left to right and does not know its limit. So with the same seed the reply at a budget is
the beginning of the reply at the run's own limit, and a reply that had ended by then is the same reply.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from genbench.stats.comparison.differences import difference_interval
from genbench.stats.intervals import problem_interval
from genbench.stats.multiple_testing import holm
from genbench.stats.resample import Clusters, cluster
from genbench.stats.scores import Floats

Ints = npt.NDArray[np.int64]
MOST = 8
"""Budgets of one curve: a test of each shares the error rate."""
_LEAST = 32


def budgets_up_to(limit: int) -> tuple[int, ...]:
    """Return up to MOST budgets, each twice the one before, that end with the run's own limit."""
    found = [limit]
    while len(found) < MOST and found[0] // 2 >= _LEAST:
        found.insert(0, found[0] // 2)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Replies:
    """The replies of one task, one entry for each sample with a score.

    Args:
        problem: the number of the problem, from 0.
        tokens: the tokens of the whole reply.
        trace: the tokens of its trace and its tags, 0 without one. All tokens if the trace never ends.
        score: in [0, 1].
        cut: by budget, the score of each reply if its text ended there, NaN where it was not verified.
    """

    problem: Ints
    tokens: Ints
    trace: Ints
    score: Floats
    cut: Mapping[int, Floats] = field(default_factory=dict)

    def at(self, budget: int) -> tuple[Floats, Floats]:
        """Return the least and the largest score of each reply if it had ended after `budget` tokens.

        A reply that had ended by then keeps its score. One whose trace was still open has no answer: 0. One
        whose answer had begun is between 0 and its score, unless its text up to there was verified.
        """
        done = self.tokens <= budget
        begun = ~done & (self.trace < budget)
        low, high = np.where(done, self.score, 0.0), np.where(done | begun, self.score, 0.0)
        cut = self.cut.get(budget)
        if cut is None:
            return low, high
        known = begun & ~np.isnan(cut)
        return np.where(known, cut, low), np.where(known, cut, high)


@dataclass(frozen=True, slots=True)
class Curve:
    """Scores by budget: arrays (budgets,).

    `low` and `high` bound the score. `ci_low` is the lower end of the interval of `low`, `ci_high` the upper
    end of that of `high`: 95 %, over new problems. `tokens` is the mean of the tokens of a sample,
    `per_thousand` the right answers for a thousand tokens, by `low`.
    """

    budgets: tuple[int, ...]
    low: Floats
    high: Floats
    ci_low: Floats
    ci_high: Floats
    tokens: Floats
    per_thousand: Floats


def problem_means(replies: Replies, budgets: Sequence[int], problems: int) -> tuple[Floats, Floats]:
    """Return the mean `low` and `high` of each problem at each budget, (problems, budgets).

    A problem without scored samples has NaN.
    """
    counts = np.bincount(replies.problem, minlength=problems).astype(float)
    counts[counts == 0] = np.nan
    low, high = np.empty((problems, len(budgets))), np.empty((problems, len(budgets)))
    for place, budget in enumerate(budgets):
        for out, scores in zip((low, high), replies.at(budget), strict=True):
            out[:, place] = np.bincount(replies.problem, weights=scores, minlength=problems) / counts
    return low, high


def budget_curve(
    replies: Replies,
    budgets: Sequence[int],
    problems: int,
    *,
    groups: Sequence[str | None] | None = None,
    seed: int,
) -> Curve:
    """Return the curve of one run, with the intervals of its table: over new problems, whole groups of them.

    Args:
        problems: the number of problems.
        groups: the cluster of each problem. None: each is its own.
        seed: of the resampling. With that of the table, the last budget has the interval of the table.
    """
    low, high = problem_means(replies, budgets, problems)
    known = ~np.isnan(low[:, 0])
    kept = None if groups is None else [group for group, own in zip(groups, known, strict=True) if own]
    draws = max(len(replies.problem) / int(known.sum()), 1.0)
    ends = [
        [problem_interval(column, seed=seed, groups=kept, draws=draws).bounds for column in values[known].T]
        for values in (low, high)
    ]
    spent = np.array([np.minimum(replies.tokens, budget).sum() for budget in budgets], dtype=float)
    right = np.array([replies.at(budget)[0].sum() for budget in budgets])
    return Curve(
        budgets=tuple(budgets),
        low=low[known].mean(axis=0),
        high=high[known].mean(axis=0),
        ci_low=np.array([bounds[0] for bounds in ends[0]]),
        ci_high=np.array([bounds[1] for bounds in ends[1]]),
        tokens=spent / len(replies.tokens),
        per_thousand=1000 * right / spent,
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """Tuned minus base at each budget, paired by problem: arrays (budgets,).

    `low` and `high` bound the mean difference, because either side may be unknown there. `ci` (budgets, 2) is
    the 95 % interval of `middle`, the difference of the lower scores, and `p` its two-sided p value after
    Holm.
    """

    low: Floats
    high: Floats
    middle: Floats
    ci: Floats
    p: Floats


def budget_difference(
    base: tuple[Floats, Floats], tuned: tuple[Floats, Floats], groups: Sequence[str | None] | None = None
) -> Difference:
    """Compare two runs at each budget, by the t interval and the t test of whole clusters.

    Args:
        base: mean `low` and `high` of each problem, (problems, budgets), of the problems that both have.
        tuned: the same of the other run.
        groups: the cluster of each problem.
    """
    known = ~np.isnan(base[0][:, 0]) & ~np.isnan(tuned[0][:, 0])
    kept = None if groups is None else [group for group, own in zip(groups, known, strict=True) if own]
    moved = [cluster(column, kept) for column in (tuned[0] - base[0])[known].T]
    return Difference(
        low=(tuned[0] - base[1])[known].mean(axis=0),
        high=(tuned[1] - base[0])[known].mean(axis=0),
        middle=np.array([own.mean for own in moved]),
        ci=np.array([difference_interval(own).bounds for own in moved]),
        p=np.array(holm([_p(own) for own in moved])),
    )


def _p(moved: Clusters) -> float:
    """Return the two-sided p value of no difference: by signs if all clusters moved alike."""
    if not moved.se:
        return 1.0 if moved.mean == 0 else float(0.5 ** (moved.count - 1))
    return float(2 * stdtr(moved.count - 1, -abs(moved.mean) / moved.se))
