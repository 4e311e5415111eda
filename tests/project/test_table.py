"""A table of cases in one test: every row is tried, and what fails is named by its row."""

from __future__ import annotations

import inspect

import pytest

from tests.table import each_row


def test_every_row_is_tried_and_the_wrong_ones_are_named() -> None:
    tried: list[int] = []

    @each_row("number, wanted", [(1, 1), (2, 3), (3, 3), (4, 5)])
    def same(number: int, wanted: int, offset: int) -> None:
        tried.append(number)
        assert number + offset == wanted

    assert list(inspect.signature(same).parameters) == ["offset"]
    with pytest.raises(ExceptionGroup, match="2 of 4 rows are wrong") as caught:
        same(offset=0)
    assert tried == [1, 2, 3, 4]
    assert [error.__notes__ for error in caught.value.exceptions] == [
        ["in the row (2, 3)"],
        ["in the row (4, 5)"],
    ]


def test_one_wrong_row_fails_as_it_would_alone() -> None:
    @each_row("text", ["a", "", "b"])
    def refused(text: str) -> None:
        with pytest.raises(ValueError, match="could not convert"):
            float(text or "1")

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE") as caught:
        refused()
    assert caught.value.__notes__ == ["in the row ''"]


def test_stacked_tables_give_all_combinations() -> None:
    seen: list[str] = []

    @each_row("first", "ab")
    @each_row("second", "xy")
    def join(first: str, second: str) -> None:
        seen.append(first + second)

    join()
    assert seen == ["ax", "ay", "bx", "by"]
