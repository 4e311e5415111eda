"""Means and ratios of sums with intervals, alone and paired, against closed forms and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from genbench.stats.ratios import Ratio, mean_bounds, mean_difference, ratio_bounds, ratio_difference

RNG = np.random.default_rng(5)


def test_the_interval_of_a_mean_is_that_of_the_t_test() -> None:
    values = RNG.normal(3.0, 2.0, 40)
    found = mean_bounds(values, None)
    wanted = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.ci == pytest.approx((wanted.low, wanted.high))
    assert mean_bounds(values[:1], None).ci is None


def test_a_paired_difference_is_the_paired_t_test() -> None:
    base = RNG.normal(0, 1, 30)
    tuned = base + RNG.normal(0.2, 0.3, 30)
    found = mean_difference(base, tuned, None)
    assert found.p_two_sided == pytest.approx(stats.ttest_rel(tuned, base).pvalue)
    assert mean_difference(base, base, None).p_two_sided == 1.0


def test_a_ratio_of_sums_is_no_mean_of_ratios() -> None:
    ratio = Ratio(np.array([1.0, 30.0]), np.array([1.0, 10.0]))
    found = ratio_bounds(ratio, None, math.exp, seed=1)
    assert found.value == pytest.approx(math.exp(31 / 11))


@pytest.mark.slow
def test_the_interval_of_a_ratio_covers_at_its_level() -> None:
    hits = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        units = rng.integers(50, 2000, 30).astype(float)
        nats = units * 2.0 + rng.normal(0, 1, 30) * np.sqrt(units) * 5
        found = ratio_bounds(Ratio(nats, units), None, float, seed=seed)
        assert found.ci is not None
        hits += found.ci[0] <= 2.0 <= found.ci[1]
    assert 88 <= hits <= 100


def test_a_shift_of_both_runs_is_found_where_single_intervals_overlap() -> None:
    units = RNG.integers(100, 1000, 40).astype(float)
    nats = units * RNG.uniform(1.0, 3.0, 40)
    better = Ratio(nats * 0.99, units)
    found = ratio_difference(Ratio(nats, units), better, None, float, seed=3)
    assert found.ci is not None and found.ci[1] < 0
    assert found.p_two_sided is not None and found.p_two_sided < 0.01
    same = ratio_difference(better, better, None, float, seed=3)
    assert (same.difference, same.p_two_sided) == (0.0, 1.0)


def test_documents_of_one_group_are_resampled_together() -> None:
    ratio = Ratio(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    assert ratio_bounds(ratio, ["a", "a", "a"], float, seed=1).ci is None
