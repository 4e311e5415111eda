"""Exact sign-flip tests of a mean difference, and McNemar's exact test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from genbench.stats.convolution import ROUNDED_CELLS, on_a_grid, tails
from genbench.stats.scores import Floats, Scores

EXACT_UP_TO = 16
"""Number of differences up to which all sign patterns (2^16) are enumerated."""
UNIT = 2.0**32
"""Grid steps of the largest difference. Sums of 2^20 rounded differences are exact, so ties are counted."""


SMALLEST_P = 5e-324
"""No p value is zero: the observed signs are one of the patterns."""


@dataclass(frozen=True, slots=True)
class SignFlip:
    """p values of a mean difference: two-sided, of a drop (regression) and of a gain (improvement)."""

    p_two_sided: float
    p_regression: float
    p_improvement: float
    method: str


@dataclass(frozen=True, slots=True)
class McNemar:
    """Problems by right or wrong in base and tuned at k = 1, with the exact test of the discordant ones."""

    both_right: int
    base_only: int
    tuned_only: int
    both_wrong: int
    p_two_sided: float
    p_regression: float


def sign_flip(differences: Floats) -> SignFlip:
    """Test differences (n,), one per independent cluster, by flipping their signs.

    Zeros have no sign to flip. Ties count as extreme. Differences that share a unit, as means of k samples
    do, are tested exactly: by the binomial law if all have one size, otherwise by convolution. Up to 16
    others are summed over all sign patterns. More of them are rounded to a fine grid first, which keeps the
    test exact for the rounded differences. If all differences are zero, p is 1.
    """
    moved = np.sort(differences[differences != 0])  # the last digits of the sums depend on the order
    if len(moved) == 0:
        return SignFlip(1.0, 1.0, 1.0, "exact: no problem differs")
    units, shared = on_a_grid(moved)
    if np.ptp(np.abs(units)) == 0:
        losses = int((units < 0).sum())
        both, below = binomial_p(losses, len(units))
        above = binomial_p(len(units) - losses, len(units))[1]
        return SignFlip(both, below, above, "exact sign-flip (binomial)")
    if not shared and len(moved) <= EXACT_UP_TO:
        return _all_patterns(moved)
    method = "exact sign-flip" if shared else f"exact sign-flip of differences rounded to 1/{ROUNDED_CELLS:,}"
    both, below, above = (max(p, SMALLEST_P) for p in tails(units))
    return SignFlip(both, below, above, method)


def _all_patterns(moved: Floats) -> SignFlip:
    """Return the test of a few differences that share no unit, by summing all sign patterns."""
    units = np.rint(moved / np.abs(moved).max() * UNIT)
    observed = float(units.sum())
    tolerance = len(units)  # rounding moves each of the two sums by at most half a unit per difference
    sums = _all_sums(units)
    counts = (
        (np.abs(sums) >= abs(observed) - tolerance).sum(),
        (sums <= observed + tolerance).sum(),
        (sums >= observed - tolerance).sum(),
    )
    both, below, above = (int(count) / len(sums) for count in counts)
    return SignFlip(both, below, above, "exact sign-flip")


def binomial_p(losses: int, discordant: int) -> tuple[float, float]:
    """Return exact p values of a fair coin: two-sided, and of at least `losses` in `discordant` throws."""
    if discordant == 0:
        return 1.0, 1.0

    def at_least(count: int) -> float:
        return 1.0 if count == 0 else float(bdtr(discordant - count, discordant, 0.5))

    return min(1.0, 2 * at_least(max(losses, discordant - losses))), at_least(losses)


def mcnemar(base: Scores, tuned: Scores) -> McNemar | None:
    """Return the table of two runs with one scored 0/1 sample per problem, or None for any other shape."""
    single = all(s.is_binary and s.values.shape[1] == 1 and s.excluded == 0 for s in (base, tuned))
    if not single:
        return None
    b, t = base.values[:, 0] == 1, tuned.values[:, 0] == 1
    base_only, tuned_only = int((b & ~t).sum()), int((~b & t).sum())
    two_sided, regression = binomial_p(base_only, base_only + tuned_only)
    return McNemar(int((b & t).sum()), base_only, tuned_only, int((~b & ~t).sum()), two_sided, regression)


def _all_sums(units: Floats) -> Floats:
    """Return the sums (2^n,) under every pattern of signs."""
    sums = np.zeros(1)
    for unit in units:
        sums = np.concatenate([sums + unit, sums - unit])
    return sums
