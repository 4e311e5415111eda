"""Resampling of whole clusters of problems from a seed."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from genbench.stats.scores import Floats

RESAMPLES = 10_000
CHUNK_DRAWS = 130_000
"""Indices drawn at once. Their values (1 MB) stay in the cache. With 4 MB it takes 2.5x as long."""
ROUNDING = 1e-12
"""Means closer than this count as equal: sevenths and tenths do not add up exactly."""
GATHERED_COLUMNS = 2
"""Up to so many columns are gathered. For more it is faster to count how often clusters are drawn."""
GATHER_COST = 40
"""A multinomial draw costs as much per distinct value as a gather costs per 40 clusters (measured)."""


@dataclass(frozen=True)
class Clusters:
    """The units of resampling: totals (g,) and sizes (g,) of g clusters of problems.

    A problem without a group is a cluster of size 1.
    """

    totals: Floats
    sizes: Floats

    @property
    def count(self) -> int:
        """The number of clusters."""
        return len(self.totals)

    @cached_property
    def mean(self) -> float:
        """The mean over problems. Clusters do not change it."""
        return math.fsum(self.totals) / float(self.sizes.sum())

    @cached_property
    def se(self) -> float | None:
        """The CR1 clustered standard error of the mean, None for one cluster.

        With clusters of size 1 it is sd(ddof = 1)/sqrt(n).
        """
        if self.count < 2:
            return None
        if float(np.ptp(self.totals / self.sizes)) < ROUNDING:
            return 0.0
        residuals = self.totals - self.sizes * self.mean
        correction = self.count / (self.count - 1)
        return float(np.sqrt(correction * (residuals**2).sum()) / self.sizes.sum())


def derive_seed(*parts: str) -> int:
    """Return a seed below 2^63 made from names (task, run id …): the same names give the same intervals.

    Each part is hashed after its length, so that ("ab", "c") and ("a", "bc") differ.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return int.from_bytes(digest.digest(), "little") >> 1


def cluster(values: Floats, groups: Sequence[str | None] | None = None) -> Clusters:
    """Sum per-problem values (n,) by group. A problem with the group None is its own cluster."""
    if groups is None:
        return Clusters(values, np.ones(len(values)))
    codes = cluster_numbers(groups)
    totals = np.bincount(codes, weights=values).astype(np.float64)
    return Clusters(totals, np.bincount(codes).astype(np.float64))


def numbers_of(labels: Iterable[Hashable]) -> npt.NDArray[np.intp]:
    """Return the number of each label, from 0, in the order of first appearance."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(label, len(known)) for label in labels], dtype=np.intp)


def cluster_numbers(groups: Sequence[str | None]) -> npt.NDArray[np.intp]:
    """Return the number of each problem's cluster (n,). A problem with the group None is its own cluster."""
    return numbers_of(place if group is None else group for place, group in enumerate(groups))


def resampled(
    units: Floats,
    statistic: Callable[[Floats], Floats],
    *,
    seed: int,
    resamples: int = RESAMPLES,
    unseen: Floats | None = None,
) -> Floats:
    """Return a statistic of samples of whole clusters, drawn with replacement: (resamples, ...).

    What is compared is resampled in one call, so that all of it has the same samples. If few clusters differ
    (k = 1: right or wrong), their counts are drawn from a multinomial: the same distribution at a fraction of
    the cost. Otherwise indices are drawn in chunks.

    Args:
        units: what each cluster adds to the sums (g, c), such as its total and its size.
        statistic: makes values (r, ...) of sums (r, c).
        unseen: clusters (u, c) that may not have been met. Together they are drawn as often as two that were,
            so that a statistic at its end, such as full agreement, has an interval. With one, kappa of 200
            items with a rare label covered 89 % (simulated).
    """
    rng, count = np.random.default_rng(seed), len(units)
    distinct, counts = np.unique(units, axis=0, return_counts=True)
    if unseen is not None:
        chances = np.concatenate([counts, np.full(len(unseen), 2 / len(unseen))]) / (count + 2)
        drawn = rng.multinomial(count, chances, size=resamples).astype(np.float64)
        return statistic(drawn @ np.vstack([distinct, unseen]))
    if len(distinct) * GATHER_COST <= count:
        return statistic(rng.multinomial(count, counts / count, size=resamples) @ distinct)
    index = np.uint16 if count <= 2**16 else np.uint32
    chunk = max(1, CHUNK_DRAWS // count)
    found = []
    for start in range(0, resamples, chunk):
        shape = (min(chunk, resamples - start), count)
        found.append(statistic(_sums(units, rng.integers(0, count, size=shape, dtype=index))))
    return np.concatenate(found)


def bootstrap_means(clusters: Clusters, *, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Return the means (resamples,) of samples of whole clusters."""
    units = np.stack([clusters.totals, clusters.sizes], axis=1)
    return resampled(units, lambda sums: sums[:, 0] / sums[:, 1], seed=seed, resamples=resamples)


def _sums(units: Floats, drawn: npt.NDArray[np.unsignedinteger[Any]]) -> Floats:
    """Return the sums (r, c) of the units (g, c) that are drawn (r, g), in the order that costs least."""
    rows, count = drawn.shape
    if units.shape[1] <= GATHERED_COLUMNS:
        sums: Floats = np.empty((rows, units.shape[1]))
        for place, column in enumerate(units.T):
            equal = bool((column == column[0]).all())
            sums[:, place] = count * column[0] if equal else column.take(drawn).sum(axis=1)
        return sums
    places = drawn + count * np.arange(rows)[:, None]
    weights = np.bincount(places.ravel(), minlength=rows * count).reshape(rows, count)
    return np.asarray(weights.astype(np.float64) @ units, dtype=np.float64)
