"""Power of a planned comparison: the smallest drop it finds, and the samples or problems that find a drop."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from genbench.errors import InputError
from genbench.json_record import JsonRecord
from genbench.stats.comparison.differences import ALPHA, POWER, z_sum
from genbench.stats.scores import ScoresLike, as_scores

ICC = 0.48
"""Share of a score's variance between problems, assumed if no run was measured."""
RHO = 0.98
"""Correlation of the problems' true means in neighbouring checkpoints. After a big finetune: 0.9.

Real version steps of one model had 0.48 to 0.81 on code tasks. Stored pairs are better than this value."""


class ComponentsRecord(JsonRecord):
    """Variance components of one sample's score."""

    between: float = Field(description="variance of the problems' true means")
    within: float = Field(description="variance of the samples of one problem")
    change: float = Field(description="variance of the true means' difference between base and tuned")
    source: str = Field(description="source of the variances")


def assumed_components(mean: float = 0.5, *, icc: float = ICC, rho: float = RHO) -> ComponentsRecord:
    """Return the components of 0/1 scores with a given mean, assumed before anything was run."""
    total = mean * (1 - mean)
    source = f"assumed: mean {mean:.2f}, ICC {icc:.2f}, rho {rho:.2f}"
    change = 2 * icc * total * (1 - rho)
    return ComponentsRecord(between=icc * total, within=(1 - icc) * total, change=change, source=source)


def measured_components(base: ScoresLike, *, rho: float = RHO) -> ComponentsRecord:
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
    source = f"{source}; rho {rho:.2f} assumed"
    return ComponentsRecord(between=between, within=within, change=2 * between * (1 - rho), source=source)


def with_measured_change(
    components: ComponentsRecord, pairs: Sequence[tuple[ScoresLike, ScoresLike]]
) -> ComponentsRecord:
    """Return the components with the change measured from stored pairs of a base and a tuned run.

    The change is the variance of the problems' differences less the noise of their samples, averaged over
    the pairs. The noise comes from per-sample differences, sample j against sample j, so it is right for
    shared and for independent seeds. Pairs with fewer than two samples of each problem say nothing.

    Raises:
        InputError: there is a pair, but no pair can be measured.
    """
    found = [change for base, tuned in pairs if (change := measured_change(base, tuned)) is not None]
    if not found:
        raise InputError("no stored pair has two scored samples of a problem in both runs: draw more")
    change = math.fsum(found) / len(found)
    rho = max(0.0, 1 - change / (2 * components.between)) if components.between else 0.0
    start = components.source.split("; rho")[0].split(", rho")[0]
    runs = f"{len(found)} stored pair{'s' if len(found) != 1 else ''}"
    source = f"{start}; rho {rho:.2f} measured from {runs}"
    return components.model_copy(update={"change": change, "source": source})


def measured_change(base: ScoresLike, tuned: ScoresLike) -> float | None:
    """Return the variance of the true means' difference of one pair, None if it cannot be measured.

    Problems are in one order. Only the samples that both runs have are used.
    """
    b, t = as_scores(base), as_scores(tuned)
    k = min(b.values.shape[1], t.values.shape[1])
    deltas = t.values[:, :k] - b.values[:, :k]
    known = (~np.isnan(deltas)).sum(axis=1)
    deltas, known = deltas[known > 1], known[known > 1]
    if len(deltas) < 2:
        return None
    means = np.nanmean(deltas, axis=1)
    noise = np.nanvar(deltas, axis=1, ddof=1) / known
    return max(0.0, float(means.var(ddof=1) - noise.mean()))


def smallest_drop(
    components: ComponentsRecord,
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
    if 0.5**n > alpha:
        return 1.0  # p of an exact test of n problems is at least 2^-n
    variance = components.change + components.within / k_base + components.within / k_tuned
    return min(1.0, z_sum(alpha, power) * math.sqrt(variance / n))


def samples_needed(
    components: ComponentsRecord, n: int, drop: float, *, k_base: int | None = None, alpha: float = ALPHA
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
    # A whole number that rounding raised a little must not ask for one more.
    return max(1, math.ceil(runs * components.within / allowed - 1e-9))


def problems_needed(
    components: ComponentsRecord, k_base: int, k_tuned: int, drop: float, *, alpha: float = ALPHA
) -> int:
    """Return the number of problems that find `drop` at the given k."""
    variance = components.change + components.within / k_base + components.within / k_tuned
    return max(1, math.ceil(variance * (z_sum(alpha) / drop) ** 2 - 1e-9))
