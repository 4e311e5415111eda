"""Paired differences held to scipy, and the shapes that are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from genbench.errors import NotComparableError
from genbench.stats.comparison.differences import mover_lower
from genbench.stats.comparison.paired import paired
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats


def runs(n: int, k: int, drop: float = 0.0, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    difficulty = rng.beta(0.6, 0.6, size=(n, 1))
    base = rng.random((n, k)) < difficulty
    tuned = rng.random((n, k)) < np.clip(difficulty - drop, 0, 1)
    return base.astype(np.float64), tuned.astype(np.float64)


def test_interval_is_that_of_the_paired_t_test() -> None:
    base, tuned = runs(80, 8)
    found = paired(base, tuned)
    test = scipy.stats.ttest_rel(tuned.mean(axis=1), base.mean(axis=1))
    assert found.difference == pytest.approx(tuned.mean() - base.mean())
    assert found.ci == pytest.approx(tuple(test.confidence_interval(0.95)))
    assert found.lower == mover_lower(cluster((tuned - base).mean(axis=1)), 0.05, fit_skewness=True)
    assert found.ci_method == "paired t (80 differences)"


def test_groups_widen_the_interval_as_statsmodels_does_and_flip_together() -> None:
    base, tuned = runs(60, 4, drop=0.1)
    groups = [str(i // 6) for i in range(60)]
    found = paired(base, tuned, groups=groups)
    d = (tuned - base).mean(axis=1)
    fit = sm.OLS(d, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": np.arange(60) // 6, "df_correction": True}, use_t=True
    )
    assert found.se == pytest.approx(fit.bse[0])
    assert found.ci == pytest.approx(tuple(fit.conf_int()[0]))
    assert found.p_method == "exact sign-flip"  # ten groups: 1,024 patterns


def test_identical_runs_have_no_difference_and_p_one() -> None:
    base, _ = runs(40, 8)
    found = paired(base, base, shared_seeds=True)
    assert (found.difference, found.p_two_sided, found.p_regression, found.p_improvement) == (
        0.0,
        1.0,
        1.0,
        1.0,
    )
    assert found.rerun_ci == pytest.approx((-1.96 / 320, 1.96 / 320), rel=1e-3)  # one sample of 320
    assert found.ci is not None
    # 40 problems without a change leave room for a share that 40 problems miss in 1 of 40 cases.
    assert found.ci[1] == pytest.approx(1 - 0.025 ** (1 / 40))
    assert found.mde is not None
    assert found.mde > 0


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_all_right_and_all_wrong_on_both_sides_is_no_difference(score: float) -> None:
    found = paired(np.full((30, 4), score), np.full((30, 4), score))
    assert (found.difference, found.p_two_sided) == (0.0, 1.0)
    assert found.ci is not None
    assert found.ci[0] < 0 < found.ci[1]


def test_total_collapse_is_minus_one_and_significant() -> None:
    found = paired(np.ones((30, 1)), np.zeros((30, 1)))
    assert found.difference == -1
    assert found.p_regression == pytest.approx(0.5**30)
    assert found.ci is not None
    assert found.ci[0] == -1
    assert -1 < found.ci[1] < -0.7


def test_one_problem_bounds_nothing() -> None:
    found = paired([[1.0]], [[0.0]])
    assert (found.difference, found.se, found.ci, found.mde) == (-1.0, None, (-1, 1), None)
    assert (found.p_two_sided, found.p_regression) == (1.0, 0.5)


def test_smallest_detectable_drop_is_in_standard_errors() -> None:
    found = paired(*runs(198, 8))
    assert found.se is not None
    z = scipy.stats.norm.ppf(0.95) + scipy.stats.norm.ppf(0.8)
    assert found.mde == pytest.approx(z * found.se)


@pytest.mark.slow
def test_a_run_at_the_detectable_drop_is_found_in_four_of_five_cases() -> None:
    n, sd = 150, 0.2
    drop = (scipy.stats.norm.ppf(0.95) + scipy.stats.norm.ppf(0.8)) * sd / math.sqrt(n)
    rng = np.random.default_rng(5)
    found = 0
    for _ in range(300):
        d = np.clip(rng.normal(-drop, sd, size=(n, 1)), -0.5, 0.5)
        p = paired(np.full((n, 1), 0.5), 0.5 + d).p_regression
        assert p is not None
        found += p <= 0.05
    assert found / 300 == pytest.approx(0.8, abs=0.06)


def test_base_and_tuned_may_have_different_k() -> None:
    base, tuned = np.tile([[1.0, 0.0]], (10, 8)), np.tile([[1.0, 0.0, 0.0, 0.0]], (10, 1))
    found = paired(base, tuned)
    assert (found.k_base, found.k_tuned, found.difference) == (16, 4, -0.25)
    assert found.mcnemar is None


def test_rerun_interval_adds_both_variances_or_takes_those_of_shared_seeds() -> None:
    base, tuned = runs(50, 8)
    z = scipy.stats.norm.ppf(0.975)
    apart = paired(base, tuned)
    v = (base.var(axis=1, ddof=1) + tuned.var(axis=1, ddof=1)).sum() / 8 / 50**2
    assert apart.rerun_ci == pytest.approx(
        (apart.difference - z * math.sqrt(v), apart.difference + z * math.sqrt(v))
    )
    together = paired(base, tuned, shared_seeds=True)
    v = (tuned - base).var(axis=1, ddof=1).sum() / 8 / 50**2
    assert together.rerun_ci == pytest.approx(
        (apart.difference - z * math.sqrt(v), apart.difference + z * math.sqrt(v))
    )
    assert "shared seeds" in together.rerun_ci_method
    assert paired(*runs(50, 1)).rerun_ci_method == "not estimable (k = 1)"


def test_common_random_numbers_narrow_the_rerun_interval() -> None:
    rng = np.random.default_rng(0)
    noise, difficulty = rng.random((80, 16)), rng.random((80, 1))
    base, tuned = (noise < difficulty).astype(float), (noise < difficulty - 0.02).astype(float)
    widths = []
    for shared in (True, False):
        found = paired(base, tuned, shared_seeds=shared).rerun_ci
        assert found is not None
        widths.append(found[1] - found[0])
    assert widths[0] < 0.5 * widths[1]


def test_single_samples_come_with_mcnemars_table() -> None:
    found = paired([[1], [1], [0], [0]], [[1], [0], [0], [1]])
    assert found.mcnemar is not None
    assert (found.mcnemar.base_only, found.mcnemar.tuned_only) == (1, 1)
    assert found.mcnemar.p_two_sided == found.p_two_sided == 1.0


def test_metrics_of_draws_are_compared_problem_by_problem() -> None:
    base, tuned = [[1, 0, 0, 0], [0, 0, 0, 0]], [[1, 1, 0, 0], [1, 0, 0, 0]]
    found = paired(base, tuned, metric="pass@2")
    assert found.difference == pytest.approx(((5 / 6 - 1 / 2) + 1 / 2) / 2)
    assert found.rerun_ci is None
    assert found.rerun_ci_method == "given for means only"


def test_a_problem_without_scored_samples_leaves_the_others_compared() -> None:
    found = paired([[1], [0], [1]], [[0], [None], [1]])
    assert (found.difference, found.base, found.tuned) == (-0.5, 1.0, 0.5)
    assert (found.n, found.left_out, found.excluded_tuned, found.missing) == (3, 1, 1, None)
    assert found.bounds == pytest.approx((-1 / 3, 0.0))


def test_one_excluded_sample_does_not_hide_a_collapse() -> None:
    base = [[1.0]] * 120
    tuned = [[0.0]] * 80 + [[1.0]] * 39 + [[None]]
    found = paired(base, tuned)
    assert found.p_regression is not None
    assert found.p_regression < 1e-20
    assert found.lower is not None
    assert found.bounds is not None
    assert found.lower < found.bounds[0] == pytest.approx(-81 / 120)


def test_without_a_problem_that_both_scored_the_difference_is_missing() -> None:
    found = paired([[1], [None]], [[None], [1]])
    assert (found.difference, found.missing) == (None, "no problem has scored samples in both")
    nothing = paired([[1], [1]], [[None], [None]])
    assert nothing.missing == "tuned: 2 of 2 problems have no scored sample (the first at position 0)"


def test_groups_go_with_the_problems_that_are_compared() -> None:
    found = paired([[1], [1], [0], [1]], [[0], [None], [0], [1]], groups=["a", "a", "b", "b"])
    assert found.clusters is not None
    assert found.clusters.sizes.tolist() == [1, 2]
    assert found.worst is not None
    assert found.worst.totals.tolist() == [-2, 0]


def test_different_numbers_of_problems_are_refused() -> None:
    with pytest.raises(NotComparableError, match="base has 1 problems, tuned 2"):
        paired([[1]], [[1], [0]])


def test_few_problems_are_flagged() -> None:
    assert paired(*runs(49, 1)).has_few_problems
    assert not paired(*runs(50, 1)).has_few_problems


matrices = st.lists(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=2), min_size=9, max_size=9
)


@pytest.mark.slow
@given(matrices, matrices)
def test_swapping_the_runs_turns_the_result_around(base: list[list[float]], tuned: list[list[float]]) -> None:
    forth, back = paired(base, tuned), paired(tuned, base)
    assert forth.difference is not None
    assert back.difference == -forth.difference
    assert forth.p_regression == back.p_improvement
    assert forth.p_two_sided == back.p_two_sided
    assert forth.ci is not None
    assert back.ci == pytest.approx((-forth.ci[1], -forth.ci[0]))
    assert forth.ci[0] - 1e-12 <= forth.difference <= forth.ci[1] + 1e-12
