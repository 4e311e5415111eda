"""The tasks that decide a gate: declared, chosen, and missing in one side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from genbench.analysis.comparison.decisions import gate_family, gate_margins
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError
from tests.analysis.score_sides import score_side, side_task


def tasks(*names: str, gating: tuple[str, ...] = ()) -> dict[str, SideTask]:
    return {name: side_task([[1.0]], name, gating=name in gating) for name in names}


def side(path: str, *names: str, gating: tuple[str, ...] = ()) -> Side:
    return score_side(path, **tasks(*names, gating=gating))


def test_without_declared_tasks_every_task_gates() -> None:
    family = gate_family(side("b", "x", "y"), side("t", "x", "y"), ["x", "y"], [])
    assert (family.names, family.absent, family.notes) == (None, (), ())


def test_chosen_tasks_decide_and_what_one_side_lacks_does_not_matter() -> None:
    base, tuned = side("b", "x", "y", gating=("y",)), side("t", "x")
    family = gate_family(base, tuned, ["x"], ["x", "x"])
    assert (family.names, family.absent) == (("x",), ())


def test_a_gating_task_of_only_one_side_is_absent_whichever_side_lacks_it() -> None:
    more, less = side("b", "x", "y", gating=("x", "y")), side("t", "x", gating=("x",))
    assert gate_family(more, less, ["x"], []).absent == ("y",)
    assert gate_family(less, more, ["x"], []).absent == ("y",)


def test_a_task_of_one_side_that_does_not_gate_is_not_absent() -> None:
    base, tuned = side("b", "x", "y", gating=("x",)), side("t", "x", gating=("x",))
    assert gate_family(base, tuned, ["x"], []).absent == ()


def test_a_chosen_task_must_be_compared() -> None:
    with pytest.raises(InputError, match="--gating z: no such task"):
        gate_family(side("b", "x"), side("t", "x"), ["x"], ["z"])


def test_margins_are_as_given_then_as_declared_then_three_points() -> None:
    declared = replace(side_task([[1.0]], "y"), margin=0.06)
    pairs = {"x": (side_task([[1.0]]), side_task([[1.0]])), "y": (declared, declared)}
    assert gate_margins(pairs, {}) == {"x": 0.03, "y": 0.06}
    assert gate_margins(pairs, {"y": 0.01}) == {"x": 0.03, "y": 0.01}
    with pytest.raises(InputError, match="--margin z"):
        gate_margins(pairs, {"z": 0.01})
