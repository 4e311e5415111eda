"""Whether a benchmark can tell models apart: difficulty, signal and noise, order of models, wrong references.

Sources: signal and noise arXiv 2508.13144; Kendall 1945 for tau-b; Spearman 1910 and Brown 1910 for halves.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, ndtr, ndtri, stdtr

from genbench.stats.comparison.sign_flip_test import SMALLEST_P, sign_flip
from genbench.stats.intervals import LEVEL, normal_quantile, resampled_interval
from genbench.stats.resample import ROUNDING, cluster
from genbench.stats.scores import Floats

PRIOR_WRONG, MODEL_RIGHT, SAME_WRONG = 0.02, 0.7, 0.05
"""Chance that a key is wrong, that a model gives the truth, that it gives this same wrong answer."""
_SURE = 0.95
_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Abilities:
    """What k samples of each problem say of one model (beta-binomial by moments).

    Args:
        mean, variance: of the shares of right samples.
        icc: correlation of two samples of one problem.
        strength: a + b of the beta law, infinite if the problems are equally hard.
        posterior: the share of right samples of each problem, drawn to the mean (n,).
    """

    mean: float
    variance: float
    icc: float
    strength: float
    posterior: Floats


def abilities(right: Floats, counts: Floats) -> Abilities:
    """Return the beta-binomial fit of right samples (n,) of `counts` (n,), at least two problems.

    With one sample each the correlation cannot be known: shares are drawn halfway to the mean.
    """
    shares = right / counts
    mean, variance = float(shares.mean()), float(shares.var(ddof=1))
    total, k = mean * (1 - mean), float(counts.mean())
    if total <= 0:
        return Abilities(mean, variance, 0.0, math.inf, np.full(len(shares), mean))
    icc = 0.5 if k <= 1 else (variance / total - 1 / k) / (1 - 1 / k)
    icc = min(max(icc, 0.0), 1 - 1e-6)
    if icc == 0:
        return Abilities(mean, variance, 0.0, math.inf, np.full(len(shares), mean))
    strength = 1 / icc - 1
    posterior = (mean * strength + right) / (strength + counts)
    return Abilities(mean, variance, icc, strength, posterior)


def useful(fits: Sequence[Abilities]) -> float:
    """Return as how many problems at 50 % these tell two models apart: the sum of 4 p (1 - p).

    p is the mean of both models, so that a problem which one surely solves and the other surely does not is a
    whole one. The two models are those that the problems tell apart best.
    """
    shares = ((left.posterior + right.posterior) / 2 for left, right in itertools.combinations(fits, 2))
    return max(float((4 * p * (1 - p)).sum()) for p in shares)


def undecided(left: Abilities, right: Abilities) -> float:
    """Return the share of problems that cannot tell two models apart: both surely right, or both wrong."""
    both = np.stack([left.posterior, right.posterior])
    return float(((both > _SURE).all(axis=0) | (both < 1 - _SURE).all(axis=0)).mean())


@dataclass(frozen=True, slots=True)
class SignalToNoise:
    """Spread of models over the noise of one: `signal` is (max - min)/mean, `noise` sd/mean with ddof 1."""

    signal: float
    noise: float

    @property
    def ratio(self) -> float | None:
        """Signal over noise, None without noise."""
        return self.signal / self.noise if self.noise > 0 else None


def signal_to_noise(models: Sequence[float], last: Sequence[float]) -> SignalToNoise:
    """Return signal and noise of final scores of models, and of the last checkpoints of one run."""
    scores, steps = np.asarray(models, dtype=float), np.asarray(last, dtype=float)
    return SignalToNoise(
        float(np.ptp(scores) / scores.mean()),
        float(steps.std(ddof=1) / steps.mean()) if len(steps) > 1 else 0.0,
    )


def kendall_tau(left: Sequence[float], right: Sequence[float]) -> float | None:
    """Return Kendall's tau-b, or None if all values of one side are equal."""
    signs = [
        (np.sign(left[i] - left[j]), np.sign(right[i] - right[j]))
        for i, j in itertools.combinations(range(len(left)), 2)
    ]
    a, b = (np.array(side, dtype=float) for side in zip(*signs, strict=True))
    scale = math.sqrt(float((a**2).sum() * (b**2).sum()))
    return float((a * b).sum()) / scale if scale else None


@dataclass(frozen=True, slots=True)
class Decisions:
    """How often other problems of the kind order two models as these do, over all pairs.

    Args:
        accuracy: the share of pairs that keep their order. For equal models it is a half: a coin.
        low, high: its 95 % interval, for each pair by itself and then over all pairs.
        apart: whether any two of the models differ: two-sided p at most 5 % over all pairs (Bonferroni).
    """

    accuracy: float
    low: float
    high: float
    apart: bool


def decision_accuracy(means: Floats, groups: Sequence[str | None] | None = None) -> Decisions:
    """Return the share of pairs of models that keep their order when the problems are drawn again.

    Two models that differ by `true` standard errors have one order in two draws of the problems with the
    chance F(true)^2 + F(-true)^2, F the normal law. The found difference z is `true` and luck: z^2 is more
    than true^2 by 1 on average. It is shrunk by 3, so that equal models, of which some look far apart, have a
    half: 52 % on average (simulated). To resample around the found order counts its luck twice: 74 %.

    Args:
        means: scores by model and problem (models, n).
        groups: the cluster of each problem.
    """
    first, second = np.triu_indices(len(means), 1)
    own = [cluster(row, groups) for row in means]
    totals, sizes = np.stack([one.totals for one in own]), own[0].sizes
    count = len(sizes)
    centers = totals.sum(axis=1) / sizes.sum()
    rest = totals - np.outer(centers, sizes)
    shared = rest @ rest.T * (count / max(count - 1, 1)) / sizes.sum() ** 2
    spread = np.diag(shared)
    errors = np.sqrt(np.maximum(spread[first] + spread[second] - 2 * shared[first, second], 0.0))
    gaps = np.abs(centers[first] - centers[second])
    equal, t = errors <= ROUNDING, np.zeros(len(gaps))
    np.divide(gaps, errors, out=t, where=~equal)
    # Problems that all moved alike have no spread. Their signs are counted.
    tails = np.where(equal & (gaps > ROUNDING), 0.5**count, stdtr(max(count - 1, 1), -t))
    z, reach = -ndtri(np.maximum(tails, SMALLEST_P)), normal_quantile(LEVEL)
    best = int(np.argmin(tails))
    p = sign_flip(totals[first[best]] - totals[second[best]]).p_two_sided
    kept = [
        float(_same_order(true).mean())
        for true in (np.sqrt(np.maximum(z**2 - 3, 0)), np.maximum(z - reach, 0), z + reach)
    ]
    return Decisions(kept[0], kept[1], kept[2], apart=p * len(gaps) <= 1 - LEVEL)


def _same_order(true: Floats) -> Floats:
    """Return the chance that two draws have one sign, of a mean that is `true` standard errors from 0."""
    return np.asarray(ndtr(true) ** 2 + ndtr(-true) ** 2, dtype=np.float64)


def reliability(means: Floats, *, seed: int, halves: int = 200) -> float | None:
    """Return the split-half reliability of a task over models, stepped up to its length (Spearman, Brown).

    Args:
        means: scores by model and problem (models, n).
    """
    rng = np.random.default_rng(seed)
    found = list[float]()
    for _ in range(halves):
        order = rng.permutation(means.shape[1])
        half = means.shape[1] // 2
        left, right = means[:, order[:half]].mean(axis=1), means[:, order[half : 2 * half]].mean(axis=1)
        if left.std() > 0 and right.std() > 0:
            r = float(np.corrcoef(left, right)[0, 1])
            found.append(2 * r / (1 + r) if r > -1 else -1.0)
    return float(np.mean(found)) if found else None


def key_wrong(
    families: int, prior: float = PRIOR_WRONG, right: float = MODEL_RIGHT, same: float = SAME_WRONG
) -> float:
    """Return the chance that a key is wrong, if so many unrelated models agree on one other answer."""
    wrong = prior * right**families
    return wrong / (wrong + (1 - prior) * same**families)


@dataclass(frozen=True, slots=True)
class ManySamples:
    """Beta laws (r,) of the problems' shares of right samples, next to problems that are never solved.

    Args:
        never: share of problems that are never solved.
        a, b: of the beta law of the others.
    """

    never: Floats
    a: Floats
    b: Floats

    def pass_at(self, k: float | Floats) -> Floats:
        """Return the chance that at least one of k samples of a problem is right."""
        missed = np.exp(betaln(self.a, self.b + k) - betaln(self.a, self.b))
        return np.asarray((1 - self.never) * (1 - missed), dtype=np.float64)


def many_samples(moments: Floats) -> ManySamples:
    """Return the law behind the samples of problems, for each row of `moments` (r, 5), see `moments_of`.

    Problems without a right sample beyond those that the beta law explains are never solved.
    """
    n, samples, shares, squares, zeros = moments.T
    k, share, square, zero = samples / n, shares / n, squares / n, zeros / n
    never = np.zeros(len(n))
    for _ in range(_ROUNDS):
        others = 1 - never
        mean = np.clip(share / others, 1e-9, 1 - 1e-9)
        within = (square / others - mean**2) / (mean * (1 - mean)) - 1 / k
        icc = np.where(k <= 1, 0.5, np.clip(within / np.maximum(1 - 1 / k, 1e-9), 1e-4, 1 - 1e-4))
        strength = 1 / icc - 1
        law = ManySamples(never, mean * strength, (1 - mean) * strength)
        explained = 1 - ManySamples(np.zeros(len(n)), law.a, law.b).pass_at(k)
        never = np.clip((zero - explained) / np.maximum(1 - explained, 1e-9), 0.0, 0.99)
    return law


def moments_of(right: Floats, counts: Floats) -> Floats:
    """Return what each problem adds to the moments: itself, samples, share, its square, none right (n, 5)."""
    shares = right / counts
    return np.stack([np.ones(len(right)), counts, shares, shares**2, right == 0], axis=1)


_ROUNDS = 20
MOST_TIMES, MOST_UNSOLVED = 4, 0.3
"""How many times the drawn samples a curve goes on; the share of unsolved problems that hides its tail."""


def beyond(right: Floats, counts: Floats, k: int, *, seed: int) -> tuple[float, float, float] | str:
    """Return pass@k for more samples than were drawn with its 95 % interval, or why it cannot be told."""
    most = MOST_TIMES * float(counts.min())
    if k > most:
        return f"at most {most:.0f} samples, {MOST_TIMES} times those that were drawn"
    unsolved = float((right == 0).mean())
    if unsolved > MOST_UNSOLVED:
        return f"{100 * unsolved:.0f} % of the problems have no right sample: nobody knows their tail"

    def pass_at_k(moments: Floats) -> Floats:
        return many_samples(moments).pass_at(k)

    units = moments_of(right, counts)
    found = resampled_interval(units, pass_at_k, seed=seed, resamples=_RESAMPLES, bounds=(0.0, 1.0))
    return float(pass_at_k(units.sum(axis=0, keepdims=True))[0]), found.low, found.high
