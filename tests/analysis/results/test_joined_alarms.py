"""Alarms of one kind in one group are one alarm, and no others are."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.analysis.results.alarms import joined_alarms
from genbench.analysis.results.means import GroupRecord
from genbench.analysis.results.record import Results
from tests.reports import made


def run(model: str = "m", **cuts: float) -> Results:
    """Return a run of tasks of which these shares were cut off. `a` and `b` are of one group."""
    tasks = {name: made.task(truncated_share=share) for name, share in cuts.items()}
    group = GroupRecord(tasks=("a", "b"), macro=None, micro=None)
    return made.results(model, tasks=tasks, groups={"both": group})


def test_one_kind_in_one_group_names_the_count_the_worst_and_the_range() -> None:
    (alarm,) = joined_alarms({"m": run(a=0.2, b=0.5)})
    assert str(alarm).startswith("m/both: 2 of 2 tasks, the worst b: 20% to 50% of the samples were cut off")
    assert [(part.task, part.weight) for part in alarm.parts] == [("b", 0.5), ("a", 0.2)]
    assert alarm.weight == 0.5


def test_a_range_of_equal_values_is_one_value() -> None:
    (alarm,) = joined_alarms({"m": run(a=0.2, b=0.2)})
    assert ": 20% of the samples" in alarm.text


def test_one_task_of_a_group_keeps_its_own_line() -> None:
    (alarm,) = joined_alarms({"m": run(a=0.2, b=0.0)})
    assert (alarm.where, alarm.of) == ("m/a", None)


def test_tasks_without_a_group_are_not_joined() -> None:
    assert [alarm.where for alarm in joined_alarms({"m": run(a=0.0, b=0.0, c=0.3, d=0.2)})] == ["m/c", "m/d"]


def test_runs_and_kinds_are_kept_apart() -> None:
    base, tuned = run("base", a=0.2, b=0.3), run("tuned", a=0.4, b=0.5)
    assert [alarm.where for alarm in joined_alarms({"base": base, "tuned": tuned})] == [
        "tuned/both",
        "base/both",
    ]
    lost: dict[str, Any] = {"status_counts": {"no_answer": 20}, "truncated_share": 0.2}
    tasks = {name: made.task(**lost) for name in ("a", "b")}
    found = joined_alarms({"m": run().model_copy(update={"tasks": tasks})})
    assert [(alarm.where, len(alarm.parts)) for alarm in found] == [("m/both", 2), ("m/both", 2)]
    assert "extracted" in found[0].text and "cut off" in found[1].text


@pytest.mark.parametrize("line", ["sums: too many {0}", "{"])
def test_a_failure_is_shown_as_it_is(line: str) -> None:
    (alarm,) = joined_alarms({"m": run().model_copy(update={"failed": (line,)})})
    assert str(alarm) == f"m: FAILED: {line}"
