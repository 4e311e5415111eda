"""What an adaptive run of a suite is expected to cost, from only its data and from a stored base."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.reports.terminal.estimate import power_text
from genbench.runs.power import PowerPlan, foreseen_nights, power
from tests.adaptive_runs import write_suite


@pytest.fixture
def suite(tmp_path: Path) -> str:
    return str(write_suite(tmp_path))


def test_the_plan_has_no_change_each_task_alone_and_all_together(suite: str) -> None:
    found = power(suite, detect=0.1, adaptive=True)
    assert [night.drops for night in found.adaptive] == [
        {},
        {"sums": 0.1},
        {"singles": 0.1},
        {"sums": 0.1, "singles": 0.1},
    ]
    unchanged, *dropped = found.adaptive
    assert unchanged.regressed <= 0.06
    assert dropped[-1].regressed > unchanged.regressed
    assert 0.25 <= dropped[-1].share <= unchanged.share <= 1


def test_the_cost_is_printed_and_read_back(suite: str) -> None:
    found = power(suite, detect=0.1, adaptive=True)
    shown = power_text(found)
    assert "nothing changed" in shown
    assert "sums -10.0" in shown
    assert "all tasks -10.0" in shown
    assert "No base is stored" in shown
    assert PowerPlan.from_json(found.to_json(), "plan") == found


def test_without_the_option_the_plan_has_no_cost(suite: str) -> None:
    found = power(suite, detect=0.1)
    assert found.adaptive == ()
    assert "adaptive" not in found.to_json()
    assert "run --adaptive" not in power_text(found)


def test_a_suite_with_one_task_has_no_row_for_all_together(suite: str) -> None:
    found = power(suite, detect=0.1, tasks=["sums"], adaptive=True)
    assert [night.drops for night in found.adaptive] == [{}, {"sums": 0.1}]
    assert foreseen_nights([], {}, {}, [], 0.1) == ()
