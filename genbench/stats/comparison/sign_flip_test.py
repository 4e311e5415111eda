"""Exact sign-flip tests of a mean difference, by convolution on a grid, and McNemar's exact test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import bdtr

from genbench.json_record import Count, JsonRecord, Share
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


class McNemarRecord(JsonRecord):
    """Problems by right or wrong in both sides, at one 0/1 sample per problem."""

    both_right: Count = Field(description="problems right in both")
    base_only: Count = Field(description="problems right in base only")
    tuned_only: Count = Field(description="problems right in tuned only")
    both_wrong: Count = Field(description="problems wrong in both")
    p_two_sided: Share = Field(description="exact two-sided p value")
    p_regression: Share = Field(description="exact one-sided p value of a drop")


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


def mcnemar(base: Scores, tuned: Scores) -> McNemarRecord | None:
    """Return the table of two runs with one scored 0/1 sample per problem, or None for any other shape."""
    single = all(s.is_binary and s.values.shape[1] == 1 and s.excluded == 0 for s in (base, tuned))
    if not single:
        return None
    b, t = base.values[:, 0] == 1, tuned.values[:, 0] == 1
    base_only, tuned_only = int((b & ~t).sum()), int((~b & t).sum())
    two_sided, regression = binomial_p(base_only, base_only + tuned_only)
    return McNemarRecord(
        both_right=int((b & t).sum()),
        base_only=base_only,
        tuned_only=tuned_only,
        both_wrong=int((~b & ~t).sum()),
        p_two_sided=two_sided,
        p_regression=regression,
    )


def _all_sums(units: Floats) -> Floats:
    """Return the sums (2^n,) under every pattern of signs."""
    sums = np.zeros(1)
    for unit in units:
        sums = np.concatenate([sums + unit, sums - unit])
    return sums


Integers = NDArray[np.int64]
MOST_CELLS = 2**20
"""The longest grid of sums; 1,319 problems with 64 against 8 samples need 85,000 cells."""
ROUNDED_CELLS = 2**17
"""The grid for differences that share no small unit. Rounding moves a sum by under 0.2 % of its spread."""
_DIRECT_WORK = 2**24
"""Cells times problems up to which one problem after the other is added (20 ms)."""
_LEAF = 128
"""Problems that are added one after the other before laws are multiplied by Fourier transform."""
_REACH = 8.5
_FOURIER_ERROR = 1e-9
"""Smaller p values are computed directly: the transform's absolute error is under 1e-13."""
_LARGEST_DENOMINATOR = 100_000
_TOLERANCE = 1e-9


def on_a_grid(differences: Floats) -> tuple[Integers, bool]:
    """Return the differences (n,) as whole numbers of one unit, and whether that is exact.

    Means of k samples are multiples of 1/k, so differences of two runs share a unit. Differences without a
    common unit (weighted tasks) are rounded to one. Rounding to the nearest is symmetric in sign, so flipping
    the signs of the rounded differences is still an exact test.
    """
    moved = differences[differences != 0]
    if len(moved) == 0:
        return np.zeros(0, dtype=np.int64), True
    unit = common_denominator(moved)
    if unit is not None:
        whole = np.rint(moved * unit).astype(np.int64)
        whole //= math.gcd(*(int(value) for value in np.unique(np.abs(whole))))
        if int(np.abs(whole).sum()) <= MOST_CELLS:
            return whole, True
    scale = ROUNDED_CELLS / float(np.abs(moved).sum())
    rounded = np.rint(moved * scale).astype(np.int64)
    return rounded[rounded != 0], False


def common_denominator(values: Floats) -> int | None:
    """Return the least common denominator of the values, None if it is too large or they have none."""
    common = 1
    for value in np.unique(np.abs(values)):
        fraction = Fraction(float(value)).limit_denominator(_LARGEST_DENOMINATOR)
        if abs(float(fraction) - float(value)) > _TOLERANCE:
            return None
        common = math.lcm(common, fraction.denominator)
        if common > MOST_CELLS:
            return None
    return common


def flipped_sums(units: Integers) -> Floats:
    """Return the probabilities of the sums of `units` (n,) under random signs.

    Returns:
        Place j is the probability of the sum 2j - total. The total is the sum of absolute units, and j runs
        from 0 to it.
    """
    sizes, counts = np.unique(np.abs(units), return_counts=True)
    law = np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        for _ in range(count):
            longer = np.zeros(len(law) + size)
            longer[: len(law)] = law
            longer[size:] += law
            law = longer * 0.5
    return law


def transformed_sums(units: Integers) -> Floats:
    """Return `flipped_sums` by halves, whose laws are multiplied by Fourier transform.

    It takes a third to two thirds of the time for thousands of problems. The absolute error is under 1e-13.
    """
    law, left_out = _likely_sums(units)
    return np.pad(law, left_out)


def _likely_sums(units: Integers) -> tuple[Floats, int]:
    """Return the law of the sums without the places at both ends that no sum reaches, and their number.

    By Hoeffding's bound a sum is as far as _REACH times its standard deviation in 4e-16 of the patterns.
    """
    if len(units) <= _LEAF:
        law, left_out = flipped_sums(units), 0
    else:
        half = len(units) // 2
        (left, before), (right, after) = _likely_sums(units[:half]), _likely_sums(units[half:])
        length, left_out = len(left) + len(right) - 1, before + after
        step = 1 << max(0, (length - 1).bit_length() - 3)
        size = -(-length // step) * step  # at most a quarter longer, and with small factors only
        law = np.fft.irfft(np.fft.rfft(left, size) * np.fft.rfft(right, size), size)[:length]
        law = np.maximum(law, 0.0)
    # Neighbouring places are sums that differ by 2.
    reach = math.ceil(_REACH / 2 * math.sqrt(float((units.astype(np.float64) ** 2).sum())))
    beyond = max(0, (len(law) - 1) // 2 - reach)
    return law[beyond : len(law) - beyond], left_out + beyond


def tails(units: Integers) -> tuple[float, float, float]:
    """Return p values of the observed sum of `units`: two-sided, this low or lower, this high or higher."""
    if len(units) * int(np.abs(units).sum()) > _DIRECT_WORK:
        found = _tails(transformed_sums(units), units)
        if min(found) > _FOURIER_ERROR:
            return found
    return _tails(flipped_sums(units), units)


def _tails(law: Floats, units: Integers) -> tuple[float, float, float]:
    """Return the p values of the observed sum under the law of sums."""
    total, observed = len(law) - 1, int(units.sum())
    place = (observed + total) // 2
    low = float(law[: place + 1].sum())
    high = float(law[place:].sum())
    far = min(place, total - place)
    both = 1.0 if 2 * far >= total else float(law[: far + 1].sum() + law[total - far :].sum())
    return min(1.0, both), min(1.0, low), min(1.0, high)
