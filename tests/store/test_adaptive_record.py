"""The records of an adaptive run: samples in force at a look, the order of drawing, and reading them back."""

from __future__ import annotations

import pytest

from genbench.stats.adaptive.group_sequential import plan_looks
from genbench.store.manifest import (
    AdaptivePlan,
    AdaptiveRecord,
    AdaptiveState,
    BaseRecord,
    TaskPlan,
    place_of,
    plan_counts,
)

IDS: dict[str, str | None] = {f"p{i}": None for i in range(8)}


def plan(*, by_problems: bool = False, sure: tuple[str, ...] = (), k: int = 8) -> TaskPlan:
    """Return a plan of two looks at eight problems."""
    places = sorted(place_of(name, None) for name in IDS)
    return TaskPlan(
        n=8,
        k=k,
        by_problems=by_problems,
        steps=(4, 8),
        fractions=(0.5, 1.0),
        cuts=(places[3], places[7]) if by_problems else (),
        sure=sure,
        margin=0.03,
        gating=True,
        alpha=0.05,
        interval=(0.98, 0.99),
    )


def record(task: TaskPlan, reached: int) -> AdaptiveRecord:
    base = BaseRecord(path="b", uid="u", model="base", model_identity="i", digest="d")
    whole = AdaptivePlan(base=base, alpha=0.05, pooled_margin=0.01, tasks={"sums": task})
    return AdaptiveRecord(plan=whole, state=AdaptiveState(reached={"sums": reached}))


def test_every_problem_has_the_samples_of_its_look_and_a_sure_one_a_quarter() -> None:
    found = plan_counts(plan(sure=("p1", "p2")), 1, IDS)
    assert found == {name: 1 if name in ("p1", "p2") else 4 for name in IDS}
    assert plan_counts(plan(sure=("p1",)), 2, IDS) == dict.fromkeys(IDS, 8)


@pytest.mark.parametrize("look", [1, 2, 3, 4])
def test_the_samples_in_force_are_those_that_were_planned(look: int) -> None:
    looks = plan_looks(8, 8)
    task = plan(sure=("p1", "p6")).model_copy(update={"steps": looks.steps})
    planned = looks.samples(look, [name in task.sure for name in IDS])
    assert list(plan_counts(task, look, IDS).values()) == planned.tolist()


def test_a_look_by_problems_has_those_up_to_its_cut_with_all_samples() -> None:
    first, last = (plan_counts(plan(by_problems=True, k=2, sure=("p0",)), look, IDS) for look in (1, 2))
    assert len(first) == 4
    assert set(first) < set(last) == set(IDS)
    assert last["p0"] == 1
    assert {last[name] for name in IDS if name != "p0"} == {2}


def test_problems_of_one_group_are_drawn_together() -> None:
    assert place_of("a", "g") == place_of("b", "g") != place_of("a", None)


def test_samples_in_force_are_those_of_the_look_that_was_reached() -> None:
    problems = {name: {"group": None} for name in IDS}
    found = record(plan(), 2).counts("sums", problems)
    assert found == dict.fromkeys(IDS, 8)
    assert record(plan(), 1).counts("other", problems) is None


@pytest.mark.parametrize("by_problems", [False, True])
def test_a_record_comes_back_from_json_unchanged(by_problems: bool) -> None:
    found = record(plan(by_problems=by_problems), 1)
    assert AdaptiveRecord.from_json(found.to_json(), "manifest.json") == found
