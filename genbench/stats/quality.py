"""Whether a benchmark can tell models apart: difficulty, signal and noise, order of models, wrong references.

Sources: signal and noise arXiv 2508.13144; Kendall 1945 for tau-b; Spearman 1910 and Brown 1910 for halves.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln

from genbench.stats.scores import Floats

PRIOR_WRONG, MODEL_RIGHT, SAME_WRONG = 0.02, 0.7, 0.05
"""Chance that a key is wrong, that a model gives the truth, that it gives this same wrong answer."""
_SURE = 0.95


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

    @property
    def useful(self) -> float:
        """As how many problems at 50 % these tell models apart: the sum of 4 p (1 - p)."""
        return float((4 * self.posterior * (1 - self.posterior)).sum())


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
    """How often other problems of the kind give two models the order of these, over all pairs.

    Of 95 % of the redraws, `low` to `high` of the pairs keep it.
    """

    accuracy: float
    low: float
    high: float


def decision_accuracy(means: Floats, *, seed: int, resamples: int = 2000) -> Decisions:
    """Return the share of pairs of models that keep their order when the problems are drawn again.

    Args:
        means: scores by model and problem (models, n), resampled together for all models.
    """
    rng = np.random.default_rng(seed)
    n = means.shape[1]
    counts = rng.multinomial(n, np.full(n, 1 / n), size=resamples)
    drawn = counts @ means.T / n
    whole = means.mean(axis=1)
    pairs = np.array(list(itertools.combinations(range(len(means)), 2)))
    signs = np.sign(whole[pairs[:, 0]] - whole[pairs[:, 1]])
    kept = np.sign(drawn[:, pairs[:, 0]] - drawn[:, pairs[:, 1]]) == signs
    each = kept.mean(axis=1)
    accuracy = float(each.mean())
    low, high = (float(q) for q in np.quantile(each, [0.025, 0.975]))
    return Decisions(accuracy, min(low, accuracy), max(high, accuracy))


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
    """A beta law of the problems' shares of right samples, next to problems that are never solved.

    Args:
        never: share of problems that are never solved.
        a, b: of the beta law of the others.
    """

    never: float
    a: float
    b: float

    def pass_at(self, k: int) -> float:
        """Return the chance that at least one of k samples of a problem is right."""
        missed = math.exp(betaln(self.a, self.b + k) - betaln(self.a, self.b))
        return float((1 - self.never) * (1 - missed))


def many_samples(right: Floats, counts: Floats) -> ManySamples:
    """Return the law behind right samples (n,) of `counts` (n,), by moments.

    Problems without a right sample beyond those that the beta law explains are never solved.
    """
    shares, k = right / counts, float(counts.mean())
    zero = float((right == 0).mean())
    never = 0.0
    law = ManySamples(0.0, 1.0, 1.0)
    for _ in range(_ROUNDS):
        others = 1 - never
        mean = min(max(float(shares.mean()) / others, 1e-9), 1 - 1e-9)
        total = mean * (1 - mean)
        variance = float((shares**2).mean()) / others - mean**2
        icc = 0.5 if k <= 1 else min(max((variance / total - 1 / k) / (1 - 1 / k), 1e-4), 1 - 1e-4)
        strength = 1 / icc - 1
        law = ManySamples(never, mean * strength, (1 - mean) * strength)
        explained = math.exp(betaln(law.a, law.b + k) - betaln(law.a, law.b))
        never = min(max((zero - explained) / max(1 - explained, 1e-9), 0.0), 0.99)
    return law


_ROUNDS = 20
MOST_TIMES, MOST_UNSOLVED = 4, 0.3
"""How many times the drawn samples a curve goes on; the share of unsolved problems that hides its tail."""


def beyond(
    right: Floats, counts: Floats, k: int, *, seed: int, resamples: int = 300
) -> tuple[float, float, float] | str:
    """Return pass@k for more samples than were drawn with its 95 % interval, or why it cannot be told.

    The interval resamples problems.
    """
    most = MOST_TIMES * float(counts.min())
    if k > most:
        return f"at most {most:.0f} samples, {MOST_TIMES} times those that were drawn"
    unsolved = float((right == 0).mean())
    if unsolved > MOST_UNSOLVED:
        return f"{100 * unsolved:.0f} % of the problems have no right sample: nobody knows their tail"
    rng = np.random.default_rng(seed)
    drawn = list[float]()
    for _ in range(resamples):
        rows = rng.integers(len(right), size=len(right))
        drawn.append(many_samples(right[rows], counts[rows]).pass_at(k))
    low, high = (float(q) for q in np.quantile(drawn, [0.025, 0.975]))
    return many_samples(right, counts).pass_at(k), low, high
