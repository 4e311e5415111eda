"""The interfaces of plug-ins: what is shipped satisfies them, and what lacks a method does not."""

from __future__ import annotations

import pytest

from genbench import registry
from genbench.models.responses import ReplayEngine
from genbench.protocols import Engine, ProblemScores, Task, TaskInfo, Verifier
from tests.table import each_row


@each_row("name", registry.BUILT_IN["task"])
def test_every_built_in_task_is_a_task(name: str) -> None:
    task = registry.find("task", name).build({})
    assert isinstance(task, Task)
    assert task.info.k >= 1 and task.info.version and task.info.summary


@pytest.mark.parametrize("name", ["exact", "choice"])
def test_a_built_in_verifier_is_a_verifier(name: str) -> None:
    assert isinstance(registry.find("verifier", name).build({}), Verifier)


def test_an_engine_has_three_methods() -> None:
    assert all(hasattr(ReplayEngine, name) for name in ("start", "generate", "close"))

    class Silent:
        async def start(self) -> None: ...

    assert not isinstance(Silent(), Engine)


def test_a_class_without_ask_is_no_task() -> None:
    class Half:
        info = TaskInfo("half", "1", "half a task", None, 1, "exact")

    assert not isinstance(Half(), Task)


def test_the_facts_of_a_task_have_the_usual_metrics() -> None:
    info = TaskInfo("t", "1", "a task", None, 4, "exact")
    assert info.metrics == ("avg@k", "pass@k", "maj@k") and info.headline == "avg@k"
    assert not info.asks_alike and info.chance is None


def test_a_problem_of_a_score_file_has_no_strata() -> None:
    row = ProblemScores("p", (1.0, None), ())
    assert (row.strata, row.group) == ({}, None)
