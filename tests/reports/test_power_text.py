"""The text of a power plan."""

from __future__ import annotations

from typing import Any

from genbench.reports.terminal.estimate import power_text
from genbench.runs.power import DropAtK, PlannedTask, PowerPlan
from genbench.stats.comparison.power import ComponentsRecord


def task(**more: Any) -> PlannedTask:
    fields: dict[str, Any] = {
        "n": 198,
        "k_base": 8,
        "k_tuned": 8,
        "mde": 0.0346,
        "mde_gate": 0.041,
        "mde_at": (DropAtK(k=1, mde=0.09), DropAtK(k=8, mde=0.0346)),
        "mde_floor": 0.015,
        "finds": False,
        "k_needed": 12,
        "problems_needed": 264,
        "gating": True,
        "components": ComponentsRecord(between=0.12, within=0.13, change=0.005, source="assumed: mean 0.50"),
    }
    return PlannedTask(**(fields | more))


def plan(detect: float = 0.03, base: str | None = None, **tasks: PlannedTask) -> PowerPlan:
    return PowerPlan(
        format=1, suite="s.yaml", base=base, detect=detect, alpha=0.05, gate_alpha=0.0125, tasks=tasks
    )


def advice(item: PlannedTask, detect: float = 0.03) -> str:
    lines = power_text(plan(detect, gpqa=item)).splitlines()
    return next(line for line in lines if line.startswith("gpqa: "))


def test_the_table_has_a_column_for_each_k() -> None:
    head, _, row = power_text(plan(gpqa=task())).splitlines()[:3]
    assert head.split()[-5:] == ["gate", "k=1", "k=8", "endless", "k"]
    assert row.split() == ["gpqa", "198", "x", "8", "3.5", "4.1", "9.0", "3.5", "1.5"]


def test_a_k_that_only_another_task_has_is_left_empty() -> None:
    other = task(mde_at=(DropAtK(k=8, mde=0.05),))
    row = power_text(plan(gpqa=task(), aime=other)).splitlines()[3]
    assert row.split() == ["aime", "198", "x", "8", "3.5", "4.1", "-", "5.0", "1.5"]


def test_a_task_that_does_not_gate_has_no_drop_in_the_gate() -> None:
    row = power_text(plan(gpqa=task(gating=False, mde_gate=None))).splitlines()[2]
    assert row.split()[5] == "-"


def test_other_k_of_base_and_tuned_are_both_shown() -> None:
    assert "198 x 64/8" in power_text(plan(gpqa=task(k_base=64)))


def test_a_plan_that_finds_the_drop_needs_nothing() -> None:
    assert advice(task(finds=True), detect=0.04) == "gpqa: finds a drop of 4.0 points as planned"


def test_more_samples_or_more_problems_find_it() -> None:
    assert advice(task()) == "gpqa: finds 3.0 points with k = 12, or with 264 problems like these at this k"


def test_a_noisy_base_needs_more_samples_too() -> None:
    assert "more samples of only tuned do not find 3.0 points" in advice(task(k_needed=None))


def test_too_few_problems_cannot_be_made_up_by_samples() -> None:
    found = advice(task(k_needed=None, problems_needed=1784), detect=0.01)
    assert "no number of samples finds 1.0 points on 198 problems" in found
    assert "1,784 problems like these" in found


def test_the_text_says_whose_k_is_varied_and_where_the_variances_come_from() -> None:
    assert "N samples a problem of both runs" in power_text(plan(gpqa=task()))
    stored = power_text(plan(base="runs/b", gpqa=task()))
    assert "N samples a problem of the tuned run, with the stored base" in stored
    assert "gpqa: assumed: mean 0.50" in stored
