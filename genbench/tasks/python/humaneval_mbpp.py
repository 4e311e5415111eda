"""Python functions to write: HumanEval (Chen et al. 2021), MBPP (Austin et al. 2021), and both extended (Liu
et al. 2023).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from genbench.data.asserts import split
from genbench.errors import ConfigError, DataError
from genbench.protocols import Row
from genbench.tasks.base import SingleTurn
from genbench.tasks.page.task import built_in_info, built_in_page
from genbench.types import Ask, Message, Problem

LIMITS = {"wall_s": 3.0, "memory_mib": 4096}
"""Seconds of wall time, as in the original evaluator (human_eval/evaluation.py, timeout=3.0)."""


def functions_task(
    name: str,
    read: Callable[[str, int, Row], Problem],
    pose: Callable[[Problem, int], Ask],
    **facts: Any,
) -> SingleTurn:
    """Return a task whose answers are run against asserts.

    Args:
        read: makes a problem of the task's name, a place and a row.
        pose: makes the question of a problem and a sample index.
        facts: facts that differ from those of the page.
    """
    code = {"verifier": "code", "verifier_options": {"mode": "real"}, "metrics": ("avg@k", "pass@k")}
    info = built_in_info(name, {}, asks_alike=True, k=10, **code, **facts)
    assert info.dataset is not None
    return SingleTurn(info, partial(read, name), pose, info.dataset.columns)


def functions_problem(
    task: str, row: Row, kept: Row, source: str, *, function: str | None = None, call: str = ""
) -> Problem:
    """Return the problem of a row, with its asserts split into tests.

    Args:
        kept: what the question needs of the row.
        source: the asserts as Python.
        function: the function in `source` that contains the asserts, or None if they are at its top level.
        call: Python that runs the asserts after `source`.

    Raises:
        DataError: the tests are not Python.
    """
    try:
        found = split(source, function=function)
    except (SyntaxError, TypeError) as error:
        where = f"task {task}, problem {row['task_id']}"
        raise DataError(f"{where}: its tests are not Python: {error}") from None
    tests: list[dict[str, Any]] = [test.told() for test in found.lifted]
    if not found.complete or not tests:
        # The whole check runs with the program, so that what could not be split is still checked.
        tests.append({"input": f"{source}{call}", "output": ""})
    checked = "outside" if found.complete else "partly inside"
    problem = {**kept, "tests": tests, "forgeable": not found.complete}
    return Problem(task, str(row["task_id"]), problem, {"checked": checked})


def assert_reference(row: Row, *, before: str, after: str | None = None) -> dict[str, Any]:
    """Return the code verifier's reference of a problem: its tests and the code around the answer."""
    around = {"before": before} if after is None else {"before": before, "after": after}
    return {
        "kind": "assert",
        **around,
        "tests": row["tests"],
        "fences": "optional",
        "forgeable": row["forgeable"],
        "limits": LIMITS,
    }


_HUMANEVAL_PROMPT = (
    "Complete this Python function as its docstring says. Answer with the whole function, and the imports "
    "that it needs, in one code block.\n\n```python\n{prompt}\n```"
)
_CANDIDATE = "candidate"


def humaneval() -> SingleTurn:
    """Return the task of 164 functions. Asserts that can be split are compared outside the sandbox."""
    return functions_task("humaneval", _read_humaneval, _pose_humaneval)


def humaneval_plus() -> SingleTurn:
    """Return the task of the same functions with about eighty times the tests."""
    return functions_task("humaneval_plus", _read_humaneval, _pose_humaneval)


def _read_humaneval(task: str, place: int, row: Row) -> Problem:
    kept = {"prompt": row["prompt"], "entry_point": row["entry_point"]}
    call = f"\ncheck({row['entry_point']})"
    return functions_problem(task, row, kept, row["test"], function="check", call=call)


def _pose_humaneval(problem: Problem, sample_index: int) -> Ask:
    row = problem.row
    after = f"\n{_CANDIDATE} = {row['entry_point']}\n"
    reference = assert_reference(row, before=f"{row['prompt']}\n", after=after)
    return Ask((Message("user", _HUMANEVAL_PROMPT.format(prompt=row["prompt"].strip("\n"))),), reference)


Config = Literal["full", "sanitized"]
_ROWS = {"full": 500, "sanitized": 257}
_SANITIZED_COLUMNS = ("task_id", "prompt", "test_list", "test_imports")
_MBPP_PROMPT = (
    "{text}\n\nThe function must pass these tests:\n\n```python\n{tests}\n```\n\n"
    "Answer with the whole function, and the imports that it needs, in one code block."
)


def mbpp(config: str = "full") -> SingleTurn:
    """Return the task of the 500 test problems, or of the 257 that were checked by hand (`sanitized`).

    Raises:
        ConfigError: there is no such config.
    """
    if config not in _ROWS:
        raise ConfigError(f"mbpp: config is '{config}'; valid: {', '.join(_ROWS)}")
    dataset = built_in_page("mbpp").page.hub
    if config != dataset.config:
        other = {"config": config, "rows": _ROWS[config], "columns": _SANITIZED_COLUMNS}
        dataset = dataset.model_copy(update=other)
    summary = f"MBPP ({config}): small Python functions from a sentence"
    return functions_task("mbpp", _read_mbpp, _pose_mbpp, version="2", summary=summary, dataset=dataset)


def mbpp_plus() -> SingleTurn:
    """Return the task of 378 problems with many more tests."""
    return functions_task("mbpp_plus", _read_mbpp, _pose_mbpp)


def _read_mbpp(task: str, place: int, row: Row) -> Problem:
    shown = list(row["test_list"])
    kept = {
        "text": row["prompt"] if "prompt" in row else row["text"],
        "shown": shown,
        "before": "\n".join([*(row.get("test_imports") or ()), "", ""]),
    }
    if row.get("test_setup_code"):
        # The code of problem 367 makes objects of a class that the answer defines.
        kept["after"] = f"\n\n{row['test_setup_code']}\n"
    source = row["test"] if "test" in row else "\n".join(shown)
    return functions_problem(task, row, kept, source)


def _pose_mbpp(problem: Problem, sample_index: int) -> Ask:
    row = problem.row
    text = _MBPP_PROMPT.format(text=row["text"].strip(), tests="\n".join(row["shown"]))
    return Ask((Message("user", text),), assert_reference(row, before=row["before"], after=row.get("after")))
