"""How well a measure tells the checkpoints of a training run apart: signal to noise, and monotonicity."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np


def monotonicity(steps: Sequence[int], values: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation of step and value in [-1, 1]. None for less than three points.

    Ties have their mean rank. Equal values throughout give 0.
    """
    if len(values) < 3:
        return None
    left, right = _ranks(steps), _ranks(values)
    left, right = left - left.mean(), right - right.mean()
    spread = math.sqrt(float((left**2).sum() * (right**2).sum()))
    return float((left * right).sum()) / spread if spread else 0.0


def signal_to_noise(values: Sequence[float]) -> float | None:
    """Return the change from the first to the last checkpoint over the noise of one. None below four points.

    See `step_noise`. Values without noise have an infinite ratio, and None if they do not change either.
    """
    noise = step_noise(values)
    if noise is None:
        return None
    change = abs(values[-1] - values[0])
    if noise == 0:
        return None if change == 0 else math.inf
    return change / noise


def step_noise(values: Sequence[float]) -> float | None:
    """Return the noise of one checkpoint, in the unit of the values. None below four points.

    It is the standard deviation that independent errors need to give the second differences that are seen:
    their variance is six times that of one error. A smooth curve has small second differences.
    """
    if len(values) < 4:
        return None
    second = np.diff(np.asarray(values, dtype=float), n=2)
    return math.sqrt(float((second**2).mean()) / 6)


def order_agreement(values: Mapping[str, Sequence[float]]) -> list[float]:
    """Return, for each step, the share of pairs of training runs in the order of the last step.

    Args:
        values: for each run, its value at each of the same steps. Ties count one half.
    """
    pairs = list(itertools.combinations(values.values(), 2))
    steps = len(next(iter(values.values())))
    last = [_sign(left[-1] - right[-1]) for left, right in pairs]
    found = []
    for step in range(steps):
        same = [
            1.0 if _sign(left[step] - right[step]) == sign else 0.5 if left[step] == right[step] else 0.0
            for (left, right), sign in zip(pairs, last, strict=True)
        ]
        found.append(sum(same) / len(same))
    return found


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def _ranks(values: Sequence[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return ranks from 0, with the mean rank for ties."""
    found = np.asarray(values, dtype=float)
    return np.array([(found < value).sum() + ((found == value).sum() - 1) / 2 for value in found])
