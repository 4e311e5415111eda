"""The exact test of exchange against other laws and against flips of signs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import fisher_exact

from genbench.stats.comparison.exchange_test import exchange_law, flip_law, weighted
from genbench.stats.comparison.gate import gate, pool
from genbench.stats.comparison.paired import Paired, paired
from genbench.stats.comparison.sign_flip_test import sign_flip
from genbench.stats.scores import Floats, as_scores

RNG = np.random.default_rng(5)


def drawn(p: Floats, k: int) -> Floats:
    return (RNG.random((len(p), k)) < p[:, None]).astype(np.float64)


@pytest.mark.parametrize(("right", "wrong", "k"), [(30, 34, 6), (2, 62, 4), (60, 4, 1)])
@pytest.mark.parametrize("found", [0, 1])
def test_one_problem_is_the_exact_test_of_fisher(right: int, wrong: int, k: int, found: int) -> None:
    base, tuned = [[1.0] * right + [0.0] * wrong], [[1.0] * found + [0.0] * (k - found)]
    law = exchange_law(as_scores(base), as_scores(tuned))
    table = [[found, k - found], [right, wrong]]
    assert law is not None
    assert law.p_regression == pytest.approx(fisher_exact(table, alternative="less").pvalue)
    assert law.p_improvement == pytest.approx(fisher_exact(table, alternative="greater").pvalue)


@pytest.mark.parametrize(("n", "m", "k", "mean"), [(60, 64, 4, 0.3), (40, 16, 1, 0.05), (30, 5, 12, 0.9)])
def test_the_law_is_that_of_drawn_exchanges(n: int, m: int, k: int, mean: float) -> None:
    p = RNG.beta(3 * mean, 3 * (1 - mean), size=n)
    base, tuned = drawn(p, m), drawn(p, k)
    law = exchange_law(as_scores(base), as_scores(tuned))
    both = (base.sum(axis=1) + tuned.sum(axis=1)).astype(int)
    swapped = RNG.hypergeometric(both, m + k - both, k, size=(20_000, n))
    means = (swapped / k - (both - swapped) / m).mean(axis=1)
    observed = float((tuned.mean(axis=1) - base.mean(axis=1)).mean())
    assert law is not None
    # Right samples weigh up to 10 % more or less, which splits ties.
    low = (means < observed - 1e-9).mean(), (means <= observed + 1e-9).mean()
    assert low[0] - 0.04 <= law.p_regression <= low[1] + 0.04


def test_it_is_asked_only_of_other_numbers_of_right_or_wrong_samples() -> None:
    assert exchange_law(as_scores([[1.0, 0.0]]), as_scores([[0.0, 0.0]])) is None
    assert exchange_law(as_scores([[0.5, 0.0, 1.0]]), as_scores([[0.0]])) is None
    assert paired([[1.0, None]], [[1.0, 0.0]]).law is not None


def test_samples_that_differ_by_problem_are_exchanged_with_their_weights() -> None:
    p = RNG.beta(1, 1, size=60)
    tuned = [drawn(p[row : row + 1], 4 if row % 3 else 16)[0].tolist() for row in range(60)]
    law = exchange_law(as_scores(drawn(p, 64)), as_scores(tuned))
    assert law is not None and math.isclose(law.chances.sum(), 1.0, rel_tol=1e-9)
    assert law.p_regression + law.p_improvement >= 1


def test_flipped_signs_have_the_law_of_their_own_test() -> None:
    differences = RNG.integers(-8, 9, size=80) / 8
    law, flips = flip_law(differences), sign_flip(differences)
    assert law.p_regression == pytest.approx(flips.p_regression)
    assert law.p_improvement == pytest.approx(flips.p_improvement)
    assert weighted([law], [0.3]).p_regression == pytest.approx(flips.p_regression, abs=0.01)


def test_a_few_samples_without_a_rare_right_answer_are_no_drop() -> None:
    base = np.zeros((100, 64))
    base[np.arange(144) % 100, np.arange(144) // 100] = 1
    tuned = np.zeros((100, 1))
    found = paired(base, tuned)
    assert found.clusters is not None and sign_flip(found.clusters.totals).p_regression < 0.001
    # By chance none of 100 is right: (1 - 1/65)^56 (1 - 2/65)^44.
    assert found.p_regression == pytest.approx((64 / 65) ** 56 * (63 / 65) ** 44)
    assert gate({"t": found}).verdict != "REGRESSED"
    assert gate({"t": paired(1 - base, 1 - tuned)}).verdict != "IMPROVED"


def test_the_pool_needs_both_tests_too() -> None:
    def rare() -> Paired:
        p = np.full(100, 0.0225)
        return paired(drawn(p, 64), np.zeros((100, 1)))

    tasks = {"a": rare(), "b": rare(), "c": paired(drawn(np.full(50, 0.5), 4), drawn(np.full(50, 0.5), 4))}
    # Nothing is right in both tasks by chance, and the third has almost no weight.
    chance = math.prod(tasks[name].p_regression or 0.0 for name in ("a", "b"))
    assert pool(tasks).p_regression == pytest.approx(chance, rel=0.3)
    plain = {name: task.model_copy(update={"law": None}) for name, task in tasks.items()}
    assert pool(tasks).p_regression > 100 * pool(plain).p_regression
