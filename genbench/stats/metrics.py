"""Metrics of one problem: the mean of its scores, and exact pass@k, pass^k and maj@k of k draws."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np

from genbench.errors import InputError
from genbench.stats.scores import Floats, Scores

AnswersLike = Sequence[Sequence[str | None]]
"""Extracted answers, one sequence per problem, in the shape of the scores. None: nothing was extracted."""
SCORED_METRICS = (
    "acc_norm",
    "acc_char",
    "acc_token",
    "acc_byte",
    "acc_pmi",
    "greedy",
    "byte_probability",
)
"""Headlines of tasks that score given texts. Each is the mean of the scores, as `acc` is."""


# avg@8 or avg@k; pass@8: any of 8 is right; pass^8: all of 8 are right; maj@8: the most frequent of 8.
_METRIC = re.compile(r"(?P<kind>avg@|pass@|pass\^|maj@)(?P<k>k|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Metric:
    """A parsed metric: `acc`, or one of avg@k, pass@k, pass^k, maj@k. `k` None means all samples drawn."""

    kind: str
    k: int | None = None
    name: str = "acc"
    """The name of a metric of kind `acc`."""

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of the scores, as opposed to a metric of k-subsets."""
        return self.kind in {"acc", "avg@"}


def parse_metric(name: str) -> Metric:
    """Return the metric with this name.

    Raises:
        InputError: there is no such metric.
    """
    if name == "acc":
        return Metric("acc")
    if name in SCORED_METRICS:
        return Metric("acc", name=name)
    found = _METRIC.fullmatch(name)
    if found is None:
        raise InputError(f"unknown metric '{name}'; valid: acc, avg@k, pass@k, pass^k, maj@k (k or a number)")
    return Metric(found["kind"], None if found["k"] == "k" else int(found["k"]))


def per_problem(metric: Metric, scores: Scores, answers: AnswersLike | None, draws: int) -> Floats:
    """Return the metric (n,) of each problem over its scored samples, NaN if there are too few."""
    if metric.is_mean:
        return scores.means
    values = np.full(scores.n, np.nan)
    enough = np.flatnonzero(scores.scored >= draws)
    if metric.kind == "maj@":
        assert answers is not None
        for i in enough:
            kept = ~np.isnan(scores.values[i])
            votes = [answers[i][j] for j in np.flatnonzero(kept)]
            values[i] = maj_at_k(votes, [float(score) for score in scores.values[i][kept]], draws)
        return values
    share = pass_at_k if metric.kind == "pass@" else pass_hat_k
    counts = np.stack([scores.scored, (scores.values == 1).sum(axis=1)], axis=1)[enough]
    kinds, places = np.unique(counts, axis=0, return_inverse=True)  # few, whatever the number of problems
    shares = np.array([share(int(n), int(right), draws) for n, right in kinds])
    values[enough] = shares[places.reshape(-1)]
    return values


@dataclass(frozen=True, slots=True)
class ProblemValues:
    """The metric of each problem (n,), with its bounds if every excluded sample was wrong or right.

    `values` is NaN for a problem with too few scored samples, unless both bounds agree: pass@8 with seven
    scored samples of eight is 1 as soon as one of them is right.
    """

    values: Floats
    low: Floats
    high: Floats


def problem_values(metric: Metric, scores: Scores, answers: AnswersLike | None, draws: int) -> ProblemValues:
    """Return the metric of each problem with its bounds. Without excluded samples all three are equal."""
    values = per_problem(metric, scores, answers, draws)
    if scores.excluded == 0:
        return ProblemValues(values, values, values)
    low = per_problem(metric, scores.filled(0.0), _voting(answers, scores, right=False), draws)
    high = per_problem(metric, scores.filled(1.0), _voting(answers, scores, right=True), draws)
    return ProblemValues(np.where(np.isnan(values) & (low == high), low, values), low, high)


def _voting(answers: AnswersLike | None, scores: Scores, *, right: bool) -> AnswersLike | None:
    """Return answers in which all excluded samples vote for the strongest right (or wrong) answer."""
    if answers is None:
        return None
    voted: list[list[str | None]] = []
    for row, line, drawn in zip(answers, scores.values, scores.drawn, strict=True):
        same = [
            a for a, s in zip(row, line[:drawn], strict=True) if a is not None and (s > 0) == right and s >= 0
        ]
        # Without a scored sample of that kind they agree on an answer of their own.
        leader = max(sorted(set(same)), key=same.count, default="\0excluded")
        voted.append([leader if np.isnan(s) else a for a, s in zip(row, line[:drawn], strict=True)])
    return voted


def check_shapes(
    scores: Scores, metric: Metric, groups: Sequence[str | None] | None, answers: AnswersLike | None
) -> None:
    """Raise InputError if groups or answers do not fit the scores, or if needed answers are missing."""
    if groups is not None and len(groups) != scores.n:
        raise InputError(f"{len(groups)} groups for {scores.n} problems: one is needed for each")
    if metric.kind == "maj@":
        if answers is None:
            raise InputError("maj@k counts votes: it needs the extracted answers in addition to the scores")
        if [len(row) for row in answers] != scores.drawn.tolist():
            raise InputError("answers and scores differ in shape: one answer (or None) is needed per sample")


def undetermined(metric: Metric, values: Floats, draws: int) -> str:
    """Say which problems have no value (NaN in `values` (n,)), and why."""
    unknown = np.flatnonzero(np.isnan(values))
    what = "no scored sample" if metric.is_mean else f"fewer than {draws} scored samples"
    return f"{len(unknown)} of {len(values)} problems have {what} (the first at position {int(unknown[0])})"


def pass_at_k(n: int, right: int, k: int) -> float:
    """Return the chance that k of n samples, drawn without replacement, include a right one.

    The value is 1 - C(n-c, k)/C(n, k) with c right samples.

    It is unbiased for k independent samples. Source: Chen et al. 2021, arXiv 2107.03374.

    Raises:
        InputError: k is not in 1..n.
    """
    _check_k(n, k)
    return float(1 - Fraction(comb(n - right, k), comb(n, k)))


def pass_hat_k(n: int, right: int, k: int) -> float:
    """Return the chance that k of n samples are all right: C(c, k)/C(n, k) with c right samples.

    Source: Yao et al. 2024, arXiv 2406.12045.

    Raises:
        InputError: k is not in 1..n.
    """
    _check_k(n, k)
    return float(Fraction(comb(right, k), comb(n, k)))


def maj_at_k(answers: Sequence[str | None], scores: Sequence[float], k: int) -> float:
    """Return the expected score of the most frequent answer among k of n samples, over all k-subsets.

    Ties share the credit. A null answer does not vote, and a subset without votes scores 0. Equal answers
    should have equal scores. If a verifier gave them several scores, their mean counts.

    Raises:
        InputError: k is not in 1..n.
    """
    n = len(answers)
    _check_k(n, k)
    votes = Counter(answer for answer in answers if answer is not None)
    credit: dict[str, float] = dict.fromkeys(votes, 0.0)
    for answer, score in zip(answers, scores, strict=True):
        if answer is not None:
            credit[answer] += score
    nulls = n - votes.total()
    value = 0.0
    for answer, count in votes.items():
        if credit[answer] > 0:
            others = list((votes - Counter({answer: count})).values())
            value += credit[answer] / count * float(_share_won(count, others, nulls, k))
    return value


def _share_won(count: int, others: Sequence[int], nulls: int, k: int) -> Fraction:
    """Return the expected share of the win of an answer with `count` votes, over all k-subsets."""
    won = Fraction(0)
    least = max(1, k - sum(others) - nulls)
    for v in range(least, min(count, k) + 1):
        for ties, ways in enumerate(_ways_at_most(v, others, nulls, k - v)):
            won += Fraction(comb(count, v) * ways, ties + 1)
    return won / comb(count + sum(others) + nulls, k)


def _ways_at_most(v: int, others: Sequence[int], nulls: int, size: int) -> list[int]:
    """Count the ways to draw `size` samples so that no other answer has over v votes.

    The list is indexed by the number of other answers with exactly v votes. Answers with fewer than v votes
    in all can neither win nor tie, so they are drawn freely, like nulls.
    """
    free = nulls + sum(other for other in others if other < v)
    table = [[comb(free, drawn) for drawn in range(size + 1)]]  # [ties][samples drawn] -> ways
    for other in (other for other in others if other >= v):
        below = [comb(other, votes) for votes in range(v)]
        longer = [_times(row, below, size) for row in table] + [[0] * (size + 1)]
        for row, target in zip(table, longer[1:], strict=True):
            for drawn in range(size + 1 - v):
                target[drawn + v] += row[drawn] * comb(other, v)
        table = longer[: size // v + 1]
    return [row[size] for row in table]


def _times(row: Sequence[int], factor: Sequence[int], size: int) -> list[int]:
    """Multiply two polynomials up to the power `size`."""
    return [sum(factor[j] * row[i - j] for j in range(min(i + 1, len(factor)))) for i in range(size + 1)]


def _check_k(n: int, k: int) -> None:
    """Raise InputError if k is not in 1..n."""
    if not 1 <= k <= n:
        raise InputError(f"a metric of k = {k} draws needs 1 <= k <= {n}, the samples that the problem has")
