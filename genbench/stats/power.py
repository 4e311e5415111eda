"""What a comparison can find before any GPU is spent: smallest drop, worth of more k, of more problems."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from genbench.errors import InputError
from genbench.stats.differences import ALPHA, POWER, z_sum
from genbench.stats.scores import ScoresLike, as_scores

ICC = 0.48
"""Share of a score's variance that lies between problems, assumed where no run was measured."""
RHO = 0.98
"""Correlation of the problems' true means in neighbouring checkpoints; 0.9 after a big finetune."""


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of one sample's score.

    `between` is the variance of the problems' true means, `within` the average variance of samples
    of one problem, `change` the variance of the true means' difference between base and tuned.
    """

    between: float
    within: float
    change: float
    source: str


@dataclass(frozen=True, slots=True)
class TaskPower:
    """What one task can show, drops as fractions of 1.

    `mde` is the smallest detectable drop as planned, `mde_at` the same at other k of the tuned run,
    `mde_floor` with endless samples of both. `k_needed` samples find `detect`; None where only
    more problems do, `problems_needed` of them at the planned k.
    """

    n: int
    k_base: int
    k_tuned: int
    detect: float
    mde: float
    mde_at: tuple[tuple[int, float], ...]
    mde_floor: float
    k_needed: int | None
    problems_needed: int
    components: Components


def assumed_components(mean: float = 0.5, *, icc: float = ICC, rho: float = RHO) -> Components:
    """Components of 0/1 scores with a given mean, assumed before anything was run."""
    total = mean * (1 - mean)
    source = f"assumed: mean {mean:.2f}, ICC {icc:.2f}, rho {rho:.2f}"
    return Components(icc * total, (1 - icc) * total, 2 * icc * total * (1 - rho), source)


def measured_components(base: ScoresLike, *, rho: float = RHO) -> Components:
    """Components from a stored run; how far tuned moves (rho) stays an assumption.

    With one sample per problem the two parts cannot be told apart and ICC is assumed.

    Raises:
        InputError: a problem has no scored sample.
    """
    scores = as_scores(base)
    means, variances = scores.means, scores.variances
    if np.isnan(means).any():
        raise InputError("a problem of the stored run has no scored sample: verify the run again first")
    spread = float(means.var(ddof=1)) if scores.n > 1 else 0.0
    if np.isnan(variances).all():
        within, source = (1 - ICC) * spread, f"measured at k = 1, ICC {ICC:.2f} assumed"
        between = ICC * spread
    else:
        within = float(np.nanmean(variances))
        between = max(0.0, spread - within * float((1 / scores.scored).mean()))
        source = f"measured: {scores.n} problems x {scores.k}"
    return Components(between, within, 2 * between * (1 - rho), f"{source}; rho {rho:.2f} assumed")


def smallest_drop(
    components: Components,
    n: int,
    k_base: float,
    k_tuned: float,
    *,
    alpha: float = ALPHA,
    power: float = POWER,
) -> float:
    """Drop found with the given power by a one-sided paired test at alpha.

    Source: Miller 2024, arXiv 2411.00640, §5. k may be infinite. Never over 1, where no drop is detectable.
    """
    variance = components.change + components.within / k_base + components.within / k_tuned
    return min(1.0, z_sum(alpha, power) * math.sqrt(variance / n))


def samples_needed(
    components: Components, n: int, drop: float, *, k_base: int | None = None, alpha: float = ALPHA
) -> int | None:
    """Samples per problem of the tuned run that find `drop`; None where only more problems help.

    `k_base` None: the base is drawn with the same k.
    """
    allowed = n * (drop / z_sum(alpha)) ** 2 - components.change
    if k_base is not None:
        allowed -= components.within / k_base
    if allowed <= 0:
        return None
    runs = 2 if k_base is None else 1
    return max(1, math.ceil(runs * components.within / allowed - 1e-9))


def problems_needed(
    components: Components, k_base: int, k_tuned: int, drop: float, *, alpha: float = ALPHA
) -> int:
    """Problems that find `drop` at the given k."""
    variance = components.change + components.within / k_base + components.within / k_tuned
    return max(1, math.ceil(variance * (z_sum(alpha) / drop) ** 2 - 1e-9))


def plan(
    components: Components,
    *,
    n: int,
    k_base: int,
    k_tuned: int,
    detect: float,
    k_grid: Iterable[int] = (1, 2, 4, 8, 16, 32, 64),
    alpha: float = ALPHA,
) -> TaskPower:
    """What n problems at k_base and k_tuned can show, and what would show `detect`.

    Raises:
        InputError: `detect` is not in (0, 1], or n or k is not positive.
    """
    if not 0 < detect <= 1 or min(n, k_base, k_tuned) < 1:
        raise InputError(f"cannot plan n = {n}, k = {k_base} and {k_tuned} for a drop of {detect}")

    def at(k: float) -> float:
        return smallest_drop(components, n, k_base, k, alpha=alpha)

    return TaskPower(
        n=n,
        k_base=k_base,
        k_tuned=k_tuned,
        detect=detect,
        mde=at(k_tuned),
        mde_at=tuple((k, at(k)) for k in k_grid),
        mde_floor=smallest_drop(components, n, math.inf, math.inf, alpha=alpha),
        k_needed=samples_needed(components, n, detect, k_base=k_base, alpha=alpha),
        problems_needed=problems_needed(components, k_base, k_tuned, detect, alpha=alpha),
        components=components,
    )
