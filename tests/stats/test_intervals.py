"""Intervals of a mean held to statsmodels, scipy and closed forms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from genbench.stats.intervals import (
    effective_n,
    expanded_tail,
    problem_interval,
    rerun_interval,
    t_quantile,
    unseen_share,
    wilson,
    wilson_near_edge,
)
from genbench.stats.resample import Clusters, bootstrap_means, cluster, derive_seed
from genbench.stats.scores import Floats, as_scores


def drawn(n: int, k: int, mean: float = 0.5, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    difficulty = rng.beta(mean, 1 - mean, size=(n, 1))
    return (rng.random((n, k)) < difficulty).astype(np.float64)


@given(st.integers(1, 3000), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_agrees_with_statsmodels_and_scipy(n: int, data: st.DataObject, level: float) -> None:
    right = data.draw(st.integers(0, n))
    ours = wilson(right / n, n, level)
    assert ours == pytest.approx(proportion_confint(right, n, alpha=1 - level, method="wilson"), abs=1e-12)
    theirs = scipy.stats.binomtest(right, n).proportion_ci(confidence_level=level, method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@given(st.floats(0, 1), st.floats(0, 1e9))
def test_wilson_holds_the_share_and_stays_in_range(p: float, n: float) -> None:
    low, high = wilson(p, n)
    assert 0 <= low <= p + 1e-12
    assert p - 1e-12 <= high <= 1


def test_wilson_on_nothing_is_everything() -> None:
    assert wilson(0.3, 0) == pytest.approx((0, 1))
    assert wilson(0.3, math.inf) == (0.3, 0.3)


def test_standard_error_is_the_clustered_one_of_the_rows_regressed_on_a_constant() -> None:
    scores = drawn(40, 5)
    clusters = cluster(scores.mean(axis=1))
    fit = sm.OLS(scores.ravel(), np.ones(200)).fit(
        cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(40), 5)}
    )
    assert clusters.se == pytest.approx(fit.bse[0], rel=1e-12)
    assert clusters.se == pytest.approx(scipy.stats.sem(scores.mean(axis=1)), rel=1e-12)


def test_standard_error_over_groups_of_unequal_size_agrees_with_statsmodels() -> None:
    values = drawn(50, 4).mean(axis=1)
    groups = [f"passage {i // 4 if i < 20 else 5 + i // 7}" for i in range(50)]
    fit = sm.OLS(values, np.ones(50)).fit(
        cov_type="cluster", cov_kwds={"groups": np.unique(groups, return_inverse=True)[1]}
    )
    assert cluster(values, groups).se == pytest.approx(fit.bse[0], rel=1e-12)


def test_problems_without_a_group_are_clusters_of_their_own() -> None:
    clusters = cluster(np.array([1.0, 0.0, 1.0, 0.5]), ["a", None, "a", None])
    assert clusters.totals.tolist() == [2.0, 0.0, 0.5]
    assert clusters.sizes.tolist() == [2, 1, 1]
    assert clusters.mean == 0.625


def test_equal_scores_have_no_standard_error_of_rounding() -> None:
    assert cluster(np.full(7, 0.1)).se == 0.0
    assert cluster(np.full(7, 0.1), ["a", "a", "a", "b", "b", "c", "d"]).se == 0.0


def test_tails_are_expanded_to_the_width_of_t() -> None:
    tail = scipy.stats.norm.cdf(-scipy.stats.t.ppf(0.975, 29) * math.sqrt(30 / 29))
    assert expanded_tail(30) == pytest.approx(tail, rel=1e-12)
    assert t_quantile(0.95, 30) == pytest.approx(scipy.stats.t.ppf(0.975, 29), rel=1e-12)
    assert expanded_tail(100_000) == pytest.approx(0.025, rel=1e-3)
    assert expanded_tail(2) == pytest.approx(0.0, abs=1e-9)


def test_bootstrap_interval_agrees_with_scipy_at_the_same_tails() -> None:
    values = drawn(60, 8).mean(axis=1)
    ours = problem_interval(values, seed=1, draws=8, resamples=50_000)
    theirs = scipy.stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=1 - 2 * expanded_tail(60),
        n_resamples=50_000,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    assert ours.method.startswith("cluster bootstrap (expanded percentile, 50,000 resamples, 60 problems)")
    assert ours.bounds == pytest.approx((theirs.low, theirs.high), abs=0.003)


def all_samples(values: Sequence[float]) -> list[float]:
    """Every mean that resampling can give, each as often as it is likely."""
    grid = np.array(np.meshgrid(*[values] * len(values))).reshape(len(values), -1)
    return [float(mean) for mean in grid.mean(axis=0)]


def test_drawing_indices_and_drawing_counts_follow_the_same_law() -> None:
    values = np.array([0.0, 0.25, 0.5, 1.0, 1.0])
    exact = all_samples(list(values))
    gathered = bootstrap_means(Clusters(values, np.ones(5)), seed=3, resamples=40_000)
    for q in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert (gathered <= np.quantile(exact, q)).mean() == pytest.approx(
            (np.asarray(exact) <= np.quantile(exact, q)).mean(), abs=0.01
        )
    many = np.repeat([0.0, 1.0], [150, 50])  # two distinct values in 200: drawn as counts
    counted = bootstrap_means(Clusters(many, np.ones(200)), seed=3, resamples=40_000) * 200
    assert counted.mean() == pytest.approx(50, abs=0.1)
    assert counted.var() == pytest.approx(scipy.stats.binom.var(200, 0.25), rel=0.03)


def test_groups_are_resampled_whole() -> None:
    values = np.repeat(np.arange(20) % 2, 5).astype(np.float64)
    groups = [str(i // 5) for i in range(100)]
    alone = problem_interval(values + 0.0, seed=1)
    together = problem_interval(values + 0.0, seed=1, groups=groups)
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert "20 groups" in together.method


def test_same_seed_gives_the_same_bounds_and_another_seed_others() -> None:
    values = drawn(40, 16).mean(axis=1)
    bounds = [problem_interval(values, seed=seed, draws=16).bounds for seed in (1, 1, 2)]
    assert bounds[0] == bounds[1]
    assert bounds[0] != bounds[2]


def test_groups_of_unequal_size_keep_the_mean_over_problems() -> None:
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 9, size=40)
    clusters = Clusters(rng.binomial(sizes, 0.6).astype(np.float64), sizes.astype(np.float64))
    means = bootstrap_means(clusters, seed=3, resamples=20_000)
    assert clusters.se is not None
    assert means.mean() == pytest.approx(clusters.mean, abs=0.1 * clusters.se)
    assert means.std() == pytest.approx(clusters.se * math.sqrt(39 / 40), rel=0.05)
    assert means.max() <= 1


@pytest.mark.parametrize(("mean", "word"), [(1.0, "all right"), (0.0, "all wrong")])
def test_all_right_and_all_wrong_take_wilson_and_say_so(mean: float, word: str) -> None:
    interval = problem_interval(np.full(30, mean), seed=0, draws=64)
    assert interval.method.startswith("Wilson on effective n")
    assert word in interval.method
    assert interval.high - interval.low == pytest.approx(0.095, abs=0.001)  # AIME 30 x 64: [90.5, 100]
    assert mean in interval.bounds


def test_effective_n_is_floored_by_correlated_samples_and_shrunk_for_few_problems() -> None:
    shrink = (scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, 29)) ** 2
    assert effective_n(1.0, cluster(np.ones(30)), 64) == pytest.approx(30 * 64 / (1 + 63 * 0.75) * shrink)
    values = np.repeat([0.0, 1.0], 15)
    spread = 0.25 / cluster(values).se ** 2  # type: ignore[operator]
    assert effective_n(0.5, cluster(values), 64) == pytest.approx(spread * shrink)


def test_many_problems_keep_the_lower_floor_of_correlation() -> None:
    shrink = (scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, 197)) ** 2
    assert effective_n(1.0, cluster(np.ones(198)), 8) == pytest.approx(198 * 8 / (1 + 7 / 2) * shrink)


def test_fractional_scores_near_the_edge_take_wilson_too() -> None:
    interval = problem_interval(np.array([1.0] * 29 + [0.9]), seed=0)
    assert interval.method.startswith("Wilson on effective n")
    assert interval.low < 0.9  # a bootstrap of these thirty values ends at 99.0


def test_fractional_scores_near_one_are_covered() -> None:
    """A hundred problems with four answers of three instructions each, 98 % followed."""
    rng = np.random.default_rng(3)
    hits = 0
    for seed in range(300):
        p = rng.beta(0.98 * 1.08, 0.02 * 1.08, size=(100, 1))
        values = (rng.binomial(3, np.repeat(p, 4, axis=1)) / 3).mean(axis=1)
        interval = problem_interval(values, seed=seed, draws=4, resamples=300)
        hits += interval.low <= 0.98 <= interval.high
    assert hits / 300 >= 0.93


@pytest.mark.parametrize("failures", [0.5, 1.0, 2.0, 3.0])
def test_next_to_the_edge_the_limit_is_that_of_poisson(failures: float) -> None:
    n = 400.0
    low, high = wilson_near_edge(1 - failures / n, n)
    assert low == wilson(1 - failures / n, n)[0]
    assert high == pytest.approx(1 - scipy.stats.gamma.ppf(0.05, failures) / n)
    assert high > wilson(1 - failures / n, n)[1]
    assert (1 - high, 1 - low) == pytest.approx(wilson_near_edge(failures / n, n))


@pytest.mark.parametrize("failures", [0.0, 3.5, 200.0])
def test_away_from_one_to_three_failures_the_limits_are_wilsons(failures: float) -> None:
    assert wilson_near_edge(1 - failures / 400, 400) == wilson(1 - failures / 400, 400)


def test_the_dip_of_wilson_at_one_failure_is_gone() -> None:
    n, rate = 198, 0.0003  # a success next to the edge: the limit of Wilson at one failure is above the rate
    found = wilson_near_edge(1 - 1 / n, n)
    assert wilson(1 - 1 / n, n)[1] < 1 - rate < found[1]


@pytest.mark.parametrize(("n", "value"), [(30, 0.5), (2, 0.5), (120, 0.25), (5, 1 / 3)])
def test_equal_scores_have_an_interval_with_a_width(n: int, value: float) -> None:
    interval = problem_interval(np.full(n, value), seed=0, draws=2)
    assert interval.low < value < interval.high


def test_equal_scores_are_not_surer_of_new_problems_than_of_these() -> None:
    scores = as_scores(np.tile([1.0, 0.0], (30, 1)))
    again = rerun_interval(scores)
    assert again is not None
    found = problem_interval(scores.means, seed=0, draws=2)
    assert found.low <= again.low
    assert found.high >= again.high
    assert found.method.startswith("exact binomial bound")


def test_fractional_scores_of_one_sample_have_a_rerun_interval_with_a_width() -> None:
    interval = rerun_interval(as_scores(np.full((20, 1), 0.5)))
    assert interval is not None
    assert interval.high - interval.low > 0.1


def test_one_problem_tells_nothing_about_others() -> None:
    interval = problem_interval(np.array([0.5]), seed=0, draws=8)
    assert interval.bounds == (0.0, 1.0)
    assert interval.method == "no interval: one problem tells nothing about others"


def test_rerun_interval_is_wilson_on_the_variance_within_problems() -> None:
    scores = drawn(30, 8)
    interval = rerun_interval(as_scores(scores))
    assert interval is not None
    p, v = scores.mean(), scores.var(axis=1, ddof=1).sum() / 8 / 30**2
    n = max(240, p * (1 - p) / v)
    assert interval.bounds == pytest.approx(proportion_confint(p * n, n, method="wilson"), abs=1e-12)


def test_rerun_interval_of_single_samples_is_an_upper_bound() -> None:
    interval = rerun_interval(as_scores(drawn(30, 1)))
    assert interval is not None
    assert interval.method.startswith("upper bound (k = 1)")
    p = drawn(30, 1).mean()
    assert interval.bounds == pytest.approx(proportion_confint(p * 30, 30, method="wilson"), abs=1e-12)


def test_rerun_interval_without_any_noise_still_allows_for_a_sample() -> None:
    interval = rerun_interval(as_scores(np.repeat([[1.0], [0.0]], 5, axis=0).repeat(4, axis=1)))
    assert interval is not None
    assert interval.high - interval.low == pytest.approx(2 * 1.96 / 40, rel=0.01)


def test_rerun_interval_of_fractional_scores_is_normal() -> None:
    scores = np.random.default_rng(0).random((20, 4))
    interval = rerun_interval(as_scores(scores))
    assert interval is not None
    half = scipy.stats.norm.ppf(0.975) * math.sqrt(scores.var(axis=1, ddof=1).sum() / 4) / 20
    assert interval.bounds == pytest.approx((scores.mean() - half, scores.mean() + half), abs=1e-12)


@pytest.mark.parametrize("alpha", [0.05, 0.025])
@pytest.mark.parametrize("n", [1, 30, 500])
def test_draws_miss_the_unseen_share_with_probability_alpha(n: int, alpha: float) -> None:
    assert (1 - unseen_share(n, alpha)) ** n == pytest.approx(alpha, rel=1e-9)


def test_seeds_come_from_names_and_not_from_their_concatenation() -> None:
    assert derive_seed("aime25", "run-1") == derive_seed("aime25", "run-1")
    assert derive_seed("ab", "c") != derive_seed("a", "bc")
    assert all(0 <= derive_seed(str(i)) < 2**63 for i in range(100))
