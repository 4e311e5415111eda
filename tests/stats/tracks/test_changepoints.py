"""The paired test of splits of a track, against scipy, closed forms and simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from genbench.errors import InputError
from genbench.stats.resample import cluster
from genbench.stats.scores import Floats, Ints
from genbench.stats.tracks.changepoints import (
    MIN_PROBLEMS,
    NOISE_NIGHTS,
    PRIOR_NIGHTS,
    SplitTests,
    TaskNights,
    alarm_threshold,
    expected_alarms,
    night_variances,
    pooled_tests,
    split_tests,
    with_night_noise,
)


def ints(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


def some_nights(nights: int = 30, problems: int = 40, k: int = 4, seed: int = 5) -> Floats:
    rng = np.random.default_rng(seed)
    rates = rng.beta(0.6, 0.8, size=problems)
    return np.asarray(rng.binomial(k, np.broadcast_to(rates, (nights, problems))) / k)


@pytest.mark.parametrize(("low", "split", "end"), [(0, 10, 30), (3, 29, 30), (5, 12, 14), (0, 1, 2)])
def test_a_split_is_the_paired_t_test_of_the_problems_means(low: int, split: int, end: int) -> None:
    values = some_nights()
    after, before = values[split:end].mean(axis=0), values[low:split].mean(axis=0)
    theirs = scipy.stats.ttest_rel(after, before)

    ours = TaskNights(values).tests(ints(low), ints(split), ints(end))

    assert ours.differences[0] == pytest.approx((after - before).mean())
    assert ours.differences[0] / ours.errors[0] == pytest.approx(theirs.statistic)
    assert ours.dof[0] == 39
    assert scipy.stats.norm.cdf(ours.z[0]) == pytest.approx(scipy.stats.t.cdf(theirs.statistic, 39))


def test_the_interval_is_that_of_the_paired_t_test() -> None:
    values = some_nights()
    found = TaskNights(values).tests(ints(0), ints(20), ints(30))
    theirs = scipy.stats.ttest_rel(values[20:].mean(axis=0), values[:20].mean(axis=0))
    assert found.interval(0) == pytest.approx(tuple(theirs.confidence_interval(0.95)))


def test_many_splits_at_once_equal_single_ones() -> None:
    values = some_nights()
    task = TaskNights(values)
    lows, splits, ends = ints(0, 2, 9), ints(7, 20, 11), ints(30, 25, 12)
    together = task.tests(lows, splits, ends)
    for at in range(3):
        single = task.tests(lows[at : at + 1], splits[at : at + 1], ends[at : at + 1])
        assert together.z[at] == pytest.approx(single.z[0])


def test_clusters_give_the_error_of_the_cluster_rule() -> None:
    values = some_nights()
    groups = [None if at % 5 == 0 else f"passage{at // 4}" for at in range(40)]
    moved = values[20:].mean(axis=0) - values[:20].mean(axis=0)
    expected = cluster(moved, groups)

    task = TaskNights(values, groups)
    found = task.tests(ints(0), ints(20), ints(30))

    assert task.clusters == expected.count
    assert found.differences[0] == pytest.approx(expected.mean)
    assert found.errors[0] == pytest.approx(expected.se)
    assert found.dof[0] == expected.count - 1


def test_groups_of_one_problem_change_nothing() -> None:
    values = some_nights()
    plain = TaskNights(values).tests(ints(0), ints(20), ints(30))
    single = TaskNights(values, [str(at) for at in range(40)]).tests(ints(0), ints(20), ints(30))
    assert single.z[0] == pytest.approx(plain.z[0])


def test_a_problem_without_a_score_on_some_nights_is_the_mean_of_the_others() -> None:
    values = some_nights()
    values[3, 7] = values[25, 2] = np.nan
    after, before = np.nanmean(values[20:], axis=0), np.nanmean(values[:20], axis=0)
    theirs = scipy.stats.ttest_rel(after, before)

    found = TaskNights(values).tests(ints(0), ints(20), ints(30))

    assert found.differences[0] / found.errors[0] == pytest.approx(theirs.statistic)


def test_a_problem_without_any_score_on_one_side_is_left_out() -> None:
    values = some_nights()
    values[20:, 4] = np.nan
    theirs = scipy.stats.ttest_rel(
        np.delete(values[20:].mean(axis=0), 4), np.delete(values[:20].mean(axis=0), 4)
    )

    found = TaskNights(values).tests(ints(0), ints(20), ints(30))

    assert found.dof[0] == 38
    assert found.differences[0] / found.errors[0] == pytest.approx(theirs.statistic)


def test_a_gap_in_clustered_problems_keeps_the_cluster_rule() -> None:
    values = some_nights()
    values[:20, 39] = np.nan
    groups = [f"passage{at // 4}" for at in range(40)]
    moved = (values[20:].mean(axis=0) - np.nanmean(values[:20], axis=0, keepdims=False))[:39]
    expected = cluster(moved, groups[:39])

    found = TaskNights(values, groups).tests(ints(0), ints(20), ints(30))

    assert found.errors[0] == pytest.approx(expected.se)
    assert found.dof[0] == expected.count - 1


test_a_gap_in_clustered_problems_keeps_the_cluster_rule = pytest.mark.filterwarnings(
    "ignore:Mean of empty slice:RuntimeWarning"
)(test_a_gap_in_clustered_problems_keeps_the_cluster_rule)


def test_nights_without_the_task_are_passed_over() -> None:
    values = some_nights()
    holes = np.insert(values, [4, 22], np.nan, axis=0)
    plain = TaskNights(values).tests(ints(0), ints(20), ints(30))
    with_holes = TaskNights(holes).tests(ints(0), ints(21), ints(32))
    assert with_holes.z[0] == pytest.approx(plain.z[0])


def test_a_stretch_of_missing_nights_cannot_be_tested() -> None:
    values = some_nights()
    values[20:] = np.nan
    assert np.isnan(TaskNights(values).tests(ints(0), ints(20), ints(30)).z[0])


@pytest.mark.parametrize("problems", [2, MIN_PROBLEMS - 1])
def test_tasks_with_too_few_problems_cannot_be_tested(problems: int) -> None:
    values = some_nights(problems=problems)
    assert np.isnan(TaskNights(values).tests(ints(0), ints(20), ints(30)).z[0])
    values[0, 0] = np.nan
    assert np.isnan(TaskNights(values).tests(ints(0), ints(20), ints(30)).z[0])


def test_equal_nights_have_no_evidence() -> None:
    values = np.full((10, 30), 0.25)
    found = TaskNights(values).tests(ints(0), ints(8), ints(10))
    assert (found.differences[0], found.z[0]) == (0, 0)


def test_a_loss_of_every_problem_alike_is_strong_evidence() -> None:
    values = np.full((10, 30), 0.5)
    values[8:] = 0.25
    found = TaskNights(values).tests(ints(0), ints(8), ints(10))
    assert found.z[0] == pytest.approx(scipy.stats.norm.ppf(2.0**-30))


def test_one_lost_problem_of_a_perfect_task_is_weak_evidence() -> None:
    values = np.ones((10, 200))
    values[9, 17] = 0.0
    assert -1.1 < TaskNights(values).tests(ints(0), ints(9), ints(10)).z[0] < -0.9


def test_z_of_huge_t_stays_finite() -> None:
    found = split_tests(np.array([-1.0]), np.array([1e-9]), np.array([500.0]), np.array([501.0]))
    assert -40 < found.z[0] < -30


def test_pooling_weighs_tasks_by_inverse_variance() -> None:
    parts = [
        SplitTests(*(np.array([value]) for value in (difference, error, 1e6, 0.0)))
        for difference, error in ((-0.02, 0.01), (-0.01, 0.02))
    ]
    found = pooled_tests(parts)
    weights = np.array([1 / 0.01**2, 1 / 0.02**2])
    assert found.differences[0] == pytest.approx(np.average([-0.02, -0.01], weights=weights))
    assert found.errors[0] == pytest.approx(1 / math.sqrt(weights.sum()), rel=1e-5)
    assert found.z[0] == pytest.approx(found.differences[0] / found.errors[0], rel=1e-4)


def test_pooling_leaves_out_tasks_that_cannot_be_tested() -> None:
    one = SplitTests(*(np.array([value]) for value in (-0.02, 0.01, 50.0, -2.0)))
    missing = SplitTests(*(np.array([value]) for value in (np.nan, np.nan, 3.0, np.nan)))
    alone = pooled_tests([one])
    assert pooled_tests([one, missing]).z[0] == alone.z[0]
    assert np.isnan(pooled_tests([missing]).z[0])


def test_pooled_z_is_standard_normal_without_a_change() -> None:
    rng = np.random.default_rng(8)
    moved = [rng.normal(scale=scale, size=(20_000, n)) for scale, n in ((0.2, 30), (0.1, 200), (0.3, 25))]
    parts = [
        split_tests(
            rows.mean(axis=1),
            rows.std(axis=1, ddof=1) / math.sqrt(rows.shape[1]),
            np.full(len(rows), rows.shape[1] - 1.0),
            np.full(len(rows), float(rows.shape[1])),
        )
        for rows in moved
    ]
    z = pooled_tests(parts).z
    assert z.std() == pytest.approx(1, abs=0.02)
    assert (z < -2.3263).mean() == pytest.approx(0.01, abs=0.0025)


def test_the_threshold_and_the_expected_alarms_are_inverse() -> None:
    for series, alarms, nights in ((1, 1.0, 365.0), (6, 1.0, 365.0), (51, 0.5, 250.0)):
        h = alarm_threshold(series, alarms, nights)
        assert expected_alarms(h, series, nights) == pytest.approx(alarms)


def test_more_series_or_a_smaller_budget_raise_the_threshold() -> None:
    assert 3.0 < alarm_threshold(1) < alarm_threshold(6) < alarm_threshold(300) < 5.0
    assert alarm_threshold(6, 0.5) > alarm_threshold(6)
    assert alarm_threshold(6, nights_per_year=52) < alarm_threshold(6)


def test_a_budget_that_every_night_may_use_needs_no_evidence() -> None:
    assert alarm_threshold(1, 1000.0) == 0


@pytest.mark.parametrize(("series", "alarms", "nights"), [(0, 1.0, 365.0), (1, 0.0, 365.0), (1, 1.0, -1.0)])
def test_a_threshold_without_series_budget_or_nights_is_refused(
    series: int, alarms: float, nights: float
) -> None:
    with pytest.raises(InputError, match="must be positive"):
        alarm_threshold(series, alarms, nights)


@pytest.mark.parametrize("least", [0.0, 1.0, 2.5, np.inf])
def test_z_values_of_at_least_that_size_are_exact_and_the_others_stay_below(least: float) -> None:
    night = TaskNights(some_nights())
    lows, splits, ends = ints(*[0] * 19), np.arange(10, 29), ints(*[30] * 19)
    exact, asked = night.tests(lows, splits, ends).z, night.tests(lows, splits, ends, least=least).z
    reached = np.abs(exact) >= least
    assert (asked[reached] == exact[reached]).all()
    assert (np.abs(asked[np.abs(asked) < least]) < least).all() and (np.abs(asked) >= np.abs(exact)).all()
    assert (np.sign(asked) == np.sign(exact)).all()


NIGHTS = np.array([[0.5, 0.6, 0.7, 0.8], [0.6, 0.7, 0.7, 0.9], [0.4, 0.6, 0.6, 0.7], [0.5, 0.6, 0.8, 0.8]])
"""Four nights of four problems."""


def test_the_noise_of_nights_is_what_successive_nights_differ_by_beyond_their_problems() -> None:
    moved = np.diff(NIGHTS, axis=0)
    steps, variances = moved.mean(axis=1), moved.var(axis=1, ddof=1) / 4
    assert steps == pytest.approx([0.075, -0.15, 0.1])
    assert variances == pytest.approx([0.000625, 0.000833, 0.001667], abs=1e-6)

    found = night_variances(steps, variances)

    assert found[0] == 0
    assert found[1] * (1 + PRIOR_NIGHTS) / 1 == pytest.approx(0.0025, abs=5e-5)
    assert found[3] * (3 + PRIOR_NIGHTS) / 3 == pytest.approx(0.005833, abs=5e-5)


def test_nights_that_their_problems_explain_have_no_noise_of_their_own() -> None:
    found = night_variances(np.full(30, 0.01), np.full(30, 0.01**2))
    assert found.tolist() == [0.0] * 31


def test_one_real_step_counts_as_no_more_than_three_standard_deviations() -> None:
    steps, variances = np.full(20, 0.01), np.full(20, 0.0001)
    steps[10] = 0.5
    usual = 0.0001 / 0.4549
    assert night_variances(steps, variances)[-1] == pytest.approx(
        (9 * usual - 0.0001) / 2 / (20 + PRIOR_NIGHTS)
    )


def test_a_pair_of_nights_without_common_problems_tells_nothing() -> None:
    steps, variances = np.array([0.05, np.nan, -0.05]), np.array([0.0001, np.nan, 0.0001])
    apart = night_variances(steps, variances)
    assert apart[2] == apart[1] and apart[3] == night_variances(steps[[0, 2]], variances[[0, 2]])[2]


def test_the_noise_of_nights_is_measured_on_the_newest_nights() -> None:
    rng = np.random.default_rng(3)
    steps, variances = rng.normal(0, 0.02, size=250), np.full(250, 0.0001)
    newest = slice(250 - NOISE_NIGHTS, 250)
    assert night_variances(steps, variances)[-1] == night_variances(steps[newest], variances[newest])[-1]


def test_the_noise_of_nights_is_in_the_error_and_its_degrees_of_freedom() -> None:
    tests = split_tests(
        np.array([0.03, 0.03, 0.1]), np.array([0.01, 0.01, 0.0]), np.full(3, 99.0), np.full(3, 100.0)
    )
    found = with_night_noise(tests, [(np.array([0.0003, 0.0, 0.0004]), np.full(3, 40.0))])
    assert found.errors == pytest.approx([0.02, 0.01, 0.02])
    own, nights = 0.0001**2 / 99, 0.0003**2 / 40
    assert found.dof == pytest.approx([0.0004**2 / (own + nights), 99, 40])
    assert scipy.stats.norm.sf(found.z[0]) == pytest.approx(scipy.stats.t.sf(1.5, found.dof[0]))
    assert found.z[1] == pytest.approx(tests.z[1])
    assert scipy.stats.norm.sf(found.z[2]) == pytest.approx(scipy.stats.t.sf(5.0, 40))  # all moved alike
