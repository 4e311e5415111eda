"""The plan of a track of nights, in the record and as text."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import scipy.stats

from genbench.errors import InputError
from genbench.reports.terminal.estimate import power_text
from genbench.runs.power import PowerPlan, plan_nights, power
from genbench.stats.tracks.changepoints import alarm_threshold
from tests.ready_runs import SUITE, rows, write_lines


@pytest.fixture
def plan(tmp_path: Path) -> PowerPlan:
    write_lines(tmp_path / "rows.jsonl", rows(300))
    (tmp_path / "suite.yaml").write_text(SUITE)
    return power(str(tmp_path / "suite.yaml"), detect=0.02)


def test_one_gating_task_has_the_whole_budget_and_no_pooled_line(plan: PowerPlan) -> None:
    nights = plan_nights(plan.tasks, detect=0.02, nights=7)
    assert nights.threshold == pytest.approx(alarm_threshold(1)) and nights.pooled is None
    task = nights.tasks["sums"]
    assert task.drop == next(cell.drop for cell in task.drop_in if cell.nights == 7)
    assert (task.chance >= 0.8) == (task.drop <= 0.02)


def test_gating_tasks_share_one_budget_and_the_others_a_second(plan: PowerPlan) -> None:
    task = plan.tasks["sums"]
    tasks = {"a": task, "b": task, "c": task.model_copy(update={"gating": False})}
    nights = plan_nights(tasks, detect=0.02, nights=7, alarms_per_year=2)
    assert nights.threshold == pytest.approx(alarm_threshold(3, 2))
    assert nights.watch_threshold == pytest.approx(alarm_threshold(1, 2))
    assert nights.pooled is not None and nights.pooled.drop < nights.tasks["a"].drop


def test_the_text_has_a_row_for_each_task(plan: PowerPlan) -> None:
    nights = plan_nights(plan.tasks, detect=0.02, nights=7)
    text = power_text(plan.model_copy(update={"nights": nights}))
    assert "found within nights:" in text and "at 1 false alarm in 365 nights" in text
    assert "found within" not in power_text(plan)


@pytest.mark.parametrize("changes", [{"nights": 0}, {"nights": 400}, {"nights": 7, "alarms_per_year": 0}])
def test_numbers_out_of_range_are_refused(plan: PowerPlan, changes: dict[str, float]) -> None:
    with pytest.raises(InputError, match="wanted"):
        plan_nights(plan.tasks, detect=0.02, **changes)  # type: ignore[arg-type]


def test_the_noise_that_nights_have_by_themselves_is_in_the_plan(plan: PowerPlan) -> None:
    without = plan_nights(plan.tasks, detect=0.02, nights=7)
    drawn = without.tasks["sums"].drop
    nights = plan_nights(
        plan.tasks, detect=0.02, nights=7, track="nightly", night_variances={"sums": 0.01**2, "other": 0.5}
    )
    error = drawn / (without.threshold + scipy.stats.norm.ppf(0.8))
    wider = math.sqrt(error**2 + 0.01**2 * (1 / 7 + 1 / 60))
    assert nights.tasks["sums"].drop == pytest.approx(wider * drawn / error)
    assert (nights.track, nights.night_noise) == ("nightly", {"sums": 0.01})
    text = power_text(plan.model_copy(update={"nights": nights}))
    assert "Nights of track nightly move by themselves, beyond their samples: sums ±1.0 points." in text


def test_a_track_that_does_not_know_a_task_says_so(plan: PowerPlan) -> None:
    nights = plan_nights(plan.tasks, detect=0.02, nights=7, track="nightly", night_variances={"other": 0.5})
    text = power_text(plan.model_copy(update={"nights": nights}))
    assert "The noise of the nights of track nightly is not known for sums." in text
    assert "do not move" not in text
    still = plan_nights(plan.tasks, detect=0.02, nights=7, track="nightly", night_variances={"sums": 0.0})
    text = power_text(plan.model_copy(update={"nights": still}))
    assert "The nights of track nightly do not move by themselves, beyond their samples." in text


def test_the_pooled_line_has_the_noise_of_the_pooled_nights(plan: PowerPlan) -> None:
    tasks = {"a": plan.tasks["sums"], "b": plan.tasks["sums"]}
    known = {"a": 0.0, "b": 0.0, "": 0.01**2}
    without, noisy = (
        plan_nights(tasks, detect=0.02, nights=7, track="nightly", night_variances=own) for own in ({}, known)
    )
    assert noisy.tasks["a"].drop == without.tasks["a"].drop
    assert without.pooled is not None and noisy.pooled is not None and without.threshold is not None
    z = without.threshold + scipy.stats.norm.ppf(0.8)
    error = without.pooled.drop / z
    assert noisy.pooled.drop == pytest.approx(z * math.sqrt(error**2 + 0.01**2 * (1 / 7 + 1 / 60)))
