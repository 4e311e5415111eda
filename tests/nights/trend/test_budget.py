"""Thresholds of a track from its budget."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genbench.nights.ledger.history import TrackHistory
from genbench.nights.trend.rules import alarm_budget, is_tested
from genbench.stats.tracks.changepoints import alarm_threshold
from tests.nights.trend.histories import drawn, history, losses


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
    found = alarm_budget(tasks(gating=gating))
    assert found.series == series
    assert found.threshold == found.threshold_of(gating=True) == alarm_threshold(series)


def test_other_tasks_share_a_second_budget() -> None:
    found = alarm_budget(tasks(gating=1, others=4))
    assert (found.series, found.watched) == (1, 4)
    assert found.watch_threshold == found.threshold_of(gating=False) == alarm_threshold(4)


def test_tasks_with_few_problems_share_none() -> None:
    found = alarm_budget(tasks(gating=1, tiny=3))
    assert found.series == 1
    assert not is_tested(tasks(gating=0, tiny=1).series["t0"])


def test_without_alarm_tasks_there_is_no_threshold() -> None:
    found = alarm_budget(tasks(gating=0, tiny=2))
    assert (found.threshold, found.watch_threshold) == (None, None)


def test_the_tracks_own_budget_and_pace_count() -> None:
    found = tasks(gating=2)
    weekly = replace(found, track=replace(found.track, nights_per_year=52.0, alarms_per_year=0.5))
    assert alarm_budget(weekly).threshold == alarm_threshold(3, 0.5, 52.0)
