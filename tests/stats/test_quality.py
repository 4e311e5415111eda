"""Whether a benchmark tells models apart: the worked figures, and laws by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from genbench.stats.quality import (
    ManySamples,
    abilities,
    beyond,
    decision_accuracy,
    kendall_tau,
    key_wrong,
    many_samples,
    moments_of,
    reliability,
    signal_to_noise,
    undecided,
    useful,
)

RIGHT = np.array([8, 8, 7, 5, 3, 1, 0, 0, 8, 6.0])
EIGHT = np.full(10, 8.0)
MODELS = (0.30, 0.34, 0.41, 0.45)
LAST = (0.440, 0.452, 0.446, 0.458, 0.454)
A, B = (0.30, 0.34, 0.41, 0.45, 0.38), (0.52, 0.50, 0.61, 0.66, 0.60)


def test_the_worked_beta_binomial() -> None:
    found = abilities(RIGHT, EIGHT)
    shown = (found.mean, found.variance, found.icc, found.strength)
    assert shown == pytest.approx((0.575, 0.174306, 0.67231, 0.48741), abs=1e-5)
    wanted = [0.976, 0.976, 0.858, 0.622, 0.386, 0.151, 0.033, 0.033, 0.976, 0.740]
    assert found.posterior == pytest.approx(wanted, abs=5e-4)
    assert useful([found, found]) == pytest.approx(
        float((4 * np.array(wanted) * (1 - np.array(wanted))).sum()), abs=1e-2
    )


def test_the_worked_signal_and_noise() -> None:
    found = signal_to_noise(MODELS, LAST)
    assert (found.signal, found.noise) == pytest.approx((0.4, 0.015713), abs=1e-6)
    assert found.ratio == pytest.approx(25.46, abs=5e-3)


def test_the_worked_orders() -> None:
    assert kendall_tau(A, B) == pytest.approx(0.8)
    assert kendall_tau((1, 1, 2, 3), (1, 2, 2, 3)) == pytest.approx(
        stats.kendalltau((1, 1, 2, 3), (1, 2, 2, 3))[0]
    )
    assert kendall_tau((1, 1), (1, 2)) is None


def test_the_worked_keys() -> None:
    assert [key_wrong(m) for m in (1, 2, 3, 5)] == pytest.approx([0.2222, 0.8000, 0.9825, 0.9999], abs=5e-5)


def test_problems_that_all_solve_tell_nothing() -> None:
    easy = abilities(np.array([8, 8, 8, 8, 0.0]), np.full(5, 8.0))
    assert undecided(easy, easy) == 1.0 and useful([easy, easy]) < 0.5
    sure = abilities(np.full(5, 8.0), np.full(5, 8.0))
    assert useful([sure, sure]) == 0
    alike = abilities(np.array([4, 5, 3, 4.0]), np.full(4, 8.0))
    assert alike.icc == 0 and useful([alike, alike]) == pytest.approx(4.0, abs=0.1)


def test_models_far_apart_keep_their_order() -> None:
    rng = np.random.default_rng(1)
    far = np.stack([rng.random(300) < p for p in (0.2, 0.5, 0.8)]).astype(float)
    near = np.stack([rng.random(40) < 0.5 for _ in range(3)]).astype(float)
    assert decision_accuracy(far).accuracy > 0.999 and decision_accuracy(far).apart
    found = decision_accuracy(near)
    assert found.low <= found.accuracy < 0.98 and found.low <= 0.7 and not found.apart


def test_equal_models_keep_their_order_as_a_coin_does() -> None:
    rng = np.random.default_rng(3)
    drawn = rng.binomial(4, rng.beta(0.8, 0.8, (600, 1, 150)), (600, 2, 150)) / 4
    found = [decision_accuracy(means) for means in drawn]
    assert np.mean([one.accuracy for one in found]) == pytest.approx(0.5, abs=0.05)
    assert np.mean([one.apart for one in found]) <= 0.075  # 5 % and two and a half errors
    same = decision_accuracy(np.tile(rng.random(40), (2, 1)))
    assert (same.accuracy, same.apart) == (0.5, False)


def test_groups_of_problems_are_one_draw() -> None:
    rng = np.random.default_rng(4)
    means = np.repeat(rng.random((2, 20)) + np.array([[0.0], [0.3]]), 10, axis=1)
    groups = [str(place // 10) for place in range(200)]
    assert decision_accuracy(means).accuracy > decision_accuracy(means, groups).accuracy
    assert decision_accuracy(means, groups).accuracy == decision_accuracy(means[:, ::10]).accuracy


def test_problems_on_which_two_sure_models_differ_are_whole_ones() -> None:
    right = np.array([[8.0] * 130 + [0.0] * 70, [8.0] * 200])
    found = useful([abilities(row, np.full(200, 8.0)) for row in right])
    assert 60 < found < 75


def test_halves_agree_where_models_differ() -> None:
    rng = np.random.default_rng(2)
    skill = np.linspace(0.2, 0.8, 10)
    long = (rng.random((10, 400)) < skill[:, None]).astype(float)
    short = (rng.random((10, 12)) < skill[:, None]).astype(float)
    more, less = reliability(long, seed=1), reliability(short, seed=1)
    assert more is not None and less is not None and more > 0.95 > less


def test_the_worked_curve_of_many_samples() -> None:
    law = ManySamples(np.array([0.0, 0.5]), np.full(2, 0.5), np.full(2, 1.5))
    assert [law.pass_at(k)[0] for k in (1, 8, 64, 256)] == pytest.approx(
        [0.25, 0.6291, 0.8603, 0.9296], abs=5e-5
    )
    assert law.pass_at(8)[1] == pytest.approx(0.6291 / 2, abs=5e-5)


def test_what_more_samples_would_solve_is_told_up_to_four_times_as_many() -> None:
    rng = np.random.default_rng(4)
    truth = rng.beta(1.2, 1.5, 400)
    counts = np.full(400, 8.0)
    right = rng.binomial(8, truth).astype(float)
    wanted = float(np.mean(1 - (1 - truth) ** 32))
    found = beyond(right, counts, 32, seed=1)
    assert not isinstance(found, str)
    assert found[1] <= wanted <= found[2] and found[0] == pytest.approx(wanted, abs=0.03)
    assert beyond(right, counts, 64, seed=1) == "at most 32 samples, 4 times those that were drawn"
    hard = np.where(np.arange(400) < 160, 0.0, right)
    assert "have no right sample: nobody knows their tail" in str(beyond(hard, counts, 16, seed=1))


def test_problems_that_are_never_solved_are_told_from_hard_ones() -> None:
    rng = np.random.default_rng(5)
    truth = np.where(rng.random(3000) < 0.2, 0.0, rng.beta(3, 3, 3000))
    units = moments_of(rng.binomial(16, truth).astype(float), np.full(3000, 16.0))
    law = many_samples(units.sum(axis=0, keepdims=True))
    assert law.never[0] == pytest.approx(0.2, abs=0.03)
    assert law.pass_at(64)[0] == pytest.approx(0.8, abs=0.03)
