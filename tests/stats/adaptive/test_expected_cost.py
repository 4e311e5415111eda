"""The expected cost of an adaptive run against closed forms and its own limits."""

from __future__ import annotations

import pytest

from genbench.stats.adaptive.expected_cost import ForeseenTask, foresee
from genbench.stats.adaptive.group_sequential import plan_looks, task_rule
from genbench.stats.comparison.power import ComponentsRecord


def task(
    n: int = 500, k: int = 16, *, within: float = 0.1, sure: float = 0.0, family: int = 2
) -> ForeseenTask:
    return ForeseenTask(
        task_rule(plan_looks(n, k), family=family),
        ComponentsRecord(between=0.1, within=within, change=0.0, source=""),
        64,
        sure,
    )


def test_precise_tasks_end_at_their_first_look() -> None:
    found = foresee({"a": task(20_000), "b": task(20_000)}, {}, seed=1, nights=500)
    assert found.share == pytest.approx(0.25, abs=0.02)
    assert found.non_inferior > 0.98


def test_hopeless_tasks_draw_everything() -> None:
    found = foresee({"a": task(100, within=5.0), "b": task(100, within=5.0)}, {}, seed=1, nights=500)
    assert found.share > 0.95
    assert found.non_inferior < 0.05


def test_an_unchanged_model_regresses_in_five_percent_of_nights_at_most() -> None:
    found = foresee({"a": task(), "b": task()}, {}, seed=1, nights=4000)
    assert found.regressed <= 0.055


def test_a_large_drop_is_found_with_a_part_of_the_samples() -> None:
    found = foresee({"a": task(), "b": task()}, {"a": 0.1}, seed=1, nights=500)
    assert found.regressed > 0.99
    assert found.share < 0.6
    assert found.non_inferior < 0.02


def test_sure_problems_cost_a_quarter() -> None:
    plain = foresee({"a": task(20_000, family=1)}, {}, seed=1, nights=200)
    sure = foresee({"a": task(20_000, sure=1.0, family=1)}, {}, seed=1, nights=200)
    assert plain.share == pytest.approx(4 * sure.share, rel=0.05)


def test_tasks_of_single_samples_are_drawn_by_problems() -> None:
    found = foresee({"a": task(4000, 1, family=1)}, {}, seed=2, nights=300)
    assert 0.25 <= found.share < 0.6
    assert found.tasks == {"a": found.share}


def test_the_same_seed_foresees_the_same() -> None:
    tasks = {"a": task(), "b": task(300, 1)}
    assert foresee(tasks, {"a": 0.03}, seed=3, nights=200) == foresee(tasks, {"a": 0.03}, seed=3, nights=200)
