"""Clusters, their standard error, seeds and bootstrap means."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from genbench.stats.resample import bootstrap_means, cluster, derive_seed


def test_values_are_summed_by_group() -> None:
    found = cluster(np.array([0.2, 0.4, 1.0]), ["a", "b", "a"])
    assert found.totals == pytest.approx([1.2, 0.4])
    assert found.sizes.tolist() == [2.0, 1.0]
    assert found.mean == pytest.approx(1.6 / 3)


def test_a_problem_without_a_group_is_a_cluster_of_its_own() -> None:
    found = cluster(np.ones(4), ["a", None, "a", None])
    assert found.count == 3


def test_a_group_named_like_a_position_is_not_mixed_up_with_it() -> None:
    assert cluster(np.ones(2), ["1", None]).count == 2


def test_the_standard_error_is_cr1_of_statsmodels() -> None:
    rng = np.random.default_rng(2)
    values, groups = rng.random(60), rng.integers(0, 17, 60)
    theirs = sm.OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    found = cluster(values, [str(group) for group in groups])
    count = found.count
    # statsmodels multiplies by (n - 1)/(n - p) too, which is 1 for one parameter.
    assert found.se == pytest.approx(float(theirs.bse[0]), rel=1e-9)
    assert count == len(set(groups))


def test_the_standard_error_of_single_problems_is_that_of_the_mean() -> None:
    values = np.random.default_rng(1).random(30)
    assert cluster(values).se == pytest.approx(values.std(ddof=1) / np.sqrt(30))


def test_one_cluster_has_no_standard_error() -> None:
    assert cluster(np.array([0.1, 0.9]), ["a", "a"]).se is None


def test_equal_means_have_no_spread_although_sevenths_do_not_add_up() -> None:
    values = np.array([3 / 7, 1 - 4 / 7, (1 / 7) * 3])
    assert cluster(values).se == 0.0


@given(st.text(max_size=8), st.text(max_size=8))
def test_a_seed_is_a_number_below_two_to_the_63(first: str, second: str) -> None:
    assert 0 <= derive_seed(first, second) < 2**63
    assert derive_seed(first, second) == derive_seed(first, second)


def test_seeds_tell_the_parts_apart() -> None:
    assert derive_seed("ab", "c") != derive_seed("a", "bc") != derive_seed("abc")


@pytest.mark.parametrize("values", [np.array([0.0, 1.0] * 200), np.random.default_rng(5).random(400)])
def test_bootstrap_means_have_the_mean_and_the_error_of_the_sample(values: np.ndarray) -> None:
    """The first has two distinct values and is drawn as counts, the second is gathered."""
    found = bootstrap_means(cluster(values), seed=1)
    assert len(found) == 10_000
    assert found.mean() == pytest.approx(values.mean(), abs=0.001)
    assert found.std() == pytest.approx(values.std() / 20, rel=0.03)


def test_the_same_seed_gives_the_same_means() -> None:
    clusters = cluster(np.random.default_rng(5).random(50))
    first, again, other = (bootstrap_means(clusters, seed=seed, resamples=100) for seed in (1, 1, 2))
    assert first.tolist() == again.tolist()
    assert first.tolist() != other.tolist()


def test_unequal_clusters_are_weighted_by_their_size() -> None:
    clusters = cluster(np.array([1.0, 1.0, 1.0, 0.0]), ["a", "a", "a", "b"])
    found = bootstrap_means(clusters, seed=3, resamples=4000)
    # Samples of two clusters: aa, ab or ba, bb.
    shares = {value: float(np.isclose(found, value).mean()) for value in (1.0, 0.75, 0.0)}
    assert shares == pytest.approx({1.0: 0.25, 0.75: 0.5, 0.0: 0.25}, abs=0.03)
