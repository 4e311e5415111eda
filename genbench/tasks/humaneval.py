"""HumanEval (Chen et al. 2021) and HumanEval+ (Liu et al. 2023): functions to complete by docstring."""

from __future__ import annotations

from genbench.protocols import HubDataset, Row
from genbench.tasks.python_functions import assert_reference, functions_problem, functions_task
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

_COLUMNS = ("task_id", "prompt", "entry_point", "test")
_PROMPT = (
    "Complete this Python function as its docstring says. Answer with the whole function, and the imports "
    "that it needs, in one code block.\n\n```python\n{prompt}\n```"
)
_CANDIDATE = "candidate"


def humaneval() -> SingleTurn:
    """Return the task of 164 functions. Asserts that can be split are compared outside the sandbox."""
    dataset = HubDataset("openai/openai_humaneval", "openai_humaneval", "test", _COLUMNS, rows=164)
    summary = "HumanEval: 164 Python functions to complete"
    return functions_task("humaneval", summary, dataset, read=_read, pose=_pose)


def humaneval_plus() -> SingleTurn:
    """Return the task of the same functions with about eighty times the tests."""
    dataset = HubDataset("evalplus/humanevalplus", "default", "test", _COLUMNS, rows=164)
    summary = "HumanEval+: 164 Python functions with many more tests"
    return functions_task("humaneval_plus", summary, dataset, read=_read, pose=_pose)


def _read(task: str, place: int, row: Row) -> Problem:
    kept = {"prompt": row["prompt"], "entry_point": row["entry_point"]}
    call = f"\ncheck({row['entry_point']})"
    return functions_problem(task, row, kept, row["test"], function="check", call=call)


def _pose(problem: Problem, sample_index: int) -> Ask:
    row = problem.row
    after = f"\n{_CANDIDATE} = {row['entry_point']}\n"
    reference = assert_reference(row, before=f"{row['prompt']}\n", after=after)
    return Ask((Message("user", _PROMPT.format(prompt=row["prompt"].strip("\n"))),), reference)
