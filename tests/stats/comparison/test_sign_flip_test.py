"""Sign-flip tests held to enumeration and scipy, and McNemar's exact test."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from genbench.stats.comparison.sign_flip_test import binomial_p, mcnemar, sign_flip
from genbench.stats.scores import as_scores


def scipy_p(differences: np.ndarray[tuple[int], np.dtype[np.float64]], alternative: str) -> float:
    """scipy's exact test; its ties are counted within 1e-14, so the differences must be exact."""
    found = scipy.stats.permutation_test(
        (differences,), np.sum, permutation_type="samples", n_resamples=math.inf, alternative=alternative
    )
    return float(found.pvalue)


@pytest.mark.parametrize(
    "differences",
    [
        [0.5, -0.25, 0.75],
        [0.5, 0.5, -0.25, 0.0, 0.125, -0.125, 1.0, 0.0],
        [-1.0, -0.5, -0.5, 0.25, -0.75, -0.125, -0.5],
        [1.0, 1.0, 1.0, 0.0],
        [0.125, 0.25],
        [-0.5],
    ],
)
def test_exact_p_agrees_with_scipy(differences: list[float]) -> None:
    d = np.array(differences)
    ours = sign_flip(d)
    assert ours.method.startswith("exact")
    if len(d) > 1:
        assert ours.p_regression == pytest.approx(scipy_p(d, "less"))
        assert ours.p_improvement == pytest.approx(scipy_p(d, "greater"))
        assert ours.p_two_sided == pytest.approx(min(1.0, 2 * min(scipy_p(d, "less"), scipy_p(d, "greater"))))
    else:
        assert (ours.p_two_sided, ours.p_regression, ours.p_improvement) == (1.0, 0.5, 1.0)


def test_sums_that_are_equal_but_not_in_floating_point_are_ties() -> None:
    # 1/3 + 1/3 + 1/3 and 1 differ in the last bit by the order of adding.
    d = np.array([1 / 3, 1 / 3, 1 / 3, -1.0, 1 / 7, -1 / 7])
    exact = sign_flip(np.rint(d * 21))
    assert sign_flip(d) == exact
    assert exact.p_two_sided == 1.0


def test_p_of_many_differences_is_exact_and_never_zero() -> None:
    rng = np.random.default_rng(4)
    d = rng.integers(-8, 7, size=60) / 8
    sums = {0: 1}
    for unit in np.abs(d * 8).astype(int):
        new: dict[int, int] = {}
        for total, ways in sums.items():
            for moved in (total + unit, total - unit):
                new[moved] = new.get(moved, 0) + ways
        sums = new
    observed = round(d.sum() * 8)
    exact = sum(ways for total, ways in sums.items() if total <= observed) / 2**60
    found = sign_flip(d)
    assert found.method == "exact sign-flip"
    assert found.p_regression == pytest.approx(exact, rel=1e-12)
    collapsed = sign_flip(-rng.random(200))
    assert collapsed.method == "exact sign-flip of differences rounded to 1/131,072"
    assert collapsed.p_regression == pytest.approx(2.0**-200, rel=1e-6)
    assert collapsed.p_improvement == 1.0
    assert sign_flip(-rng.random(2000)).p_regression > 0


def test_the_same_differences_always_have_the_same_p() -> None:
    d = np.random.default_rng(6).normal(0, 1, 500)
    assert sign_flip(d) == sign_flip(d[::-1])


def test_all_differences_zero_give_p_one() -> None:
    found = sign_flip(np.zeros(40))
    assert (found.p_two_sided, found.p_regression, found.p_improvement) == (1.0, 1.0, 1.0)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=40), st.integers(0, 5))
def test_swapping_base_and_tuned_swaps_the_one_sided_tests(values: list[float], zeros: int) -> None:
    d = np.array(values)
    forth, back = sign_flip(d), sign_flip(-d)
    assert 0 < forth.p_two_sided <= 1
    if forth.method.startswith("exact"):
        assert forth.p_regression == back.p_improvement
        assert forth.p_two_sided == back.p_two_sided
        padded = sign_flip(np.concatenate([d, np.zeros(zeros)]))
        assert padded == forth


@given(st.integers(0, 60), st.integers(0, 60))
def test_binomial_p_agrees_with_scipy(losses: int, gains: int) -> None:
    both, below = binomial_p(losses, losses + gains)
    if losses + gains == 0:
        assert (both, below) == (1.0, 1.0)
        return
    n = losses + gains
    assert both == pytest.approx(scipy.stats.binomtest(losses, n).pvalue)
    assert below == pytest.approx(scipy.stats.binomtest(losses, n, alternative="greater").pvalue)


@given(st.tuples(*[st.integers(0, 30)] * 4))
def test_mcnemar_agrees_with_statsmodels_and_is_the_sign_flip_of_the_differences(
    table: tuple[int, int, int, int],
) -> None:
    both_right, base_only, tuned_only, both_wrong = table
    if sum(table) == 0:
        return
    base = [[1.0]] * (both_right + base_only) + [[0.0]] * (tuned_only + both_wrong)
    tuned = [[1.0]] * both_right + [[0.0]] * base_only + [[1.0]] * tuned_only + [[0.0]] * both_wrong
    ours = mcnemar(as_scores(base), as_scores(tuned))
    assert ours is not None
    assert (ours.both_right, ours.base_only, ours.tuned_only, ours.both_wrong) == table
    flips = sign_flip(np.subtract(tuned, base).ravel())
    assert (ours.p_two_sided, ours.p_regression) == (flips.p_two_sided, flips.p_regression)
    if base_only + tuned_only:
        theirs = statsmodels_mcnemar([[both_right, base_only], [tuned_only, both_wrong]], exact=True)
        assert ours.p_two_sided == pytest.approx(theirs.pvalue)


def test_mcnemar_is_for_single_scored_samples_of_zero_or_one() -> None:
    one, two = as_scores([[1], [0]]), as_scores([[1, 1], [0, 0]])
    assert mcnemar(one, two) is None
    assert mcnemar(one, as_scores([[0.5], [0]])) is None
    assert mcnemar(one, as_scores([[None], [0]])) is None
