"""Metrics that exist only for all samples together, from counts that add up over samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from genbench.errors import InputError
from genbench.stats.intervals import LEVEL, resampled_interval
from genbench.stats.resample import cluster_numbers
from genbench.stats.scores import Floats

CORPUS_RESAMPLES = 2_000
"""Resamples of a corpus metric. Each needs the metric of a whole corpus."""
_ORDERS = 4
_TINY = 1e-300


@dataclass(frozen=True, slots=True)
class CorpusValue:
    """The value of a corpus metric with its 95 % interval, as fractions of 1. TER can be above 1."""

    value: float
    ci: tuple[float, float] | None
    method: str


def bleu(counts: Floats) -> Floats:
    """Return BLEU (r,) of summed counts (r, 10).

    The counts are both lengths, then correct and total n-grams of order 1 to 4.
    Orders without a match are smoothed exponentially, as in sacrebleu's default.

    Source: Papineni et al. 2002; Post 2018.
    """
    system, reference = counts[:, 0], counts[:, 1]
    correct, total = counts[:, 2 : 2 + _ORDERS], counts[:, 2 + _ORDERS :]
    brevity = np.where(system < reference, np.exp(1 - reference / np.maximum(system, _TINY)), 1.0)
    lacking = correct == 0
    smoothing = 2.0 ** np.cumsum(lacking, axis=1)
    share = np.where(lacking, 1 / (smoothing * np.maximum(total, _TINY)), correct / np.maximum(total, _TINY))
    # sacrebleu gives 0 if an order has no n-grams at all, by the logarithm of a tiny number.
    logs = np.log(np.maximum(share, _TINY)).mean(axis=1)
    empty = (total == 0).any(axis=1) | ~correct.any(axis=1)
    found: Floats = np.where(empty, 0.0, np.where(system > 0, brevity, 0.0) * np.exp(np.minimum(logs, 0.0)))
    return found


def chrf(counts: Floats) -> Floats:
    """Return chrF with beta 2 (r,) of summed counts (r, 3·orders).

    Each order has three counts: n-grams of the hypothesis, of the reference, and of both.

    Source: Popović 2015, in the form of sacrebleu 2.
    """
    given, wanted, matched = (counts[:, start::3] for start in range(3))
    used = (given > 0) & (wanted > 0)
    orders = np.maximum(used.sum(axis=1), 1)
    precision = (np.where(used, matched / np.maximum(given, 1), 0.0)).sum(axis=1) / orders
    recall = (np.where(used, matched / np.maximum(wanted, 1), 0.0)).sum(axis=1) / orders
    below = 4 * precision + recall
    found: Floats = np.divide(5 * precision * recall, below, out=np.zeros(len(counts)), where=below > 0)
    return found


def ter(counts: Floats) -> Floats:
    """Return the translation edit rate (r,) of summed counts (r, 2): edits and mean length of the references.

    Lower is better. Source: Snover et al. 2006.
    """
    edits, length = counts[:, 0], counts[:, 1]
    empty = (edits > 0).astype(np.float64)
    found: Floats = np.divide(edits, length, out=empty, where=length > 0)
    return found


def f1(counts: Floats) -> Floats:
    """Return F1 (r,) of summed counts (r, 3): true positives, false positives, false negatives."""
    below = 2 * counts[:, 0] + counts[:, 1] + counts[:, 2]
    found: Floats = np.divide(2 * counts[:, 0], below, out=np.zeros(len(counts)), where=below > 0)
    return found


def mcc(counts: Floats) -> Floats:
    """Return Matthews' correlation (r,) of summed confusion counts (r, classes²), by gold class first.

    Source: Gorodkin 2004, for any number of classes.
    """
    classes = round(counts.shape[1] ** 0.5)
    table = counts.reshape(-1, classes, classes)
    gold, given = table.sum(axis=2), table.sum(axis=1)
    total = table.sum(axis=(1, 2))
    right = np.trace(table, axis1=1, axis2=2)
    above = right * total - (gold * given).sum(axis=1)
    below = np.sqrt((total**2 - (given**2).sum(axis=1)) * (total**2 - (gold**2).sum(axis=1)))
    found: Floats = np.divide(above, below, out=np.zeros(len(counts)), where=below > 0)
    return found


def counts_of_choice(
    metrics: Sequence[str], gold: int, picked: int | None, classes: int
) -> dict[str, list[float]]:
    """Return the counts of one choice for f1 (of class 1 against class 0) and mcc.

    Args:
        picked: the index of the choice that was made. None: none was, which is a class of its own in mcc.
        classes: how many choices there are.
    """
    found: dict[str, list[float]] = {}
    if "f1" in metrics:
        right, positive = picked == gold, picked == 1
        found["f1"] = [float(right and positive), float(positive and not right), float(gold == 1 != picked)]
    if "mcc" in metrics:
        size = classes + 1
        table = [0.0] * size**2
        table[gold * size + (classes if picked is None else picked)] = 1.0
        found["mcc"] = table
    return found


METRICS: Mapping[str, Callable[[Floats], Floats]] = MappingProxyType(
    {"bleu": bleu, "chrf": chrf, "chrf++": chrf, "ter": ter, "f1": f1, "mcc": mcc}
)
BOUNDS: Mapping[str, tuple[float, float] | None] = MappingProxyType({"mcc": (-1.0, 1.0), "ter": None})
"""The least and the most of a metric, None without a most. All others are from 0 to 1."""
LOWER_IS_BETTER = frozenset({"ter"})


def corpus_value(
    metric: str,
    counts: Floats,
    *,
    seed: int,
    groups: Sequence[str | None] | None = None,
    level: float = LEVEL,
) -> CorpusValue:
    """Return a corpus metric of the counts (n, s) of n problems, with an interval over new problems.

    Args:
        counts: the counts of each problem, summed over its samples.
        seed: the seed of the resampling, which draws whole clusters.
        groups: (n,) the cluster above each problem.

    Raises:
        InputError: the metric is unknown, or there is no problem.
    """
    function, units = _function(metric, counts), _clusters(counts, groups)
    value = float(function(counts.sum(axis=0, keepdims=True))[0])
    if len(units) < 2:
        return CorpusValue(value, None, "no interval: one cluster tells nothing about others")
    bounds = BOUNDS.get(metric, (0.0, 1.0))
    found = resampled_interval(
        units, function, seed=seed, bounds=bounds, resamples=CORPUS_RESAMPLES, level=level
    )
    return CorpusValue(value, found.bounds, found.method)


def corpus_difference(
    metric: str,
    base: Floats,
    tuned: Floats,
    *,
    seed: int,
    groups: Sequence[str | None] | None = None,
    level: float = LEVEL,
) -> CorpusValue:
    """Return tuned - base of a corpus metric on the same problems. Both are resampled together.

    Raises:
        InputError: as `corpus_value`, or the sides have different shapes.
    """
    if base.shape != tuned.shape:
        raise InputError(f"counts of {metric}: base has the shape {base.shape}, tuned {tuned.shape}")
    function = _function(metric, base)
    units, columns = _clusters(np.hstack([base, tuned]), groups), base.shape[1]

    def difference(sums: Floats) -> Floats:
        return function(sums[:, columns:]) - function(sums[:, :columns])

    value = float(difference(units.sum(axis=0, keepdims=True))[0])
    if len(units) < 2:
        return CorpusValue(value, None, "no interval: one cluster")
    found = resampled_interval(units, difference, seed=seed, resamples=CORPUS_RESAMPLES, level=level)
    return CorpusValue(value, found.bounds, found.method)


def _function(metric: str, counts: Floats) -> Callable[[Floats], Floats]:
    if metric not in METRICS:
        raise InputError(f"'{metric}' is not a corpus metric; valid: {', '.join(METRICS)}")
    if len(counts) == 0:
        raise InputError("no problems: at least one is needed for a corpus metric")
    return METRICS[metric]


def _clusters(counts: Floats, groups: Sequence[str | None] | None) -> Floats:
    """Return the counts (g, s) summed by group. A problem without a group is a cluster of its own."""
    if groups is None:
        return counts
    codes = cluster_numbers(groups)
    found = np.zeros((int(codes.max()) + 1, counts.shape[1]))
    np.add.at(found, codes, counts)
    return found
