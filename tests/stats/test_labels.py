"""Judged means that labels of people correct: worked figures, edges, and coverage on simulated judges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.labels import cell, lenience_found, paired
from genbench.stats.labels import (
    ErrorRates,
    corrected_mean,
    fisher_exact,
    labels_needed,
    rates_by_class,
    tipping_point,
    without_errors,
)

LABELS = np.array([1, 0, 1, 1, 0, 1, 0, 1, 1, 0.0])
JUDGED = np.array([1, 0, 1, 1, 1, 1, 0, 1, 0, 0.0])
REST = np.array([1.0] * 26 + [0.0] * 14)


def test_the_worked_figures() -> None:
    found = corrected_mean(LABELS, JUDGED, REST, few=0)
    shown = (found.weight * 40 / 50, found.value, found.se, found.labels, found.judge)
    assert shown == pytest.approx((0.5293, 0.6265, 0.1389, 0.6, 0.64), abs=5e-5)
    assert (found.n, found.rest) == (10, 40)
    share = without_errors(0.70, 500, ErrorRates(0.90, 140, 0.85, 60))
    assert share == pytest.approx((0.7333, 0.0404, 0.6542, 0.8125), abs=5e-5)


def test_few_labels_of_a_class_stand_alone() -> None:
    found = corrected_mean(LABELS, JUDGED, REST)
    assert found.weight == 0 and found.value == found.labels == 0.6 and found.ci == found.labels_ci


def test_a_judge_without_skill_changes_nothing_and_is_refused_with_known_errors() -> None:
    rng = np.random.default_rng(1)
    labels = (rng.random(200) < 0.5).astype(float)
    found = corrected_mean(labels, np.ones(200), np.ones(800))
    assert found.weight == 0 and found.value == labels.mean()
    with pytest.raises(ValueError, match=r"q0 \+ q1 - 1 is 0.10, wanted 0.2 or more"):
        without_errors(0.5, 100, ErrorRates(0.6, 50, 0.5, 50))


def test_means_of_several_samples_are_weighed_by_their_own_spread() -> None:
    rng = np.random.default_rng(2)
    truth = rng.random((1000, 8)) < rng.beta(2, 2, (1000, 1))
    judged = np.where(rng.random(truth.shape) < 0.9, truth, ~truth).astype(float)
    means = judged.mean(axis=1)
    found = corrected_mean(truth[:300, 0].astype(float), judged[:300, 0], means[300:], own=means[:300])
    assert 0.7 < found.weight <= 1
    assert found.ci[1] - found.ci[0] < 0.75 * (found.labels_ci[1] - found.labels_ci[0])


@pytest.mark.slow
def test_one_labelled_sample_of_several_covers() -> None:
    rng, inside = np.random.default_rng(5), 0
    for _ in range(500):
        ability = rng.beta(2, 2, (400, 1))
        truth = rng.random((400, 4)) < ability
        judged = np.where(rng.random(truth.shape) < 0.9, truth, ~truth).astype(float)
        means = judged.mean(axis=1)
        found = corrected_mean(truth[:150, 0].astype(float), judged[:150, 0], means[150:], own=means[:150])
        inside += found.ci[0] <= 0.5 <= found.ci[1]
    assert inside >= 0.92 * 500


def test_a_mean_near_the_ceiling_has_an_interval() -> None:
    found = corrected_mean(np.ones(50), np.ones(50), np.ones(100))
    assert found.ci[0] == pytest.approx(0.925, abs=0.01) and found.ci[1] == 1
    none = corrected_mean(np.zeros(60), np.zeros(60), np.zeros(100), bounds=(-1, 1))
    assert none.ci[0] < -0.03 and none.ci[1] > 0.03 and none.p == 1


@pytest.mark.parametrize(
    "tables", [((3, 20), (11, 22)), ((0, 5), (5, 5)), ((7, 9), (7, 9)), ((40, 100), (61, 120))]
)
def test_fishers_test_is_that_of_scipy(tables: tuple[tuple[int, int], tuple[int, int]]) -> None:
    (x, m), (y, n) = tables
    wanted = stats.fisher_exact([[x, m - x], [y, n - y]]).pvalue
    assert fisher_exact(*tables) == pytest.approx(wanted)


def test_errors_are_counted_by_class() -> None:
    assert rates_by_class([True, True, False, False, False], [True, False, False, True, False]) == (
        1,
        2,
        2,
        3,
    )


def test_what_lenience_explains_a_gain() -> None:
    assert tipping_point(0.6, 0.65) == pytest.approx(0.125)
    assert tipping_point(0.65, 0.6) == pytest.approx(0.125)
    rates = ErrorRates(0.9, 100, 0.85, 100)
    truth = (0.6 + 0.85 - 1) / 0.75
    assert tipping_point(0.6, 0.65, rates) == pytest.approx(0.05 / (1 - truth))
    assert math.isinf(tipping_point(1.0, 1.0))


def test_how_many_labels_are_worth_it() -> None:
    alone, helped = labels_needed(0.0, 1000, 100), labels_needed(0.8, 1000, 100)
    assert alone == pytest.approx(0.0992, abs=1e-3)
    assert helped / alone == pytest.approx(math.sqrt(1 - 0.64 * 0.9))


@pytest.mark.slow
@pytest.mark.parametrize(("labels", "true"), [(50, 0.5), (100, 0.7), (200, 0.95)])
def test_corrected_intervals_cover_and_are_never_wider(labels: int, true: float) -> None:
    rng = np.random.default_rng(20261126)
    for judge in ((0.97, 0.97), (0.7, 0.7)):
        for simulate in (cell, paired):
            found = simulate(rng, labels, true, judge, 800)
            # 93 % or more with 6,000 repetitions; 800 have a standard error of 0.9 points.
            assert found["coverage"] >= 93 - 3 * 0.9, (simulate, judge)
            assert found["widest"] <= 1.05


def test_a_judge_that_is_lenient_to_one_side_is_found() -> None:
    assert lenience_found(np.random.default_rng(3), 200, 300) >= 80
