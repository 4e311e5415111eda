"""The false-alarm band: its coverage in simulation, its k, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.errors import InputError, NotComparableError
from genbench.stats.noise import false_alarm_band


@pytest.mark.parametrize(("n", "k"), [(60, 1), (30, 8), (100, 4)])
def test_nineteen_of_twenty_re_runs_stay_within_the_band(n: int, k: int) -> None:
    rng = np.random.default_rng(1)
    difficulty = rng.beta(0.6, 0.6, size=(n, 1))
    within = 0
    for _ in range(600):
        first, second, third = ((rng.random((n, k)) < difficulty).astype(float) for _ in range(3))
        noise = false_alarm_band(first, second)
        within += abs(third.mean() - first.mean()) <= noise.band
    assert within / 600 == pytest.approx(0.95, abs=0.03)


def test_the_band_shrinks_with_k() -> None:
    rng = np.random.default_rng(1)
    noise = false_alarm_band(
        rng.integers(0, 2, (50, 4)).astype(float), rng.integers(0, 2, (50, 4)).astype(float)
    )
    assert noise.band_at(4, 4) == pytest.approx(noise.band)
    assert noise.band_at(16, 16) == pytest.approx(noise.band / 2)


def test_the_same_seed_measures_only_what_the_engine_does_not_repeat() -> None:
    scores = np.random.default_rng(1).integers(0, 2, (50, 4)).astype(float)
    still = false_alarm_band(scores, scores, same_seed=True)
    assert (still.difference, still.changed_samples) == (0.0, 0.0)
    assert still.band == pytest.approx(1.96 / 200, rel=1e-3)  # no zero width: one sample may differ
    assert still.expected
    flipped = scores.copy()
    flipped[0, 0] = 1 - flipped[0, 0]
    noise = false_alarm_band(scores, flipped, same_seed=True)
    assert noise.band == pytest.approx(1.96 / 200, rel=1e-3)
    assert noise.changed_samples == 1 / 200
    assert noise.band_at(1, 1) == noise.band


def test_the_band_of_one_problem_is_no_larger_than_a_difference_can_be() -> None:
    noise = false_alarm_band(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert noise.band == 1.0 and noise.expected


def test_a_difference_beyond_the_band_is_not_expected() -> None:
    noise = false_alarm_band(
        np.tile([[0.0, 0.0, 0.0, 1.0]], (60, 1)), np.tile([[1.0, 1.0, 1.0, 0.0]], (60, 1))
    )
    assert not noise.expected


def test_runs_of_other_shapes_are_refused() -> None:
    with pytest.raises(NotComparableError, match="2 and 1 problems"):
        false_alarm_band([[1.0], [0.0]], [[1.0]])
    with pytest.raises(NotComparableError, match="same number of samples"):
        false_alarm_band([[1.0]], [[1.0, 0.0]], same_seed=True)
    with pytest.raises(InputError, match="no scored sample"):
        false_alarm_band([[None]], [[1.0]])
