"""The exact test of exchange: one model's samples of a problem could have been drawn by either run.

If base and tuned are one model, every choice of tuned's samples among all samples of a problem is equally
likely. So the number of right ones among them is hypergeometric, and the mean difference is a sum of
independent parts (Cochran 1954, Mantel and Haenszel 1959, with the exact law instead of the normal one).

Signs must not be flipped alone if the runs have different numbers of samples. Against a stored base of many,
few samples near 0 or 1 give many tiny differences of one sign and a few large ones of the other. Unchanged
models were called REGRESSED in 24 % of comparisons then (100 problems, 64 against 1 samples, 2 % right).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from genbench.stats.comparison.sign_flip_test import common_denominator, on_a_grid, transformed_sums
from genbench.stats.scores import Floats, Ints, Scores

CELLS = 2**14
"""Cells of a law whose steps share no small unit. Rounding them keeps the test exact for rounded steps."""
_MOST_CELLS = 2**18
_TILT, _PARTS = 0.2, 128
"""A right sample weighs up to 10 % more or less, by how often its problem is right in both runs together.

Any weights of problems that do not tell base from tuned keep the test exact. With equal ones many outcomes
tie: a drop from 10 to 5 right of 100 was found in 50 % instead of 58 %, which is the most that a test of 5 %
can find. `_PARTS` are cells in a step. With 16, ties remained that cost 1 to 2 % (benchmarks/decisions.py).
"""


@dataclass(frozen=True, slots=True)
class NullLaw:
    """The law of a mean difference of an unchanged model.

    `chances[j]` is the probability of the j-th value from below. Neighbours differ by `step`. The observed
    difference is the value number `observed`.
    """

    chances: Floats
    step: float
    observed: int

    @property
    def p_regression(self) -> float:
        """The probability of a difference this low or lower."""
        return float(min(1.0, self.chances[: self.observed + 1].sum()))

    @property
    def p_improvement(self) -> float:
        """The probability of a difference this high or higher."""
        return float(min(1.0, self.chances[self.observed :].sum()))

    @property
    def p_two_sided(self) -> float:
        """Twice the smaller of both."""
        return min(1.0, 2 * min(self.p_regression, self.p_improvement))


def exchange_law(base: Scores, tuned: Scores) -> NullLaw | None:
    """Return the law of the difference of mean scores when samples of each problem change places.

    Return None if it is not needed, because both runs have as many scored samples of every problem: flipping
    signs is an exchange then. Return None as well for scores between 0 and 1, whose law is not known.
    """
    m, k = base.scored, tuned.scored
    if not (base.is_binary and tuned.is_binary) or bool((m == k).all()):
        return None
    right = np.nansum(tuned.values, axis=1).astype(np.int64)
    both = right + np.nansum(base.values, axis=1).astype(np.int64)
    # Every right sample of tuned instead of base moves the mean of its problem by 1/k + 1/m.
    steps = (1 / k + 1 / m) / base.n
    unit = _unit(steps, k) / max(1, min(_PARTS, CELLS // int(k.sum())))
    sizes = np.rint(steps / unit * (1 + _TILT * (_ranks(both / (m + k)) - 0.5))).astype(np.int64)
    lowest = np.maximum(0, both - m)
    kinds, counts = np.unique(np.stack([m, k, both, sizes]), axis=1, return_counts=True)
    laws = [_hypergeometric(*map(int, kind)) for kind in kinds.T]
    chances = _sum_of(laws, counts)
    return NullLaw(chances, unit, int(((right - lowest) * sizes).sum()))


def _ranks(values: Floats) -> Floats:
    """Return the share (n,) of values that are lower, with half of those that are equal."""
    ordered = np.sort(values)
    below, upto = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    return np.asarray((below + upto) / 2 / len(values))


def _unit(steps: Floats, k: Ints) -> float:
    """Return a unit of which all steps are multiples, or nearly so if they share no small one."""
    shared = common_denominator(steps / steps.max())
    if shared is not None and shared * int(k.sum()) <= _MOST_CELLS:
        return float(steps.max()) / shared
    return float((steps * k).sum()) / CELLS


def _hypergeometric(m: int, k: int, right: int, size: int) -> Floats:
    """Return the law of the right samples of tuned, `size` cells apart, from the smallest possible number."""
    low, high = max(0, right - m), min(k, right)
    found = np.arange(low, high + 1)
    logs = _log_choose(right, found) + _log_choose(m + k - right, k - found) - _log_choose(m + k, k)
    law = np.zeros((high - low) * size + 1)
    law[::size] = np.exp(logs)
    return np.asarray(law / law.sum())


def _log_choose(n: int, k: Ints | int) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n + 1, k)))


def _sum_of(laws: Sequence[Floats], counts: Sequence[int] | Ints) -> Floats:
    """Return the law of the sum of independent numbers, `counts` of each law."""
    length = 1 + sum((len(law) - 1) * int(count) for law, count in zip(laws, counts, strict=True))
    size = 1 << (length - 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    for law, count in zip(laws, counts, strict=True):
        if len(law) > 1:
            product *= np.fft.rfft(law, size) ** int(count)
    return np.maximum(np.fft.irfft(product, size)[:length], 0.0) if size > 1 else np.ones(1)


def flip_law(differences: Floats) -> NullLaw:
    """Return the law of a sum of differences (n,) when their signs are flipped."""
    units, _ = on_a_grid(differences)
    if len(units) == 0:
        return NullLaw(np.ones(1), 1.0, 0)
    size = float(np.abs(differences).sum()) / float(np.abs(units).sum())
    total = int(np.abs(units).sum())
    return NullLaw(transformed_sums(units), 2 * size, (int(units.sum()) + total) // 2)


def weighted(laws: Sequence[NullLaw], weights: Sequence[float]) -> NullLaw:
    """Return the law of a weighted sum of independent differences.

    Values are rounded to CELLS cells. That keeps their order, so the test is exact for the rounded values.
    """
    spans = [weight * law.step * (len(law.chances) - 1) for law, weight in zip(laws, weights, strict=True)]
    unit = math.fsum(spans) / CELLS or 1.0
    parts, observed = list[Floats](), 0
    for law, weight in zip(laws, weights, strict=True):
        part, at = _on_cells(law, weight / unit)
        parts.append(part)
        observed += at
    return NullLaw(_sum_of(parts, [1] * len(parts)), unit, observed)


def _on_cells(law: NullLaw, scale: float) -> tuple[Floats, int]:
    """Return a law with its values rounded to cells, and the cell of the observed value."""
    cells = np.rint(np.arange(len(law.chances)) * (law.step * scale)).astype(np.int64)
    return np.asarray(np.bincount(cells, weights=law.chances), dtype=np.float64), int(cells[law.observed])
