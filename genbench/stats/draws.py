"""Exact metrics of k draws from the n samples of one problem: pass@k, pass^k and maj@k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import comb

from genbench.errors import InputError


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
