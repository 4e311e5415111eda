"""The base class of tasks that read one row after another."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from genbench.errors import DataError
from genbench.protocols import Row, TaskInfo
from genbench.tasks.base import RowTask, require_columns
from genbench.tasks.python.loops import are_calls, facts_digest
from genbench.types import Problem

INFO = TaskInfo(name="t", version="1", summary="", dataset=None, k=1, verifier="exact")


@dataclass(frozen=True, slots=True)
class Rows(RowTask):
    info: TaskInfo = INFO

    def read_row(self, place: int, row: Row) -> Problem:
        require_columns(row, ("id",), f"row {place + 1}")
        return Problem("t", str(row["id"]), row)


def test_a_row_that_cannot_be_asked_is_told_and_the_others_are_problems() -> None:
    found = Rows().read_rows([{"id": 1}, {"idd": 2}])
    assert [problem.problem_id for problem in found.problems] == ["1"]
    assert found.unusable == ("row 2: no column 'id'; did you mean 'idd'?",)


def test_two_rows_with_one_id_are_refused() -> None:
    with pytest.raises(DataError, match="rows 1 and 2 have the same id '1'"):
        Rows().problems([{"id": 1}, {"id": "1"}])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], True),
        ([{"name": "f", "arguments": {}}], True),
        ([{"name": "f", "arguments": "x"}], False),
        ([{"arguments": {}}], False),
        ({"name": "f", "arguments": {}}, False),
    ],
)
def test_calls_are_a_list_of_names_with_arguments(given: object, expected: bool) -> None:
    assert are_calls(given) is expected


def test_the_version_of_a_task_does_not_depend_on_the_order_of_keys() -> None:
    assert facts_digest({"a": 1, "b": 2}, 3) == facts_digest({"b": 2, "a": 1}, 3)
