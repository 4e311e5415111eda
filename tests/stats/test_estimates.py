"""Estimates of a metric: values, intervals, bounds of excluded samples, and what is missing."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from genbench.errors import InputError
from genbench.stats.estimates import estimate
from genbench.stats.metrics import pass_at_k

SCORES = [[1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]


def test_mean_metrics_are_the_mean_of_the_problems_means() -> None:
    for metric, name in (("avg@k", "avg@4"), ("avg@4", "avg@4"), ("acc", "acc")):
        found = estimate(metric, SCORES, seed=1)
        assert (found.metric, found.n, found.k) == (name, 3, 4)
        assert found.value == pytest.approx(2 / 3)
        assert found.se == pytest.approx(scipy.stats.sem([0.75, 0.25, 1.0]))


def test_a_problem_with_more_samples_weighs_no_more_and_raggedness_is_flagged() -> None:
    found = estimate("avg@k", [[1.0] * 9, [0.0]], seed=1)
    assert found.value == 0.5
    assert found.metric == "avg@k"
    assert found.k == 1
    assert found.ci_method.endswith("ragged: 1 to 9 samples a problem")


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("pass@1", 8 / 12),
        ("pass@2", (1 + 1 / 2 + 1) / 3),
        ("pass@k", 1.0),
        ("pass^2", (1 / 2 + 0 + 1) / 3),
        ("pass^k", 1 / 3),
        ("maj@1", 8 / 12),
        ("maj@k", 2 / 3),
    ],
)
def test_metrics_of_draws_by_hand(metric: str, value: float) -> None:
    answers = [["x" if score else "y" for score in row] for row in SCORES]
    found = estimate(metric, SCORES, seed=1, answers=answers)
    assert found.value == pytest.approx(value)
    assert found.rerun_ci is None
    assert found.rerun_ci_method == "given for means only"


def test_pass_at_k_near_one_takes_wilson_with_the_draws_that_are_left() -> None:
    whole = estimate("pass@8", np.ones((50, 8)), seed=1)
    parts = estimate("pass@2", np.ones((50, 8)), seed=1)
    assert whole.ci is not None
    assert parts.ci is not None
    assert 0.9 < whole.ci[0] < parts.ci[0] < 1
    assert "Wilson" in whole.ci_method


def test_excluded_samples_leave_the_mean_and_bound_it() -> None:
    found = estimate("avg@k", [[1, None, 0, 1], [0, 0, None, None]], seed=1)
    assert found.value == pytest.approx((2 / 3 + 0) / 2)
    assert found.excluded == 3
    assert found.bounds == pytest.approx(((2 / 4 + 0) / 2, (3 / 4 + 2 / 4) / 2))
    assert found.missing is None
    assert found.metric == "avg@4"


def test_a_problem_without_any_scored_sample_makes_the_metric_missing() -> None:
    found = estimate("avg@k", [[1, 1], [None, None]], seed=1)
    assert (found.value, found.ci, found.se) == (None, None, None)
    assert found.missing == "1 of 2 problems have no scored sample (the first at position 1)"
    assert found.bounds == (0.5, 1.0)


def test_pass_at_k_with_an_excluded_sample_is_known_only_where_it_cannot_matter() -> None:
    assert estimate("pass@k", [[1, None], [0, 0]], seed=1).value == 0.5
    found = estimate("pass@k", [[0, None], [0, 0]], seed=1)
    assert found.value is None
    assert found.bounds == (0.0, 0.5)
    assert found.missing is not None
    assert "fewer than 2 scored samples" in found.missing


def test_majority_with_an_excluded_vote_is_bounded_by_how_it_could_fall() -> None:
    answers = [["x", "y", None], ["x", "x", None]]
    scores = [[1, 0, None], [1, 1, None]]
    found = estimate("maj@k", scores, seed=1, answers=answers)
    assert found.value is None
    assert found.bounds == (0.5, 1.0)


def test_fewer_samples_than_asked_for_are_missing_and_never_scaled() -> None:
    found = estimate("avg@k", [[1, 1], [1]], seed=1, k=2)
    assert found.value is None
    assert found.missing == "1 of 2 problems do not have exactly 2 samples"
    assert estimate("avg@8", SCORES, seed=1).missing == "3 of 3 problems do not have exactly 8 samples"
    assert estimate("avg@k", SCORES, seed=1, k=4).missing is None


def test_more_draws_than_samples_are_refused() -> None:
    with pytest.raises(InputError, match="pass@5 needs 5 samples of every problem, 4 were drawn"):
        estimate("pass@5", SCORES, seed=1)


@pytest.mark.parametrize("metric", ["avg", "pass@0", "pass@-1", "mean", "maj@", "pass@k "])
def test_unknown_metrics_are_refused(metric: str) -> None:
    with pytest.raises(InputError, match="unknown metric"):
        estimate(metric, SCORES, seed=1)


def test_votes_and_groups_must_fit_the_scores() -> None:
    with pytest.raises(InputError, match="needs the extracted answers"):
        estimate("maj@k", SCORES, seed=1)
    with pytest.raises(InputError, match="differ in shape"):
        estimate("maj@k", SCORES, seed=1, answers=[["x"]] * 3)
    with pytest.raises(InputError, match="2 groups for 3 problems"):
        estimate("acc", SCORES, seed=1, groups=["a", "b"])


def test_a_label_names_the_result() -> None:
    assert estimate("acc", SCORES, seed=1, label="acc_norm").metric == "acc_norm"


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_one_problem_and_one_sample_is_well_defined(score: float) -> None:
    found = estimate("acc", [[score]], seed=1)
    assert (found.value, found.se, found.ci) == (score, None, (0, 1))
    assert found.rerun_ci is not None


def test_fractional_scores_are_averaged_and_a_pass_is_full_marks() -> None:
    scores = [[0.5, 1.0], [0.5, 0.5]]
    assert estimate("avg@k", scores, seed=1).value == 0.625
    assert estimate("pass@k", scores, seed=1).value == 0.5
    assert "Wilson" in estimate("avg@k", scores, seed=1).ci_method


matrices = st.integers(1, 6).flatmap(
    lambda k: st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 0.5, None]), min_size=k, max_size=k), min_size=1, max_size=12
    )
)


@pytest.mark.slow
@given(matrices)
def test_the_value_lies_within_its_interval_and_its_bounds(scores: list[list[float | None]]) -> None:
    found = estimate("avg@k", scores, seed=1, resamples=500)
    if found.bounds is not None:
        assert 0 <= found.bounds[0] <= found.bounds[1] <= 1
    if found.value is None:
        assert found.missing
        return
    assert found.ci is not None
    assert 0 <= found.ci[0] <= found.value + 1e-9
    assert found.value - 1e-9 <= found.ci[1] <= 1
    if found.bounds is not None:
        assert found.bounds[0] - 1e-9 <= found.value <= found.bounds[1] + 1e-9


@pytest.mark.slow
@given(matrices)
def test_the_order_of_samples_does_not_matter(scores: list[list[float | None]]) -> None:
    forth = estimate("avg@k", scores, seed=1, resamples=100)
    back = estimate("avg@k", [row[::-1] for row in scores], seed=1, resamples=100)
    assert forth.value == back.value
    assert forth.bounds == back.bounds


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.integers(1, 6))
def test_pass_at_k_is_the_mean_over_problems(rights: list[int], k: int) -> None:
    scores = [[1.0] * right + [0.0] * (6 - right) for right in rights]
    expected = math.fsum(pass_at_k(6, right, k) for right in rights) / len(rights)
    assert estimate(f"pass@{k}", scores, seed=1, resamples=100).value == pytest.approx(expected)
