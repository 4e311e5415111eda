"""Lines about the tasks of a group are joined only if they say the same."""

from __future__ import annotations

import pytest

from genbench.reports.warnings import FoldedLine, TaskLine, fold_lines, task_line

GROUPS = {"both": ("a", "b")}


def test_the_same_line_about_two_tasks_of_a_group_is_one() -> None:
    lines = [TaskLine("m", "a", "few"), TaskLine("m", "c", "few"), TaskLine("m", "b", "few")]
    assert fold_lines(lines, GROUPS) == [
        FoldedLine("m: both, 2 tasks: few", ("m: a: few", "m: b: few")),
        FoldedLine("m: c: few"),
    ]


def test_lines_with_other_numbers_name_the_task_whose_numbers_are_shown() -> None:
    (line,) = fold_lines([TaskLine("", "a", "4 of 1,250 rows"), TaskLine("", "b", "12 of 30 rows")], GROUPS)
    assert line == FoldedLine(
        "both, 2 tasks, such as a: 4 of 1,250 rows", ("a: 4 of 1,250 rows", "b: 12 of 30 rows")
    )


def test_other_words_and_other_runs_stay_apart() -> None:
    lines = [TaskLine("m", "a", "few"), TaskLine("m", "b", "many"), TaskLine("n", "b", "few")]
    assert [line.text for line in fold_lines(lines, GROUPS)] == ["m: a: few", "m: b: many", "n: b: few"]


@pytest.mark.parametrize(
    ("line", "task", "text"),
    [
        ("a: few", "a", "few"),
        ("a: b: few", "a: b", "few"),
        ("ab: few", None, "ab: few"),
        ("few", None, "few"),
    ],
)
def test_a_line_is_about_the_task_that_it_begins_with(line: str, task: str | None, text: str) -> None:
    found = task_line("m", line, ["a", "a: b"])
    assert (found.task, found.text) == (task, text)
