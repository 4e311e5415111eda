"""Tables of plain text, and texts in a narrow terminal."""

from __future__ import annotations

from genbench.reports.table import aligned, folded

HEAD = ("task", "n", "statuses")
ROWS = [("arithmetic", "100", "correct 80, wrong 20"), ("code", "8", "correct 8")]


def test_columns_are_aligned_under_a_ruled_head() -> None:
    assert aligned(HEAD, ROWS, {"n"}).splitlines() == [
        "task          n  statuses",
        "-" * 37,
        "arithmetic  100  correct 80, wrong 20",
        "code          8  correct 8",
    ]


def test_a_table_that_fits_keeps_its_columns() -> None:
    assert aligned(HEAD, ROWS, {"n"}, width=37, below=("statuses",)) == aligned(HEAD, ROWS, {"n"})


def test_in_a_narrow_terminal_a_column_is_under_its_row() -> None:
    assert aligned(HEAD, ROWS, {"n"}, width=30, below=("statuses",)).splitlines() == [
        "task          n",
        "-" * 24,
        "arithmetic  100",
        "    correct 80, wrong 20",
        "code          8",
        "    correct 8",
    ]


def test_several_columns_under_a_row_are_named() -> None:
    text = aligned(HEAD, ROWS, {"n"}, width=20, below=("n", "statuses"), indent="  ")
    assert text.splitlines()[2:4] == ["  arithmetic", "      n 100, statuses correct 80, wrong 20"]


def test_a_table_without_columns_to_move_stays_wide() -> None:
    assert aligned(HEAD, ROWS, {"n"}, width=10) == aligned(HEAD, ROWS, {"n"})


def test_long_lines_are_broken_between_words_and_go_on_further_in() -> None:
    assert folded("short\n  a line of many words", 14).splitlines() == [
        "short",
        "  a line of",
        "    many words",
    ]


def test_rules_paths_and_short_lines_stay_whole() -> None:
    rule, path = "-" * 40, "runs/" + "x" * 40
    assert folded(f"{rule}\n{path}\n\nend", 20) == f"{rule}\n{path}\n\nend"
