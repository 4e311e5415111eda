"""Problems in little memory."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

from genbench.tasks.loaded_task import CompactProblems, PackedRow
from genbench.types import Problem


def problem(number: int, row: dict[str, Any]) -> Problem:
    return Problem("t", f"p{number}", row, {"level": str(number % 2)})


def test_a_packed_row_is_the_row() -> None:
    row = {"shown": {"question": "2 + 2?"}, "options": ["3", "4"], "right": 1, "pair": (1, None), "half": 0.5}
    (found,) = CompactProblems(0).of([problem(0, row)])
    packed = found.row
    assert isinstance(packed, PackedRow)
    assert packed == row and dict(packed) == row and list(packed) == list(row) and len(packed) == 5
    assert packed["pair"] == (1, None) and packed.get("chance") is None and "chance" not in packed


@pytest.mark.slow
def test_rows_come_back_in_any_order() -> None:
    problems = [problem(i, {"n": i, "text": f"question {i}"}) for i in range(3000)]
    found = CompactProblems(0).of(problems)
    assert found == tuple(problems)
    assert [found[i].row["n"] for i in range(2999, -1, -7)] == list(range(2999, -1, -7))


def test_rows_beyond_the_number_are_packed_through_all_tasks() -> None:
    compact = CompactProblems(3)
    first = [problem(i, {"n": i}) for i in range(2)]
    second = [problem(i, {"n": i}) for i in range(2, 4)]
    found = [*compact.of(first), *compact.of(second)]
    assert found == [*first, *second]
    assert [type(one.row) for one in found] == [dict, dict, PackedRow, PackedRow]


def test_equal_strata_are_one_object() -> None:
    found = CompactProblems().of(problem(i, {}) for i in range(4))
    assert [one.strata["level"] for one in found] == ["0", "1", "0", "1"]
    assert found[0].strata is found[2].strata and found[1].strata is found[3].strata


def test_tasks_of_the_same_rows_have_them_once() -> None:
    compact = CompactProblems(0)
    first = compact.of(problem(i, {"n": i}) for i in range(3))
    second = compact.of(problem(i, {"n": i % 2}) for i in range(3))
    assert [one.row["n"] for one in second] == [0, 1, 0]
    assert [one.row is other.row for one, other in zip(first, second, strict=True)] == [True, True, False]
    (typed,) = compact.of([problem(0, {"n": 0.0})])
    assert repr(typed.row["n"]) == "0.0"


def test_a_row_that_cannot_be_packed_stays_as_it_is() -> None:
    row = {"make": lambda: 1}
    found = CompactProblems(0).of([problem(0, row), problem(1, {"n": 1})])
    assert found[0].row is row and found[1].row == {"n": 1}


def test_a_row_that_is_nested_too_deeply_to_be_packed_stays_as_it_is() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    row = {"nested": nested}
    (found,) = CompactProblems(0).of([problem(0, row)])
    assert found.row is row


@pytest.mark.slow
def test_packed_problems_take_less_than_half_of_the_memory() -> None:
    def size_of(compact: CompactProblems) -> int:
        tracemalloc.start()
        try:
            kept = compact.of(problem(i, row_of(i)) for i in range(2000))
            gc.collect()
            size, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert len(kept) == 2000
        return size

    def row_of(number: int) -> dict[str, Any]:
        question = f"Task {number}: a train leaves at {number % 24} o'clock and is {number * 7} minutes late."
        options = [f"{number} minutes", f"{number + 1} minutes"]
        return {"shown": {"question": f"{question} When does it come?"}, "options": options, "right": 1}

    assert 2 * size_of(CompactProblems(0)) < size_of(CompactProblems())
