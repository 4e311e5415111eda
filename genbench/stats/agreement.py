"""How well two raters agree beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from genbench.errors import InputError
from genbench.stats.intervals import LEVEL


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with its interval; `value` is None where one rater uses a single label throughout."""

    value: float | None
    se: float | None
    ci: tuple[float, float] | None
    agreement: float
    n: int


def cohens_kappa(first: Sequence[str], second: Sequence[str], level: float = LEVEL) -> Kappa:
    """Kappa (Cohen 1960) with the large-sample interval of Fleiss, Cohen and Everitt (1969, eq. 13).

    Raises:
        InputError: no ratings, or not as many of one as of the other.
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
    half = float(norm.ppf((1 + level) / 2)) * se
    return Kappa(kappa, se, (max(kappa - half, -1.0), min(kappa + half, 1.0)), agreed, n)
