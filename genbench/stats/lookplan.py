"""The planned looks of one task of an adaptive run: how many samples of which problems each look has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genbench.errors import InputError
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
