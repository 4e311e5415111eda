"""Logistic regression with a sandwich covariance, held to statsmodels and to closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from genbench.errors import InputError
from genbench.stats.pairwise import fit_logistic


def drawn(n: int, seed: int = 3) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A design with two columns, outcomes 0, 1/2 and 1, and clusters of three rows."""
    rng = np.random.default_rng(seed)
    design = rng.normal(size=(n, 2))
    chance = 1 / (1 + np.exp(-(design @ np.array([0.8, -0.5]))))
    outcomes = np.where(rng.random(n) < 0.2, 0.5, (rng.random(n) < chance).astype(float))
    return design, outcomes, np.arange(n) // 3


def test_coefficients_and_clustered_errors_are_those_of_statsmodels() -> None:
    design, outcomes, groups = drawn(600)
    theirs = sm.GLM(outcomes, design, family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    found = fit_logistic(design, outcomes, groups.astype(float))
    assert found.coefficients == pytest.approx(theirs.params, abs=1e-8)
    assert found.covariance == pytest.approx(theirs.cov_params(), rel=1e-6)


def test_with_an_intercept_only_the_fit_is_the_log_odds_of_the_mean() -> None:
    outcomes = np.array([1.0] * 30 + [0.0] * 10)
    found = fit_logistic(np.ones((40, 1)), outcomes, np.arange(40, dtype=np.float64))
    assert found.coefficients[0] == pytest.approx(np.log(3))
    # The sandwich of independent rows: 1 / (n p (1 - p)).
    assert found.covariance[0, 0] == pytest.approx(1 / (40 * 0.75 * 0.25))


def test_a_tie_counts_as_half_a_win() -> None:
    ties = fit_logistic(np.ones((20, 1)), np.full(20, 0.5), np.arange(20, dtype=np.float64))
    assert ties.coefficients[0] == pytest.approx(0.0)
    assert ties.covariance[0, 0] == 0.0


def test_rows_of_one_cluster_count_once() -> None:
    outcomes = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    single = fit_logistic(np.ones((5, 1)), outcomes, np.arange(5, dtype=np.float64))
    doubled = fit_logistic(
        np.ones((10, 1)), np.repeat(outcomes, 2), np.repeat(np.arange(5, dtype=np.float64), 2)
    )
    assert doubled.coefficients == pytest.approx(single.coefficients)
    assert doubled.covariance == pytest.approx(single.covariance)


def test_separated_outcomes_have_no_estimate() -> None:
    with pytest.raises(InputError, match="wins \\(or loses\\) everything"):
        fit_logistic(np.ones((9, 1)), np.ones(9), np.arange(9, dtype=np.float64))


def test_an_empty_column_has_no_estimate() -> None:
    design = np.column_stack([np.ones(4), np.zeros(4)])
    with pytest.raises(InputError, match="do not connect"):
        fit_logistic(design, np.array([1.0, 0.0, 1.0, 0.0]), np.arange(4, dtype=np.float64))
