"""The best of several noisy values, and what is left of it without luck."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special
import scipy.stats

from genbench.stats.tracks.winners_curse import best_of, range_level, range_tail, rerun_errors, shrunk


def test_the_best_of_equal_ones_lies_as_far_above_as_the_tables_say() -> None:
    assert [best_of(count) for count in (1, 2, 20)] == pytest.approx([0, 0.5642, 1.8675], abs=1e-3)


@pytest.mark.parametrize(("count", "quantile"), [(2, 2.772), (5, 3.858), (20, 5.012), (60, 5.764)])
def test_the_largest_difference_of_equal_ones_is_as_far_as_the_tables_say(
    count: int, quantile: float
) -> None:
    """Quantiles of Tukey's studentised range at 5 % and infinite degrees of freedom."""
    assert range_tail(quantile / np.sqrt(2), count) == pytest.approx(0.05, abs=2e-4)
    half_width = -scipy.special.ndtri((1 - range_level(count)) / 2)
    assert half_width == pytest.approx(quantile / np.sqrt(2), abs=1e-3)


def test_a_re_run_interval_gives_its_standard_error() -> None:
    assert rerun_errors(np.array([0.4]), np.array([0.439199])) == pytest.approx(0.01, abs=1e-5)


def test_equal_checkpoints_are_drawn_to_their_mean() -> None:
    rng = np.random.default_rng(3)
    values = 0.4 + rng.normal(scale=0.005, size=20)
    assert shrunk(values, np.full(20, 0.01)) == pytest.approx(np.full(20, values.mean()))


def test_checkpoints_that_differ_far_beyond_noise_stay() -> None:
    values = np.linspace(0.1, 0.9, 10)
    assert shrunk(values, np.full(10, 0.005)) == pytest.approx(values, abs=0.001)


def test_a_score_without_a_known_error_is_shrunk_like_the_others() -> None:
    values, errors = np.array([0.3, 0.4, 0.5]), np.array([0.05, np.nan, 0.05])
    assert shrunk(values, errors)[1] == pytest.approx(0.4)
    np.testing.assert_array_equal(shrunk(values, np.full(3, np.nan)), values)


def test_shrinking_takes_the_luck_off_on_average() -> None:
    rng = np.random.default_rng(4)
    truth = rng.normal(0.4, 0.01, size=(2000, 20))
    seen = truth + rng.normal(scale=0.01, size=truth.shape)
    best = seen.argmax(axis=1)
    rows = np.arange(len(seen))
    raw = (seen[rows, best] - truth[rows, best]).mean()
    left = np.mean([shrunk(row, np.full(20, 0.01))[at] for row, at in zip(seen, best, strict=True)])
    assert raw > 0.01
    assert abs(left - truth[rows, best].mean()) < 0.002
