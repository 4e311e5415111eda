"""Sign-flip tests of a mean difference, exact or Monte Carlo, and McNemar's exact test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr

from genbench.stats.resample import CHUNK_DRAWS, RESAMPLES
from genbench.stats.scores import Floats, Scores

EXACT_UP_TO = 16
"""Number of differences up to which all sign patterns (2^16) are enumerated."""
UNIT = 2.0**32
"""Grid steps of the largest difference. Sums of 2^20 rounded differences are exact, so ties are counted."""


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


def sign_flip(differences: Floats, *, seed: int, resamples: int = RESAMPLES) -> SignFlip:
    """Test differences (n,), one per independent cluster, by flipping their signs.

    Zeros have no sign to flip. Ties count as extreme. The test is exact for up to 16 non-zero differences,
    and if they all have one size (at k = 1: the binomial law). Otherwise it is Monte Carlo with
    p = (1 + #)/(resamples + 1), which is never zero (Phipson & Smyth 2010). If all differences are zero,
    p is 1.
    """
    moved = differences[differences != 0]
    if len(moved) == 0:
        return SignFlip(1.0, 1.0, 1.0, "exact: no problem differs")
    units = np.rint(moved / np.abs(moved).max() * UNIT)
    if np.ptp(np.abs(units)) == 0:
        losses = int((units < 0).sum())
        both, below = binomial_p(losses, len(units))
        above = binomial_p(len(units) - losses, len(units))[1]
        return SignFlip(both, below, above, "exact sign-flip (binomial)")
    observed = float(units.sum())
    tolerance = len(units)  # rounding moves each of the two sums by at most half a unit per difference
    if len(units) <= EXACT_UP_TO:
        sums, extra, method = _all_sums(units), 0, "exact sign-flip"
    else:
        sums, extra = _random_sums(units, seed, resamples), 1
        method = f"Monte Carlo sign-flip ({resamples:,} flips)"
    counts = (
        (np.abs(sums) >= abs(observed) - tolerance).sum(),
        (sums <= observed + tolerance).sum(),
        (sums >= observed - tolerance).sum(),
    )
    two_sided, below, above = ((extra + int(count)) / (extra + len(sums)) for count in counts)
    return SignFlip(two_sided, below, above, method)


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


def _random_sums(units: Floats, seed: int, resamples: int) -> Floats:
    """Return sums (resamples,) under random signs: sum(±u) = 2 * (sum of u with the bit set) - sum(u)."""
    rng = np.random.default_rng(seed)
    count = len(units)
    chunk = max(1, CHUNK_DRAWS // count)
    sums = np.empty(resamples)
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        packed = rng.integers(0, 256, size=(rows, (count + 7) // 8), dtype=np.uint8)
        bits = np.unpackbits(packed, axis=1, count=count).astype(np.float64)
        sums[start : start + rows] = bits @ units
    return np.asarray(2 * sums - units.sum(), dtype=np.float64)
