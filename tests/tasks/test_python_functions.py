"""Tasks of Python functions: asserts become tests outside the program, as far as they can be split."""

from __future__ import annotations

import pytest

from genbench.errors import DataError
from genbench.tasks.python.humaneval_mbpp import LIMITS, assert_reference, functions_problem

ROW = {"task_id": 7}


def test_asserts_that_can_be_split_are_checked_outside_the_program() -> None:
    problem = functions_problem("mine", ROW, {"text": "Add."}, "assert add(1, 2) == 3\nassert add(0, 0) == 0")
    assert (problem.task, problem.problem_id, problem.strata) == ("mine", "7", {"checked": "outside"})
    assert len(problem.row["tests"]) == 2
    assert problem.row["text"] == "Add." and problem.row["forgeable"] is False


def test_asserts_that_cannot_be_split_run_with_the_program_and_its_call() -> None:
    source = "def check(candidate):\n    for n in range(3):\n        assert candidate(n) == n"
    problem = functions_problem("mine", ROW, {}, source, function="check", call="\ncheck(same)")
    assert problem.strata == {"checked": "partly inside"}
    assert problem.row["tests"][-1] == {"input": f"{source}\ncheck(same)", "output": ""}
    assert problem.row["forgeable"] is True


@pytest.mark.parametrize("source", ["assert (", None])
def test_tests_that_are_not_python_name_task_and_problem(source: str) -> None:
    with pytest.raises(DataError, match="task mine, problem 7: its tests are not Python"):
        functions_problem("mine", ROW, {}, source)


def test_a_reference_has_no_text_after_the_answer_unless_one_is_given() -> None:
    row = {"tests": [], "forgeable": False}
    bare = assert_reference(row, before="import re\n")
    assert "after" not in bare and bare["limits"] == LIMITS
    assert assert_reference(row, before="", after="\nx = 1")["after"] == "\nx = 1"
