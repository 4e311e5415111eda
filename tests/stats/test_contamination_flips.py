"""Miracle flips and the test of their number, against scipy and simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from genbench.stats.contamination import (
    flip_test,
    flips_power,
    least_leak,
    miracle_flips,
    share_of_gain,
    step_size,
    twin_gap,
)


def test_only_problems_that_were_never_solved_can_flip() -> None:
    base = np.array([0.0, 1 / 64, 2 / 64, 0.0, 1.0])
    tuned = np.array([1.0, 15 / 16, 1.0, 14 / 16, 1.0])
    found = miracle_flips(base, tuned)
    assert found.never.tolist() == [True, True, False, True, False]
    assert found.flipped.tolist() == [True, True, False, False, False]
    assert (found.count, found.chances) == (2, 3)


def test_a_problem_without_scored_samples_is_no_chance() -> None:
    found = miracle_flips(np.array([np.nan, 0.0]), np.array([1.0, np.nan]))
    assert (found.count, found.chances) == (0, 1)


def test_share_of_the_gain_is_that_of_the_flipped_problems() -> None:
    base, tuned = np.array([0.0, 0.5, 0.5]), np.array([1.0, 1.0, 0.0])
    assert share_of_gain(base, tuned, miracle_flips(base, tuned)) == pytest.approx(1.0)
    tuned = np.array([1.0, 1.0, 1.0])
    assert share_of_gain(base, tuned, miracle_flips(base, tuned)) == pytest.approx(0.5)


def test_there_is_no_share_without_a_gain() -> None:
    base, tuned = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    assert share_of_gain(base, tuned, miracle_flips(base, tuned)) is None


@pytest.mark.parametrize(("own", "earlier"), [(3, 0), (5, 2), (1, 7), (12, 12)])
def test_p_is_that_of_an_exact_binomial_test(own: int, earlier: int) -> None:
    found = flip_test(own, 40, earlier, 120)
    wanted = scipy.stats.binomtest(own, own + earlier, 0.25, alternative="greater").pvalue
    assert found == pytest.approx(wanted, rel=1e-9)


def test_no_flip_is_never_significant() -> None:
    assert flip_test(0, 40, 0, 120) == 1.0


def test_there_is_no_test_without_earlier_runs() -> None:
    assert flip_test(3, 40, 0, 0) is None


@pytest.mark.parametrize("rate", [0.005, 0.02, 0.1])
def test_clean_models_are_suspected_no_more_often_than_promised(rate: float) -> None:
    rng = np.random.default_rng(4)
    own, earlier = rng.binomial(80, rate, size=4000), rng.binomial(240, rate, size=4000)
    suspected = [
        count >= 2 and (flip_test(int(count), 80, int(past), 240) or 0) <= 0.05
        for count, past in zip(own, earlier, strict=True)
    ]
    assert np.mean(suspected) <= 0.05


def test_a_leak_of_a_few_problems_is_found() -> None:
    assert (flip_test(5, 80, 0, 240) or 1) < 0.001


def test_a_step_is_the_change_of_the_problems_that_base_solves_sometimes() -> None:
    base = np.array([0.0, 0.5, 1.0, np.nan, 0.25, 0.25])
    tuned = np.array([1.0, 0.8, 0.6, 1.0, np.nan, 1.0])  # the first and the last may be leaked
    assert step_size(base, tuned) == pytest.approx(((0.3**2 + 0.4**2) / 2) ** 0.5)
    assert step_size(np.zeros(3), np.ones(3)) == 0


def test_the_worked_twins() -> None:
    originals = np.array([1, 1, 1, 1, 0, 1, 1, 0, 1, 1.0])
    twins = np.array([1, 1, 0, 1, 0, 1, 1, 0, 1, 0.0])
    found = twin_gap(twins - originals)
    assert (found.gap, found.se, found.p) == pytest.approx((-0.2, 0.1333, 0.25), abs=5e-5)


def test_the_power_of_flips_is_that_of_the_test() -> None:
    rng = np.random.default_rng(1)
    base = np.where(rng.random(200) < 0.4, 0.0, 0.5)

    def power(leak: float) -> float:
        return flips_power(base, leak, earlier=0, earlier_chances=240, alpha=0.05)

    assert power(0.0) == 0
    assert power(0.02) < power(0.10) and power(0.10) > 0.95
    least = least_leak(base, earlier=0, earlier_chances=240, alpha=0.05)
    assert least is not None and 0.02 < least < 0.08
    assert power(least) >= 0.75 > power(least - 0.02)


def test_nothing_can_be_found_where_nothing_can_flip() -> None:
    base = np.full(50, 0.5)
    assert flips_power(base, 0.5, earlier=0, earlier_chances=100, alpha=0.05) == 0
    assert least_leak(base, earlier=0, earlier_chances=100, alpha=0.05) is None
    assert flips_power(np.zeros(50), 0.5, earlier=0, earlier_chances=0, alpha=0.05) == 0
