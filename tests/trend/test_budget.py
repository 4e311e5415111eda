"""Thresholds of a track from its budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genbench.ledger.history import TrackHistory
from genbench.stats.tracks.changepoints import alarm_threshold
from genbench.trend.detect import is_tested, thresholds
from tests.trend.histories import drawn, history, losses


def tasks(*, gating: int, others: int = 0, tiny: int = 0) -> TrackHistory:
    """Return a track with so many tasks of each sort."""
    sums = {f"g{at}": drawn(losses(3), 30) for at in range(gating)}
    sums |= {f"o{at}": drawn(losses(3), 30) for at in range(others)}
    sums |= {f"t{at}": drawn(losses(3), 19) for at in range(tiny)}
    found = history(sums)
    own = {name: replace(series, gating=not name.startswith("o")) for name, series in found.series.items()}
    return replace(found, series=own)


@pytest.mark.parametrize(("gating", "series"), [(1, 1), (2, 3), (5, 6)])
def test_several_gating_tasks_have_a_pooled_line_too(gating: int, series: int) -> None:
    found = thresholds(tasks(gating=gating))
    assert found.gating_series == series
    assert found.gating == found.of(gating=True) == alarm_threshold(series)


def test_other_tasks_share_a_second_budget() -> None:
    found = thresholds(tasks(gating=1, others=4))
    assert (found.gating_series, found.other_series) == (1, 4)
    assert found.others == found.of(gating=False) == alarm_threshold(4)


def test_tasks_with_few_problems_share_none() -> None:
    found = thresholds(tasks(gating=1, tiny=3))
    assert found.gating_series == 1
    assert not is_tested(tasks(gating=0, tiny=1).series["t0"])


def test_without_tested_tasks_there_is_no_threshold() -> None:
    found = thresholds(tasks(gating=0, tiny=2))
    assert (found.gating, found.others) == (None, None)


def test_the_tracks_own_budget_and_pace_count() -> None:
    found = tasks(gating=2)
    weekly = replace(found, track=replace(found.track, nights_per_year=52.0, alarms_per_year=0.5))
    assert thresholds(weekly).gating == alarm_threshold(3, 0.5, 52.0)
