"""The lower bound by Wilson limits of gain and loss, against recorded values and simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from genbench.stats.comparison.differences import lower_bound, mover_lower
from genbench.stats.resample import Clusters, cluster
from genbench.stats.scores import Floats


def whole(gained: int, lost: int, n: int) -> Floats:
    return np.concatenate([np.ones(gained), -np.ones(lost), np.zeros(n - gained - lost)])


GOLDEN = [
    (whole(0, 3, 198), 0.05, -0.037530),
    (whole(0, 0, 198), 0.05, -0.013606),
    (whole(4, 6, 541), 0.05, -0.014759),
    (np.array([((5 * i) % 17 - 8) / 64 for i in range(200)]), 0.05, -0.009233),
    (np.array([((5 * i) % 17 - 8) / 64 for i in range(200)]), 0.01, -0.013042),
    (np.concatenate([[-0.5], np.zeros(99)]), 0.05, -0.022428),
    (np.full(100, 0.25), 0.05, 0.180110),
]
"""Differences, error, bound: computed apart from this code, by an audit of the gate."""


@pytest.mark.parametrize(("differences", "alpha", "bound"), GOLDEN)
def test_bounds_are_the_recorded_ones(differences: Floats, alpha: float, bound: float) -> None:
    assert mover_lower(cluster(differences), alpha) == pytest.approx(bound, abs=2e-6)


def test_one_cluster_bounds_nothing() -> None:
    assert mover_lower(Clusters(np.array([3.0]), np.array([10.0])), 0.05) == -1.0


def test_problems_that_always_move_together_count_as_one() -> None:
    differences = np.repeat(whole(2, 4, 40), 5)
    groups = [str(place // 5) for place in range(200)]
    apart, together = mover_lower(cluster(differences), 0.05), mover_lower(cluster(differences, groups), 0.05)
    assert together < apart
    assert together == pytest.approx(mover_lower(cluster(whole(2, 4, 40)), 0.05), abs=1e-12)


def test_a_smaller_error_gives_a_lower_bound() -> None:
    clusters = cluster(whole(6, 8, 198))
    bounds = [mover_lower(clusters, alpha) for alpha in (0.1, 0.05, 0.025, 0.005)]
    assert bounds == sorted(bounds, reverse=True)
    assert all(bound < clusters.mean for bound in bounds)


@pytest.mark.slow
@pytest.mark.parametrize(("problems", "bar"), [(100, 0.07), (198, 0.065), (500, 0.06)])
def test_collapsed_problems_pass_as_no_loss_no_more_often_than_promised(problems: int, bar: float) -> None:
    """The true loss is the margin: 3 % of the problems went from always to never right."""
    rng = np.random.default_rng(7)
    margin, granted, nights = 0.03, 0, 3000
    for lost in rng.binomial(problems, margin, size=nights):
        granted += mover_lower(cluster(whole(0, int(lost), problems)), 0.05) > -margin
    assert granted / nights <= bar


@pytest.mark.slow
def test_an_unchanged_model_is_passed_about_as_often_as_by_a_t_bound() -> None:
    rng = np.random.default_rng(8)
    quantile = float(scipy.stats.t.ppf(0.95, 197))
    by_mover, by_t = 0, 0
    for _ in range(500):
        rates = rng.beta(2, 1, size=198)
        clusters = cluster(rng.binomial(8, rates) / 8 - rng.binomial(64, rates) / 64)
        by_mover += mover_lower(clusters, 0.05) > -0.03
        by_t += clusters.mean - quantile * (clusters.se or 0.0) > -0.03
    assert by_t / 500 > 0.7
    assert by_mover >= 0.96 * by_t


@pytest.mark.parametrize("lost", [1, 3, 12])
def test_losses_of_one_size_have_no_further_skewness(lost: int) -> None:
    clusters = cluster(whole(0, lost, 198))
    assert mover_lower(clusters, 0.05, fit_skewness=True) == pytest.approx(
        mover_lower(clusters, 0.05), abs=1e-12
    )


@pytest.mark.parametrize("alpha", [0.05, 0.025, 0.01])
def test_skewness_of_the_losses_never_raises_the_bound(alpha: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        rates = rng.beta(1, 1, size=120)
        clusters = cluster(rng.binomial(4, rates) / 4 - rng.binomial(16, rates) / 16)
        assert mover_lower(clusters, alpha, fit_skewness=True) <= mover_lower(clusters, alpha)


def test_few_collapses_among_small_losses_lower_the_bound() -> None:
    noise = np.tile([-0.1, 0.1], 90)
    differences = np.concatenate([noise, -np.ones(4), np.zeros(14)])
    plain = mover_lower(cluster(differences), 0.05)
    assert mover_lower(cluster(differences), 0.05, fit_skewness=True) < plain - 0.001


def test_groups_of_one_size_have_the_bound_of_their_means() -> None:
    differences = np.concatenate([np.tile([-0.25, 0.25], 40), -np.ones(3), np.zeros(17)])
    groups = [str(place // 5) for place in range(500)]
    apart = mover_lower(cluster(differences), 0.05, fit_skewness=True)
    repeated = mover_lower(cluster(np.repeat(differences, 5), groups), 0.05, fit_skewness=True)
    assert repeated == pytest.approx(apart, abs=1e-12)


def nights(rates: Floats, k_base: int, k_tuned: int, lost: float, rng: np.random.Generator) -> list[Floats]:
    """Return differences of nights (nights, n) in which the share `lost` of all problems collapsed."""
    tuned = np.where(rng.random(rates.shape) < lost, 0.0, rates)
    return list(rng.binomial(k_tuned, tuned) / k_tuned - rng.binomial(k_base, rates) / k_base)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problems", "k_tuned", "beta"),
    [(130, 8, (3.0, 0.19)), (198, 8, (3.0, 0.19)), (198, 8, (4.0, 0.08)), (198, 8, (1.0, 0.22))],
)
def test_collapse_among_noisy_problems_passes_no_more_often_than_promised(
    problems: int, k_tuned: int, beta: tuple[float, float]
) -> None:
    """The true loss is the margin. The bound without skewness passed up to 7.0 % of such nights."""
    rng, margin = np.random.default_rng(11), 0.03
    rates = rng.beta(*beta, size=(1500, problems))
    found = nights(rates, 64, k_tuned, margin / (beta[0] / sum(beta)), rng)
    granted = sum(lower_bound(cluster(differences)) > -margin for differences in found)
    assert granted / len(found) <= 0.063


@pytest.mark.slow
def test_an_unchanged_model_is_passed_about_as_often_with_skewness() -> None:
    rng = np.random.default_rng(12)
    found = nights(rng.beta(1.0, 0.22, size=(800, 198)), 64, 8, 0.0, rng)
    plain = sum(mover_lower(cluster(differences), 0.05) > -0.03 for differences in found)
    skewed = sum(lower_bound(cluster(differences)) > -0.03 for differences in found)
    assert plain / len(found) > 0.97
    assert skewed >= plain - 8
