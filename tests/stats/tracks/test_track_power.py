"""The law of nights agrees with the simulations of the trend rule."""

from __future__ import annotations

import pytest

from genbench.stats.comparison.power import assumed_components
from genbench.stats.tracks.changepoints import alarm_threshold
from genbench.stats.tracks.track_power import (
    MOST_NIGHTS,
    chance_to_find,
    drop_found,
    night_noise,
    nights_to_find,
    pooled_noise,
)

GPQA = night_noise(assumed_components(0.417, rho=0.98), 198, 8)
H = alarm_threshold(6)


def test_two_points_of_gpqa_are_found_within_a_week() -> None:
    # Simulated: 95 % within 7 nights, 4 in the median.
    assert chance_to_find(GPQA, 0.02, 7, H) == pytest.approx(0.95, abs=0.04)
    assert nights_to_find(GPQA, 0.02, H) in (5, 7)


def test_one_point_of_gpqa_takes_a_month() -> None:
    # Simulated: 89 % within 30 nights. One window alone finds a little less than the search over all.
    assert 0.75 < chance_to_find(GPQA, 0.01, 30, H) < 0.92


def test_more_nights_find_smaller_drops_up_to_the_longest_window() -> None:
    drops = [drop_found(GPQA, nights, H) for nights in (1, 2, 7, 40, 300)]
    assert drops == sorted(drops, reverse=True) and drops[-1] == drops[-2]
    assert MOST_NIGHTS == 40


def test_what_no_window_finds_is_none() -> None:
    assert nights_to_find(GPQA, 0.001, H) is None


def test_pooling_equal_tasks_is_worth_as_many_problems() -> None:
    assert pooled_noise([GPQA] * 4).variance == pytest.approx(GPQA.variance / 4)
    assert pooled_noise([]).variance == 0.0
