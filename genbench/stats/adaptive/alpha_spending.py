"""Levels of repeated looks at growing data that together keep one error (Lan and DeMets 1983)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from genbench.errors import InputError
from genbench.stats.scores import Floats

Spending = Literal["obf", "pocock"]
"""How the error is spent: "obf" keeps almost all of it for the last look, "pocock" spends it evenly."""
_POINTS = 241
"""Points of the Simpson rule; four decimals of z agree with published boundaries."""
_FAR = 8.0
"""Standard deviations below zero at which the density is cut off."""


def boundaries(kind: Spending, alpha: float, fractions: Sequence[float]) -> tuple[float, ...]:
    """Return the z value that each look must exceed to stop.

    Under no difference the probability to exceed any of them is `alpha`, for looks at the given fractions of
    the planned information. The path between looks is Brownian motion, and the boundary at look j solves
    P(first crossing at j) = f(t_j) - f(t_{j-1}) for the spending function f.

    Args:
        kind: "obf" for f(t) = 2 - 2 Phi(z_{alpha/2} / sqrt(t)), "pocock" for f(t) = alpha ln(1 + (e - 1) t).
        alpha: one-sided error over all looks, in (0, 0.5).
        fractions: information at each look, increasing, in (0, 1].

    Raises:
        InputError: alpha or the fractions are out of range.
    """
    _check(alpha, fractions)
    spent = _spender(kind, alpha)
    found: list[float] = []
    path = _Path()
    before = 0.0
    for fraction in fractions:
        error = spent(fraction) - spent(before)
        found.append(path.look(fraction, error))
        before = fraction
    return tuple(found)


def level(kind: Spending, alpha: float, fractions: Sequence[float]) -> float:
    """Return the one-sided level of the last look in `fractions`, see `boundaries`."""
    return float(ndtr(-boundaries(kind, alpha, fractions)[-1]))


def _check(alpha: float, fractions: Sequence[float]) -> None:
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha is {alpha}; it must lie between 0 and 0.5")
    rising = all(left < right for left, right in pairwise(fractions))
    if not fractions or not rising or fractions[0] <= 0 or fractions[-1] > 1:
        raise InputError(f"looks at {list(fractions)}: fractions must rise within (0, 1]")


def _spender(kind: Spending, alpha: float) -> Callable[[float], float]:
    if kind == "pocock":
        return lambda t: alpha * math.log1p((math.e - 1) * t)
    quantile = float(ndtri(1 - alpha / 2))
    return lambda t: 0.0 if t == 0 else float(2 * ndtr(-quantile / math.sqrt(t)))


class _Path:
    """The density of Brownian motion that has crossed no boundary so far, on a grid."""

    def __init__(self) -> None:
        self._time = 0.0
        self._places: Floats = np.zeros(1)
        self._mass: Floats = np.ones(1)

    def look(self, time: float, error: float) -> float:
        """Return the boundary (z) at `time` that is first crossed with probability `error`."""
        step = math.sqrt(time - self._time)

        def excess(height: float) -> float:
            return float((self._mass * ndtr((self._places - height) / step)).sum()) - error

        from scipy.optimize import brentq  # noqa: PLC0415  it takes 0.2 s, and only adaptive runs need it

        deviation = math.sqrt(time)
        height = float(brentq(excess, -_FAR * deviation, 2 * _FAR * deviation, xtol=1e-12))
        self._advance(time, step, height)
        return height / deviation

    def _advance(self, time: float, step: float, height: float) -> None:
        places = np.linspace(-_FAR * math.sqrt(time), height, _POINTS)
        distances = (places[:, None] - self._places[None, :]) / step
        density = np.exp(-0.5 * distances**2) @ self._mass / (step * math.sqrt(2 * math.pi))
        self._time, self._places, self._mass = time, places, density * _simpson(places)


def _simpson(places: Floats) -> Floats:
    """Return the weights of the Simpson rule on equally spaced places."""
    weights = np.where(np.arange(len(places)) % 2 == 1, 4.0, 2.0)
    weights[0] = weights[-1] = 1.0
    return np.asarray(weights * (places[1] - places[0]) / 3, dtype=np.float64)
