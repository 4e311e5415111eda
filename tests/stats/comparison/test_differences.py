"""Intervals of a mean difference held to scipy, to exact bounds and to closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from genbench.stats.comparison.differences import (
    difference_interval,
    lower_bound,
    mover_lower,
    rerun_difference,
    smallest_detectable_drop,
    z_sum,
)
from genbench.stats.intervals import unseen_share
from genbench.stats.resample import cluster
from genbench.stats.scores import as_scores

RNG = np.random.default_rng(7)
SPREAD = RNG.normal(-0.1, 0.3, 40).clip(-1, 1)


def test_the_interval_is_the_paired_t_interval() -> None:
    found = difference_interval(cluster(SPREAD))
    theirs = scipy.stats.ttest_1samp(SPREAD, 0).confidence_interval(0.95)
    assert found.bounds == pytest.approx((theirs.low, theirs.high))
    assert found.method == "paired t (40 differences)"


def test_the_lower_bound_is_close_to_the_one_sided_t_bound_and_not_above_it() -> None:
    theirs = scipy.stats.ttest_1samp(SPREAD, 0, alternative="greater").confidence_interval(0.95)
    assert lower_bound(cluster(SPREAD)) == mover_lower(cluster(SPREAD), 0.05, fit_skewness=True)
    assert theirs.low - 0.005 < lower_bound(cluster(SPREAD)) <= theirs.low


def test_without_a_loss_the_lower_bound_allows_unseen_losses() -> None:
    """200 gains of 0.5 or nothing: t alone would exclude any loss."""
    gains = np.array([0.5, 0.0] * 100)
    assert cluster(gains).mean - 2 * known_se(gains) > 0
    assert lower_bound(cluster(gains)) == pytest.approx(-unseen_share(200, 0.05))


def known_se(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def test_equal_differences_have_an_exact_interval_around_them() -> None:
    found = difference_interval(cluster(np.zeros(100)))
    share = 1 - 0.025 ** (1 / 100)
    assert found.bounds == pytest.approx((-share, share))
    assert "all 100 differences are equal" in found.method


def test_equal_losses_can_only_be_smaller_elsewhere() -> None:
    found = difference_interval(cluster(np.full(50, -1.0)))
    assert found.low == -1.0
    assert -1.0 < found.high < -0.8


def test_one_cluster_bounds_nothing() -> None:
    clusters = cluster(np.array([0.2, 0.4]), ["g", "g"])
    assert difference_interval(clusters).bounds == (-1.0, 1.0)
    assert lower_bound(clusters) == -1.0
    assert smallest_detectable_drop(clusters) is None


@pytest.mark.slow
def test_the_detectable_drop_is_found_in_four_of_five_simulated_comparisons() -> None:
    rng = np.random.default_rng(11)
    n, spread = 200, 0.4
    drop = z_sum() * spread / math.sqrt(n)
    found = [
        scipy.stats.ttest_1samp(rng.normal(-drop, spread, n), 0, alternative="less").pvalue < 0.05
        for _ in range(2000)
    ]
    assert np.mean(found) == pytest.approx(0.8, abs=0.03)


def test_the_detectable_drop_is_z_standard_errors() -> None:
    assert smallest_detectable_drop(cluster(SPREAD)) == pytest.approx(z_sum() * known_se(SPREAD))
    assert z_sum() == pytest.approx(scipy.stats.norm.ppf(0.95) + scipy.stats.norm.ppf(0.8))


def test_without_spread_the_detectable_drop_is_one_of_whole_problems() -> None:
    drop = smallest_detectable_drop(cluster(np.zeros(400)))
    # n d losses of whole problems have the standard error sqrt(d / n).
    assert drop is not None
    assert drop == pytest.approx(z_sum() * math.sqrt(drop / 400))


def test_shared_seeds_narrow_the_rerun_interval() -> None:
    base = RNG.integers(0, 2, (60, 8)).astype(float)
    tuned = base.copy()
    tuned[:, 0] = 1.0
    apart = rerun_difference(as_scores(base), as_scores(tuned), shared_seeds=False)
    shared = rerun_difference(as_scores(base), as_scores(tuned), shared_seeds=True)
    assert apart is not None and shared is not None
    assert shared.high - shared.low < (apart.high - apart.low) / 2
    assert "shared seeds" in shared.method


def test_independent_runs_add_their_variances() -> None:
    base, tuned = (as_scores(RNG.integers(0, 2, (50, 4)).astype(float)) for _ in range(2))
    found = rerun_difference(base, tuned, shared_seeds=False)
    assert found is not None
    variance = sum(float((scores.variances / 4).sum()) / 50**2 for scores in (base, tuned))
    half = scipy.stats.norm.ppf(0.975) * math.sqrt(variance)
    assert found.high - found.low == pytest.approx(2 * half)


def test_single_samples_have_no_rerun_interval() -> None:
    scores = as_scores([[1.0], [0.0]])
    assert rerun_difference(scores, scores, shared_seeds=True) is None
    assert rerun_difference(scores, scores, shared_seeds=False) is None


def test_runs_without_any_noise_are_treated_as_if_one_sample_deviated() -> None:
    still = as_scores([[1.0, 1.0], [0.0, 0.0]])
    found = rerun_difference(still, still, shared_seeds=False)
    assert found is not None
    assert found.high == pytest.approx(scipy.stats.norm.ppf(0.975) / 4)
