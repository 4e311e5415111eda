"""A task made ready: which verifier and options are in force, metrics, chance, references of turns."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.suite.config import Decoding, TaskEntry
from genbench.tasks.factory import custom_task
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.python.humaneval_mbpp import humaneval


def loaded(rows: list[dict[str, Any]] | None = None, **entry: Any) -> LoadedTask:
    base = {"name": "mine", "data": {"path": "rows.jsonl"}, "k": 2}
    item = TaskEntry.model_validate(base | entry)
    task = custom_task(item)
    problems = tuple(task.problems(rows or [{"question": "q", "reference": "r"}]))
    return LoadedTask(item, task, item.k or 1, Decoding(), problems, frozenset(), {})


def built_in(**entry: Any) -> LoadedTask:
    item = TaskEntry.model_validate({"task": "humaneval"} | entry)
    return LoadedTask(item, humaneval(), 1, Decoding(), (), frozenset(), {})


def test_a_kind_brings_its_verifier_and_the_suite_its_options() -> None:
    task = loaded(kind="exact", verifier={"ignore_case": True})
    assert (task.verifier, task.verifier_options) == ("exact", {"ignore_case": True})


def test_a_verifier_that_the_suite_names_replaces_that_of_the_kind() -> None:
    task = loaded(kind="exact", verifier={"use": "pkg:Check", "strict": True})
    assert (task.verifier, task.verifier_options) == ("pkg:Check", {"strict": True})


def test_a_verifier_needs_no_kind() -> None:
    assert loaded(verifier={"use": "pkg:Check"}).verifier == "pkg:Check"


def test_options_of_a_built_in_go_with_its_own_verifier_only() -> None:
    assert built_in().verifier_options == {"mode": "real"}
    assert built_in(verifier={"mode": "lcb-compat"}).verifier_options == {"mode": "lcb-compat"}
    assert built_in(verifier={"use": "code"}).verifier_options == {"mode": "real"}
    assert built_in(verifier={"use": "pkg:Check"}).verifier_options == {}


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        (["pass@k"], ("avg@k", "pass@k")),
        (["pass@k", "avg@k"], ("pass@k", "avg@k")),
        (["avg@2"], ("avg@2",)),
        (None, ("avg@k", "pass@k", "maj@k")),
    ],
)
def test_the_headline_is_always_estimated(metrics: list[str] | None, expected: tuple[str, ...]) -> None:
    assert loaded(kind="exact", metrics=metrics).metrics == expected


def test_chance_is_the_mean_over_the_options() -> None:
    rows = [
        {"question": "a", "options": ["1", "2"], "reference": "A"},
        {"question": "b", "options": ["1", "2", "3", "4"], "reference": "A"},
    ]
    assert loaded(rows, kind="choice").chance == pytest.approx((1 / 2 + 1 / 4) / 2)
    assert loaded(kind="exact").chance is None


def test_only_the_last_turn_has_a_reference_where_only_it_is_graded() -> None:
    task = loaded(kind="exact", turns=["again?"])
    assert task.reference(task.problems[0], 0) == "r"
    assert task.ask(task.problems[0], 0, ["one", "two"]) is None


def test_samples_are_problems_times_k() -> None:
    assert loaded([{"question": str(i), "reference": "r"} for i in range(3)], kind="exact").samples == 6
