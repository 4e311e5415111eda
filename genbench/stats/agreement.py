"""Agreement of raters beyond chance: Cohen's kappa of two, Krippendorff's alpha of more.

Items are the units of all intervals: several labels of one item are one cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from genbench.errors import InputError
from genbench.stats.intervals import LEVEL, expanded_percentiles, normal_quantile
from genbench.stats.resample import resampled
from genbench.stats.scores import Floats

LEAST = 50
"""Items below which there is no interval: those of 20 items cover 52 to 90 % (simulated)."""
_MANY = 20
"""Items that differ, and items with a rarer label, from which on the large-sample interval covers 93 %."""
_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Kappa:
    """An agreement beyond chance with its standard error, its interval and the share of equal labels.

    `value`, `se` and `ci` are None if one label is used throughout: it is not defined then. `ci` is also None
    for less than LEAST items. `n` counts the pairs of labels of kappa, and the items of alpha.
    """

    value: float | None
    se: float | None
    ci: tuple[float, float] | None
    agreement: float
    n: int


def cohens_kappa(first: Sequence[str], second: Sequence[str], *, seed: int = 0) -> Kappa:
    """Return kappa (Cohen 1960) of two ratings of each item, with its large-sample standard error.

    The interval is that of Fleiss, Cohen and Everitt (1969, eq. 13), or that of `clustered_kappa` if few
    items differ or have a rarer label: theirs covers 23 to 91 % then (simulated).

    Raises:
        InputError: there are no ratings, or the raters have different numbers of them.
    """
    if not first or len(first) != len(second):
        raise InputError(f"kappa needs two ratings of each item, found {len(first)} and {len(second)}")
    found = clustered_kappa([[x] for x in first], [[x] for x in second], seed=seed)
    if found.value is None:
        return found
    labels = sorted({*first, *second})
    table = _tables([first], [second], labels)[0] / found.n
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    agreed, chance = found.agreement, float(rows @ columns)
    diagonal = np.diag(table) * ((1 - chance) - (rows + columns) * (1 - agreed)) ** 2
    others = table * (columns[:, None] + rows[None, :]) ** 2
    spread = diagonal.sum() + (1 - agreed) ** 2 * (others.sum() - np.trace(others))
    spread -= (agreed * chance - 2 * chance + agreed) ** 2
    se = float(np.sqrt(max(spread, 0.0) / found.n) / (1 - chance) ** 2)
    ci, rare = found.ci, 1 - max(agreed, rows.max(), columns.max())
    if ci is not None and found.n * rare >= _MANY:
        half = normal_quantile(LEVEL) * se
        ci = max(found.value - half, -1.0), min(found.value + half, 1.0)
    return Kappa(found.value, se, ci, agreed, found.n)


def clustered_kappa(
    first: Sequence[Sequence[str]],
    second: Sequence[Sequence[str]],
    *,
    seed: int,
    ordered: Sequence[str] | None = None,
) -> Kappa:
    """Return kappa of cases with several ratings each. Its interval resamples whole cases.

    Args:
        first: for each case its ratings by one rater.
        second: for each case its ratings by the other rater, as many as `first` has.
        ordered: the labels from low to high. Near misses then count less (quadratic weights, Cohen 1968).

    Raises:
        InputError: there are no ratings, or the raters have different numbers of them.
    """
    sizes = [[len(ratings) for ratings in rater] for rater in (first, second)]
    if not any(sizes[0]) or sizes[0] != sizes[1]:
        raise InputError("kappa needs two ratings of each item, as many by one rater as by the other")
    labels = list(ordered or sorted({word for rater in (first, second) for case in rater for word in case}))
    tables = _tables(first, second, labels)
    distances = _distances(len(labels), quadratic=ordered is not None)
    pairs = float(tables.sum())
    units = tables.reshape(len(tables), -1)
    agreement = float(np.trace(tables.sum(axis=0)) / pairs)
    unseen = np.eye(units.shape[1]) * pairs / len(units)

    def kappas(sums: Floats) -> Floats:
        return _kappas(sums.reshape(-1, len(labels), len(labels)), distances)

    return _with_interval(units, kappas, unseen, seed, agreement=agreement, n=int(pairs))


def krippendorffs_alpha(items: Sequence[Sequence[str]], *, seed: int) -> Kappa:
    """Return alpha of nominal labels (Krippendorff 2004). Its interval resamples whole items.

    Items may have different numbers of labels. Those with fewer than two say nothing and are left out.

    Args:
        items: the labels of each item, by any raters.

    Raises:
        InputError: no item has two labels.
    """
    paired = [item for item in items if len(item) > 1]
    if not paired:
        raise InputError("alpha needs two labels of an item, found none")
    labels = sorted({label for item in paired for label in item})
    counts = np.array([[item.count(label) for label in labels] for item in paired], dtype=float)
    units = _with_unequal(counts)
    # An item that was not met: the mean number of labels, half of them one label and half another.
    ones, half = np.eye(len(labels)), float(counts.sum(axis=1).mean()) / 2
    unseen = _with_unequal((half * (ones[:, None] + ones[None, :])).reshape(-1, len(labels)))
    agreement = 1.0 - float(units[:, -1].sum() / counts.sum())
    return _with_interval(units, _alphas, unseen, seed, agreement=agreement, n=len(paired))


def _with_interval(
    units: Floats,
    statistic: Callable[[Floats], Floats],
    unseen: Floats,
    seed: int,
    *,
    agreement: float,
    n: int,
) -> Kappa:
    """Return an agreement of items (g, c) with the standard error and the interval of resampled items."""
    value = float(statistic(units.sum(axis=0, keepdims=True))[0])
    if np.isnan(value):
        return Kappa(None, None, None, agreement, n)
    drawn = resampled(units, statistic, seed=seed, resamples=_RESAMPLES, unseen=unseen)
    drawn = drawn[~np.isnan(drawn)]
    ci = expanded_percentiles(drawn, len(units)) if len(units) >= LEAST else None
    return Kappa(value, float(drawn.std(ddof=1)), ci, agreement, n)


def _with_unequal(counts: Floats) -> Floats:
    """Return counts of labels (items, labels) with a column of unequal pairs.

    An item of m labels has m (m - 1) ordered pairs, each of which weighs 1 / (m - 1).
    """
    sizes = counts.sum(axis=1)
    return np.column_stack([counts, (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)])


def _alphas(sums: Floats) -> Floats:
    """Return alpha of sums of label counts and of unequal pairs (samples, labels + 1). NaN: one label."""
    totals, unequal = sums[:, :-1], sums[:, -1]
    n = totals.sum(axis=1)
    expected = n**2 - (totals**2).sum(axis=1)
    found = np.full(len(totals), np.nan)
    np.divide((n - 1) * unequal, expected, out=found, where=expected > 0)
    return np.asarray(1.0 - found, dtype=np.float64)


def _tables(first: Sequence[Sequence[str]], second: Sequence[Sequence[str]], labels: list[str]) -> Floats:
    """Count the label pairs of each case: an array (cases, labels, labels)."""
    tables: Floats = np.zeros((len(first), len(labels), len(labels)))
    for number, (left, right) in enumerate(zip(first, second, strict=True)):
        for a, b in zip(left, right, strict=True):
            tables[number, labels.index(a), labels.index(b)] += 1
    return tables


def _distances(labels: int, *, quadratic: bool) -> Floats:
    """Return the distance (labels, labels) of each two labels: 0 on the diagonal, at most 1."""
    places = np.arange(labels, dtype=float)
    distance = np.abs(places[:, None] - places[None, :])
    found: Floats = (distance / max(labels - 1, 1)) ** 2 if quadratic else (distance > 0).astype(float)
    return found


def _kappas(tables: Floats, distances: Floats) -> Floats:
    """Return kappa of each table of counts (tables, labels, labels), NaN for a table with one label."""
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    chance = shares.sum(axis=2)[:, :, None] * shares.sum(axis=1)[:, None, :]
    observed, expected = (np.sum(distances * item, axis=(1, 2)) for item in (shares, chance))
    kappas = np.full(len(tables), np.nan)
    np.divide(observed, expected, out=kappas, where=expected > 0)
    found: Floats = np.subtract(1.0, kappas)
    return found
