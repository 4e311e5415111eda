"""HumanEval (Chen et al. 2021) and HumanEval+ (Liu et al. 2023): functions to complete by docstring."""

from __future__ import annotations

from functools import partial
from typing import Any

from genbench.data.asserts import split
from genbench.errors import DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.published import published
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_COLUMNS = ("task_id", "prompt", "entry_point", "test")
_PROMPT = (
    "Complete this Python function as its docstring says. Answer with the whole function, and the imports "
    "that it needs, in one code block.\n\n```python\n{prompt}\n```"
)
_LIMITS = {"wall_s": 3.0, "memory_mib": 4096}
"""Seconds of wall time, as in the original evaluator (human_eval/evaluation.py, timeout=3.0)."""
_CANDIDATE = "candidate"


def humaneval() -> SingleTurn:
    """Return the task of 164 functions. Asserts that can be split are compared outside the sandbox."""
    dataset = HubDataset("openai/openai_humaneval", "openai_humaneval", "test", _COLUMNS, rows=164)
    return _task("humaneval", "HumanEval: 164 Python functions to complete", dataset, "MIT")


def humaneval_plus() -> SingleTurn:
    """Return the task of the same functions with about eighty times the tests."""
    dataset = HubDataset("evalplus/humanevalplus", "default", "test", _COLUMNS, rows=164)
    return _task(
        "humaneval_plus", "HumanEval+: 164 Python functions with many more tests", dataset, "Apache-2.0"
    )


def _task(name: str, summary: str, dataset: HubDataset, licence: str) -> SingleTurn:
    info = TaskInfo(
        name=name,
        asks_alike=True,
        version="1",
        summary=summary,
        dataset=dataset,
        k=10,
        verifier="code",
        verifier_options={"mode": "real"},
        licence=licence,
        published=published(name),
        metrics=("avg@k", "pass@k"),
    )
    return SingleTurn(info, partial(_read, name), _pose, _COLUMNS)


def _read(task: str, place: int, row: Row) -> Problem:
    where = f"task {task}, problem {row['task_id']}"
    try:
        found = split(row["test"], function="check")
    except (SyntaxError, TypeError) as error:
        raise DataError(f"{where}: its tests are not Python: {error}") from None
    tests: list[dict[str, Any]] = [test.told() for test in found.lifted]
    if not found.complete or not tests:
        # The whole check runs with the program, so that what could not be split is still checked.
        tests.append({"input": f"{row['test']}\ncheck({row['entry_point']})", "output": ""})
    kept = {
        "prompt": row["prompt"],
        "entry_point": row["entry_point"],
        "tests": tests,
        "forgeable": not found.complete,
    }
    return Problem(
        task, str(row["task_id"]), kept, {"checked": "outside" if found.complete else "partly inside"}
    )


def _pose(problem: Problem, sample_index: int) -> Ask:
    row = problem.row
    reference = {
        "kind": "assert",
        "before": f"{row['prompt']}\n",
        "after": f"\n{_CANDIDATE} = {row['entry_point']}\n",
        "tests": row["tests"],
        "fences": "optional",
        "forgeable": row["forgeable"],
        "limits": _LIMITS,
    }
    return Ask((Message("user", _PROMPT.format(prompt=row["prompt"].strip("\n"))),), reference)
