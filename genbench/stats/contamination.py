"""Signs of contamination: problems that flip from never to always right, and the effect of option order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc, ndtr

from genbench.stats.comparison.sign_flip_test import sign_flip
from genbench.stats.scores import Floats

NEVER, ALWAYS = 1 / 64, 15 / 16
"""Shares of right samples: the largest of a problem that is never solved, the least of one always solved."""


@dataclass(frozen=True, slots=True)
class Flips:
    """The problems that base never solves, and those of them that tuned always solves, as masks (n,)."""

    never: npt.NDArray[np.bool_]
    flipped: npt.NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Return the number of miracle flips."""
        return int(self.flipped.sum())

    @property
    def chances(self) -> int:
        """Return the number of problems that could have flipped."""
        return int(self.never.sum())


def miracle_flips(base: Floats, tuned: Floats) -> Flips:
    """Return the miracle flips between the shares of right samples (n,) of two models."""
    never = base <= NEVER
    return Flips(never, never & (tuned >= ALWAYS))


LARGE_STEP = 1.5
"""A training step this many times as large as all earlier ones flips more problems honestly."""


def step_size(base: Floats, tuned: Floats) -> float:
    """Return how far tuned's shares of right samples (n,) are from base's: the root mean square difference.

    It is over the problems that base solves sometimes and tuned does not solve always, so that neither flips
    nor other leaked problems count. It is 0 without such a problem.
    """
    moved = (tuned - base)[(base > NEVER) & (tuned < ALWAYS)]
    known = moved[~np.isnan(moved)]
    return float(np.sqrt(np.mean(known**2))) if len(known) else 0.0


def share_of_gain(base: Floats, tuned: Floats, flips: Flips) -> float | None:
    """Return the part of the mean gain that comes from miracle flips. None if the mean did not rise.

    It is above 1 if the other problems lost.
    """
    gain = tuned - base
    total = float(gain.sum())
    return float(gain[flips.flipped].sum()) / total if total > 0 else None


def flip_test(count: int, chances: int, earlier: int, earlier_chances: int) -> float | None:
    """Return the probability of at least `count` flips if the model flips as often as earlier ones.

    Given the sum of all flips, the model's own ones are binomial with its share of the chances. The test
    assumes that flips are independent of each other.

    Args:
        count: flips of the model.
        chances: problems that could have flipped.
        earlier: flips of earlier models against the same base.
        earlier_chances: problems that could have flipped there, summed over the models.

    Returns:
        The one-sided p value, or None without earlier chances.
    """
    if earlier_chances <= 0:
        return None
    if count == 0 or chances == 0:
        return 1.0
    return float(bdtrc(count - 1, count + earlier, chances / (chances + earlier_chances)))


LEAST_FLIPS = 2
"""A single flip is never a sign, since one problem may be learned honestly."""


def flips_power(
    base: Floats,
    leak: float,
    *,
    earlier: int,
    earlier_chances: int,
    alpha: float,
    seed: int = 0,
    nights: int = 500,
) -> float:
    """Return how often the test of flips would find a leak, by simulated nights of base's own rates.

    A leaked problem, chosen at random, is always solved. The others flip as often as in the earlier runs.

    Args:
        base: base's shares of right samples (n,).
        leak: share of the problems that leaked.
        earlier, earlier_chances: as in `flip_test`.
        alpha: the level of this one test.
    """
    known = base[~np.isnan(base)]
    never = int((known <= NEVER).sum())
    if earlier_chances <= 0 or never == 0:
        return 0.0
    rng = np.random.default_rng(seed)
    leaked = rng.hypergeometric(never, len(known) - never, round(leak * len(known)), size=nights)
    count = leaked + rng.binomial(never - leaked, earlier / earlier_chances)
    p = bdtrc(count - 1, count + earlier, never / (never + earlier_chances))
    return float(np.mean((count >= LEAST_FLIPS) & (np.where(count > 0, p, 1.0) <= alpha)))


def least_leak(base: Floats, *, earlier: int, earlier_chances: int, alpha: float) -> float | None:
    """Return the least share of leaked problems that is found in 80 % of nights, in steps of 1 %, or None."""
    for percent in range(1, 101):
        found = flips_power(
            base, percent / 100, earlier=earlier, earlier_chances=earlier_chances, alpha=alpha, nights=300
        )
        if found >= _POWER:
            return percent / 100
    return None


_POWER = 0.8


@dataclass(frozen=True, slots=True)
class TwinGap:
    """By how much twins of problems score less than the originals, beyond base: mean, standard error, p."""

    gap: float
    se: float
    p: float


def twin_gap(differences: Floats) -> TwinGap:
    """Return the mean of twin - original (n,), and the one-sided sign-flip p value of a negative one.

    Args:
        differences: of each original: the mean of its twins minus its own, of tuned minus the same of base.
    """
    se = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return TwinGap(float(differences.mean()), se, sign_flip(differences).p_regression)


@dataclass(frozen=True, slots=True)
class OrderedSamples:
    """The scored samples of one problem: score, closeness to the dataset's order, place of the right option.

    All are arrays (k,). `closeness` is 1 in the order of the dataset and 0 in the reverse one.
    """

    scores: Floats
    closeness: Floats
    places: Sequence[int]


@dataclass(frozen=True, slots=True)
class OrderEffect:
    """By how much the score rises from the reversed order to that of the dataset, as a fraction of 1.

    `problems` are those with right and wrong samples, which only can show an effect.
    """

    effect: float
    se: float
    problems: int
    samples: int


def closeness(order: Sequence[int]) -> float:
    """Return the share of pairs of options that are shown in the order of the dataset."""
    count = len(order)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    return sum(order[i] < order[j] for i, j in pairs) / len(pairs) if pairs else 1.0


def order_effect(problems: Sequence[OrderedSamples]) -> OrderEffect | None:
    """Return the slope of scores over closeness within problems, or None if no problem has both varied.

    The mean effect of the right option's place is taken out first, since models prefer some letters. If
    samples of a problem are exchangeable, its scores are permuted over its orders at random. The standard
    error is that of these permutations, in closed form.
    """
    kept = [item for item in problems if np.ptp(item.scores) > 0 and np.ptp(item.closeness) > 0]
    if not kept:
        return None
    scores = _without_places(kept)
    products = squares = variance = 0.0
    for item, centred in zip(kept, scores, strict=True):
        distance = item.closeness - item.closeness.mean()
        products += float(centred @ distance)
        squares += float(distance @ distance)
        variance += float(centred @ centred) * float(distance @ distance) / (len(distance) - 1)
    return OrderEffect(
        effect=products / squares,
        se=math.sqrt(variance) / squares,
        problems=len(kept),
        samples=sum(len(item.scores) for item in kept),
    )


def _without_places(problems: Sequence[OrderedSamples]) -> list[Floats]:
    """Return each problem's centred scores without the mean effect of the right option's place."""
    centred = [item.scores - item.scores.mean() for item in problems]
    places = np.concatenate([np.asarray(item.places) for item in problems])
    sums = np.bincount(places, weights=np.concatenate(centred))
    means = sums / np.maximum(np.bincount(places), 1)
    found = [values - means[np.asarray(item.places)] for values, item in zip(centred, problems, strict=True)]
    return [values - values.mean() for values in found]


def effect_test(base: OrderEffect, tuned: OrderEffect) -> float:
    """Return the one-sided p value of a larger effect in tuned than in base.

    Both are treated as independent. Shared seeds make the test err less often.
    """
    se = math.hypot(base.se, tuned.se)
    return 1.0 if se == 0 else float(ndtr(-(tuned.effect - base.effect) / se))
