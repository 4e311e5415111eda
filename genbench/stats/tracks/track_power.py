"""The drop that a track of nights finds, and after how many nights: from the law of its alarm threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtr, ndtri

from genbench.stats.comparison.differences import POWER
from genbench.stats.comparison.power import ComponentsRecord
from genbench.stats.tracks.changepoints import HISTORY, WINDOWS

MOST_NIGHTS = max(WINDOWS)
"""Longer windows are not searched, so more nights find no smaller drop."""


@dataclass(frozen=True, slots=True)
class NightNoise:
    """The noise of one night's mean of a task: `variance` is that of the mean over its n problems."""

    variance: float

    def after(self, nights: int) -> float:
        """Return the standard error of the mean over the newest nights minus that over the 60 before."""
        window = max(size for size in WINDOWS if size <= max(1, nights))
        return math.sqrt(self.variance * (1 / window + 1 / HISTORY))


def night_noise(parts: ComponentsRecord, n: int, k: int) -> NightNoise:
    """Return the noise of a task's nightly mean.

    Every night draws k samples of n problems. Checkpoints of equal ability solve other problems: each night's
    true means deviate by half the variance of the difference of two checkpoints.
    """
    return NightNoise((parts.within / k + parts.change / 2) / n)


def pooled_noise(tasks: Sequence[NightNoise], own: float = 0.0) -> NightNoise:
    """Return the noise of the inverse-variance mean of several tasks.

    Args:
        tasks: the noise of each task from its samples.
        own: the variance that the pooled nights have by themselves, beyond their samples.
    """
    precision = math.fsum(1 / task.variance for task in tasks if task.variance > 0)
    return NightNoise((1 / precision if precision else 0.0) + own)


def drop_found(noise: NightNoise, nights: int, threshold: float, power: float = POWER) -> float:
    """Return the smallest drop that is found within so many nights with the given probability.

    This looks at one window only. The search over all windows finds a little more.
    """
    return min(1.0, (threshold + float(ndtri(power))) * noise.after(nights))


def nights_to_find(noise: NightNoise, drop: float, threshold: float, power: float = POWER) -> int | None:
    """Return the nights within which a drop is found with the given probability, or None if none does."""
    for nights in WINDOWS:
        if drop_found(noise, nights, threshold, power) <= drop:
            return nights
    return None


def chance_to_find(noise: NightNoise, drop: float, nights: int, threshold: float) -> float:
    """Return the probability that a drop is found within so many nights, by the best single window."""
    error = noise.after(nights)
    return float(ndtr(drop / error - threshold)) if error else 1.0
