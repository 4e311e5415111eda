"""Agreement of raters beyond chance: Cohen's kappa of two, Krippendorff's alpha of more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genbench.errors import InputError
from genbench.stats.intervals import LEVEL, normal_quantile
from genbench.stats.scores import Floats

_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with its standard error, its interval and the share of equal labels.

    `value`, `se` and `ci` are None if both raters use one label throughout. Kappa is not defined then.
    """

    value: float | None
    se: float | None
    ci: tuple[float, float] | None
    agreement: float
    n: int


def cohens_kappa(first: Sequence[str], second: Sequence[str], level: float = LEVEL) -> Kappa:
    """Return kappa (Cohen 1960) with the large-sample interval of Fleiss, Cohen and Everitt (1969, eq. 13).

    Raises:
        InputError: there are no ratings, or the raters have different numbers of them.
    """
    if not first or len(first) != len(second):
        raise InputError(f"kappa needs two ratings of each item, found {len(first)} and {len(second)}")
    labels = sorted({*first, *second})
    table = np.zeros((len(labels), len(labels)))
    for left, right in zip(first, second, strict=True):
        table[labels.index(left), labels.index(right)] += 1
    n = len(first)
    table /= n
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    agreed, chance = float(np.trace(table)), float(rows @ columns)
    if chance >= 1:
        return Kappa(None, None, None, agreed, n)
    kappa = (agreed - chance) / (1 - chance)
    diagonal = np.diag(table) * ((1 - chance) - (rows + columns) * (1 - agreed)) ** 2
    others = table * (columns[:, None] + rows[None, :]) ** 2
    spread = diagonal.sum() + (1 - agreed) ** 2 * (others.sum() - np.trace(others))
    spread -= (agreed * chance - 2 * chance + agreed) ** 2
    se = float(np.sqrt(max(spread, 0.0) / n) / (1 - chance) ** 2)
    half = normal_quantile(level) * se
    return Kappa(kappa, se, (max(kappa - half, -1.0), min(kappa + half, 1.0)), agreed, n)


def clustered_kappa(
    first: Sequence[Sequence[str]],
    second: Sequence[Sequence[str]],
    *,
    seed: int,
    ordered: Sequence[str] | None = None,
    level: float = LEVEL,
) -> Kappa:
    """Return kappa of cases with several ratings each. Its percentile interval resamples whole cases.

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
    whole = tables.sum(axis=0)
    distances = _distances(len(labels), quadratic=ordered is not None)
    n, agreement = int(whole.sum()), float(np.trace(whole) / whole.sum())
    value = float(_kappas(whole[None], distances)[0])
    if np.isnan(value):
        return Kappa(None, None, None, agreement, n)
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(first), np.full(len(first), 1 / len(first)), size=_RESAMPLES)
    drawn = _kappas(np.tensordot(counts.astype(float), tables, axes=1), distances)
    drawn = drawn[~np.isnan(drawn)]
    low, high = (float(q) for q in np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    return Kappa(value, float(drawn.std(ddof=1)), (low, high), agreement, n)


def krippendorffs_alpha(items: Sequence[Sequence[str]], *, seed: int, level: float = LEVEL) -> Kappa:
    """Return alpha of nominal labels (Krippendorff 2004). Its percentile interval resamples whole items.

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
    sizes = counts.sum(axis=1)
    # An item of m labels has m (m - 1) ordered pairs, each of which weighs 1 / (m - 1).
    unequal = (sizes**2 - (counts**2).sum(axis=1)) / (sizes - 1)
    agreement = 1.0 - float(unequal.sum() / sizes.sum())
    value = float(_alphas(counts.sum(axis=0)[None], np.array([unequal.sum()]))[0])
    if np.isnan(value):
        return Kappa(None, None, None, agreement, len(paired))
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(paired), np.full(len(paired), 1 / len(paired)), size=_RESAMPLES).astype(float)
    values = _alphas(drawn @ counts, drawn @ unequal)
    values = values[~np.isnan(values)]
    low, high = (float(q) for q in np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    return Kappa(value, float(values.std(ddof=1)), (low, high), agreement, len(paired))


def _alphas(totals: Floats, unequal: Floats) -> Floats:
    """Return alpha for totals of labels (samples, labels) and unequal pairs (samples,). NaN: one label."""
    n = totals.sum(axis=1)
    expected = n**2 - (totals**2).sum(axis=1)
    found = np.full(len(totals), np.nan)
    np.divide((n - 1) * unequal, expected, out=found, where=expected > 0)
    alphas: Floats = np.subtract(1.0, found)
    return alphas


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
