"""Lines about the tasks of a group are joined only if they say the same."""

from __future__ import annotations

import pytest

from genbench.reports.warnings import FoldedWarning, TaskWarning, fold_warnings, task_warning

GROUPS = {"both": ("a", "b")}


def test_the_same_line_about_two_tasks_of_a_group_is_one() -> None:
    lines = [TaskWarning("m", "a", "few"), TaskWarning("m", "c", "few"), TaskWarning("m", "b", "few")]
    assert fold_warnings(lines, GROUPS) == [
        FoldedWarning("m: both, 2 tasks: few", ("m: a: few", "m: b: few")),
        FoldedWarning("m: c: few"),
    ]


def test_lines_with_other_numbers_name_the_task_whose_numbers_are_shown() -> None:
    (line,) = fold_warnings(
        [TaskWarning("", "a", "4 of 1,250 rows"), TaskWarning("", "b", "12 of 30 rows")], GROUPS
    )
    assert line == FoldedWarning(
        "both, 2 tasks, such as a: 4 of 1,250 rows", ("a: 4 of 1,250 rows", "b: 12 of 30 rows")
    )


def test_other_words_and_other_runs_stay_apart() -> None:
    lines = [TaskWarning("m", "a", "few"), TaskWarning("m", "b", "many"), TaskWarning("n", "b", "few")]
    assert [line.text for line in fold_warnings(lines, GROUPS)] == ["m: a: few", "m: b: many", "n: b: few"]


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
    found = task_warning("m", line, ["a", "a: b"])
    assert (found.task, found.text) == (task, text)
