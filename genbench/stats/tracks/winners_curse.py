"""The luck in the best of several noisy values, and the values without it."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri

from genbench.stats.scores import Floats

_Z95 = float(ndtri(0.975))


def rerun_errors(low: Floats, high: Floats) -> Floats:
    """Return standard errors of a re-run from 95 % intervals, NaN if they are unknown."""
    return np.asarray((high - low) / (2 * _Z95))


def shrunk(values: Floats, errors: Floats) -> Floats:
    """Return values drawn towards their mean by the share of noise in their variance.

    The variance of the true values is what the variance of the values has above the mean square of the
    errors (empirical Bayes, normal). Values without a known error stay.
    """
    if np.isnan(errors).all() or len(values) < 2:
        return values
    mean, noise = float(np.nanmean(values)), float(np.nanmean(errors**2))
    true = max(0.0, float(np.nanvar(values, ddof=1)) - noise)
    own = np.where(np.isnan(errors), noise, errors**2)
    weight = true / (true + own) if true > 0 else np.zeros(len(values))
    return np.asarray(mean + weight * (values - mean))


def best_of(count: int) -> float:
    """Return the expected largest of `count` standard normal draws, by numerical integration."""
    if count < 2:
        return 0.0
    grid = np.linspace(-8, 8, 4001)  # the density beyond 8 is below 1e-14
    density = count * np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi) * ndtr(grid) ** (count - 1)
    return float(np.trapezoid(grid * density, grid))


def without_luck(values: Floats, noise: float | None, place: int) -> tuple[float | None, float | None]:
    """Return a value drawn towards the mean by the share of noise, and what the best gains by chance.

    Args:
        noise: the standard error of one value. None: unknown, so both are None.
        place: which of the values.
    """
    if noise is None or len(values) < 2:
        return None, None
    return float(shrunk(values, np.full(len(values), noise))[place]), best_of(len(values)) * noise


def range_tail(z: float, count: int) -> float:
    """Return how often two of `count` equal values with normal errors differ by at least |z| standard errors.

    z is the largest difference over its own standard error. Times the root of 2 it is the studentised range
    (Tukey), whose law is integrated numerically.
    """
    if count < 2:
        return 1.0
    grid = np.linspace(-8, 8, 4001)
    density = count * np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    within = ndtr(grid) - ndtr(grid - math.sqrt(2) * abs(z))
    return min(1.0, max(0.0, 1 - float(np.trapezoid(density * within ** (count - 1), grid))))


def range_level(count: int, error: float = 0.05) -> float:
    """Return the level of one interval at which those of all pairs of `count` values err by `error`."""
    low, high = 0.0, 12.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if range_tail(middle, count) > error else (low, middle)
    return float(1 - 2 * ndtr(-high))
