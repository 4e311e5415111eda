"""A plug-in's task: what it must offer, and what its mistakes become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.protocols import TaskInfo
from genbench.registry import PlugIn
from genbench.tasks.plugin_guard import guarded_task
from genbench.types import Ask, Message, Problem

PLUG_IN = PlugIn("task", "mine", "nowhere:mine", "acme", "1.2")
INFO = TaskInfo("mine", "1", "a test", None, 1, "exact")


class Mine:
    """A right task, parts of which a test replaces."""

    def __init__(self, **parts: Any) -> None:
        self.info: Any = INFO
        self.parts = parts

    def rows(self) -> Any:
        return self.parts.get("rows", [{"q": "1+1?", "a": 2}])

    def problems(self, rows: Sequence[Any]) -> Any:
        return self.parts.get("problems", [Problem("mine", str(i), row) for i, row in enumerate(rows)])

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Any:
        if "ask" in self.parts:
            return self.parts["ask"]()
        return None if replies else Ask((Message("user", problem.row["q"]),), problem.row["a"])


def test_a_right_task_is_passed_through() -> None:
    task = guarded_task(PLUG_IN, Mine())
    rows, provenance = task.rows()
    [problem] = task.problems(rows)
    asked = task.ask(problem, 0, ())
    assert asked is not None and asked.reference == 2
    assert task.ask(problem, 0, ("two",)) is None
    assert (provenance["source"], provenance["rows"], provenance["columns"]) == ("plug-in", 1, ["a", "q"])


def test_the_digest_of_its_rows_changes_with_them() -> None:
    first = guarded_task(PLUG_IN, Mine()).rows()[1]["digest"]
    assert guarded_task(PLUG_IN, Mine(rows=[{"q": "1+1?", "a": 3}])).rows()[1]["digest"] != first


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"problems": [1]}, "problems() returned 1, wanted"),
        ({"problems": []}, "problems() returned no problem for 1 rows"),
        ({"problems": 5}, "problems() failed: TypeError"),
        ({"problems": [Problem("mine", "x", {}), Problem("mine", "x", {})]}, "the id 'x' twice"),
    ],
)
def test_wrong_problems_are_refused(parts: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        guarded_task(PLUG_IN, Mine(**parts)).problems([{}])
    assert message in str(caught.value)
    assert "task 'mine' of package acme 1.2" in str(caught.value)
    assert "test_plugin_guard.py:" in str(caught.value)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: None, "returned None for the first turn"),
        (lambda: "1+1?", "returned str, wanted genbench.types.Ask"),
        (lambda: Ask((), 1), "messages are ()"),
        (lambda: Ask(("hi",), 1), "messages are ('hi',)"),  # type: ignore[arg-type]
        (lambda: 1 / 0, "ask() failed: ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_asks_are_refused_with_the_problem(ask: Callable[[], Any], message: str) -> None:
    task = guarded_task(PLUG_IN, Mine(ask=ask))
    with pytest.raises(ConfigError) as caught:
        task.ask(Problem("mine", "x", {}), 0, ())
    assert message in str(caught.value)


@pytest.mark.parametrize("rows", [[], [1], [{"x": object()}], [{"a": 1}, {"b": 2}], 5])
def test_rows_are_json_objects_of_the_same_columns(rows: Any) -> None:
    with pytest.raises(ConfigError, match=r"rows\(\)"):
        guarded_task(PLUG_IN, Mine(rows=rows)).rows()


def test_a_task_without_facts_is_refused() -> None:
    wrong = Mine()
    wrong.info = {"name": "mine"}
    with pytest.raises(ConfigError, match=r"'info' is \{'name': 'mine'\}, wanted .*TaskInfo"):
        guarded_task(PLUG_IN, wrong)


def test_a_task_without_a_method_is_refused() -> None:
    class Half:
        info = INFO

        def problems(self, rows: Any) -> Any:
            return []

    with pytest.raises(ConfigError, match="ask: it is None, wanted a function"):
        guarded_task(PLUG_IN, Half())
