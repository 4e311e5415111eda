"""Tables of plain text, and texts in a narrow terminal."""

from __future__ import annotations

from markupsafe import Markup

from genbench.reports.table import EVERYWHERE, MARKDOWN, PAGE, TERMINAL, Column, Table, aligned, folded

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


TABLE = Table[tuple[str, int | None]](
    Column("name", lambda row: row[0]),
    Column("count", lambda row: row[1], right=EVERYWHERE),
    Column("link", lambda row: row[0], shown=PAGE, page=lambda row: Markup("<b>{}</b>").format(row[0])),
    Column("shout", lambda row: row[0].upper(), shown=TERMINAL | MARKDOWN),
    gap=lambda row: "no number" if row[1] == 0 else None,
)


def test_each_medium_has_the_columns_that_are_shown_there() -> None:
    text = TABLE.text([("a", 10), ("b", None)])
    assert text.splitlines() == [
        "name  count  shout",
        "------------------",
        "a        10  A",
        "b         -  B",
    ]
    assert TABLE.markdown([("a", 10)]) == [
        "| name | count | shout |",
        "|---|---:|---|",
        "| a | 10 | A |",
    ]
    assert TABLE.html_head() == '<thead><tr><th>name</th><th class="n">count</th><th>link</th></tr></thead>'


def test_what_a_cell_contains_is_text_in_every_medium() -> None:
    assert "| &#42;a&#124; |" in TABLE.markdown([("*a|", 1)])[-1]
    row = TABLE.html_rows([("<i>", 1)])
    assert row.startswith('<tr><td data-l="name">&lt;i&gt;</td><td data-l="count" class="n">1</td>')
    assert "<b>&lt;i&gt;</b>" in row


def test_a_page_may_say_something_instead_of_numbers() -> None:
    assert '<td colspan="1">no number</td>' in TABLE.html_rows([("a", 0)])


def test_a_head_may_be_replaced_and_the_legend_explains_it() -> None:
    assert TABLE.text([], heads={"name": "level"}).startswith("level  count")
    assert TABLE.legend("finds").startswith("finds: The smallest drop that is found")
