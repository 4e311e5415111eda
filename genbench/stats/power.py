"""Power of a planned comparison: the smallest drop it finds, and the samples or problems that find a drop."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from genbench.errors import InputError
from genbench.stats.differences import ALPHA, POWER, z_sum
from genbench.stats.scores import ScoresLike, as_scores

ICC = 0.48
"""Share of a score's variance between problems, assumed if no run was measured."""
RHO = 0.98
"""Correlation of the problems' true means in neighbouring checkpoints. After a big finetune: 0.9."""


@dataclass(frozen=True, slots=True)
class Components:
    """Variance components of one sample's score.

    `between` is the variance of the problems' true means. `within` is the average variance of the samples of
    one problem. `change` is the variance of the true means' difference between base and tuned. `source`
    says in words where they come from.
    """

    between: float
    within: float
    change: float
    source: str


def assumed_components(mean: float = 0.5, *, icc: float = ICC, rho: float = RHO) -> Components:
    """Return the components of 0/1 scores with a given mean, assumed before anything was run."""
    total = mean * (1 - mean)
    source = f"assumed: mean {mean:.2f}, ICC {icc:.2f}, rho {rho:.2f}"
    return Components(icc * total, (1 - icc) * total, 2 * icc * total * (1 - rho), source)


def measured_components(base: ScoresLike, *, rho: float = RHO) -> Components:
    """Return the components measured from a stored run. How far tuned moves (rho) remains an assumption.

    With one sample per problem the two parts cannot be separated, so ICC is assumed.

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
    """Return the drop that a one-sided paired test at alpha finds with the given power.

    Source: Miller 2024, arXiv 2411.00640, §5. k may be infinite. The value 1 means that no drop is found.
    """
    variance = components.change + components.within / k_base + components.within / k_tuned
    return min(1.0, z_sum(alpha, power) * math.sqrt(variance / n))


def samples_needed(
    components: Components, n: int, drop: float, *, k_base: int | None = None, alpha: float = ALPHA
) -> int | None:
    """Return the samples per problem of the tuned run that find `drop`, or None if only more problems do.

    With `k_base` None the base is drawn with the same k.
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
    """Return the number of problems that find `drop` at the given k."""
    variance = components.change + components.within / k_base + components.within / k_tuned
    return max(1, math.ceil(variance * (z_sum(alpha) / drop) ** 2 - 1e-9))
