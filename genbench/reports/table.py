"""Tables: a column is declared once, and shows in the terminal, in Markdown and on a page.

JSON has no columns: a command prints the record that the cells are made of.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from types import MappingProxyType
from typing import Generic, TypeVar

from markupsafe import Markup, escape

from genbench.reports.glossary import explained, meaning
from genbench.safetext.printable import one_line, printable

Row = TypeVar("Row")
_NO_HEADS: Mapping[str, str] = MappingProxyType({})


class Media(Flag):
    """Where a column is shown. `DETAILS` is the folded table below the one of a page."""

    NOWHERE = 0
    TERMINAL = auto()
    MARKDOWN = auto()
    PAGE = auto()
    DETAILS = auto()


NOWHERE, TERMINAL, MARKDOWN, PAGE = Media.NOWHERE, Media.TERMINAL, Media.MARKDOWN, Media.PAGE
DETAILS = Media.DETAILS
EVERYWHERE = TERMINAL | MARKDOWN | PAGE


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """One column of a table.

    Args:
        head: its name. What it means is in the glossary.
        cell: the value of a row, of which the text is shown. None is a dash.
        right: where it is aligned right, as numbers are.
        shown: where it is in the table.
        page: the value on a page, if that is another one. Markup is not escaped.
        page_head: the name on a page, if that is another one.
        label: the name of a cell on a narrow page, if two columns have one head.
        style: CSS class of its cells on a page, or the class of a row's cell. None is not a class.
        plain: whether the text needs no escapes in Markdown, such as an interval with its brackets.
    """

    head: str
    cell: Callable[[Row], object]
    right: Media = NOWHERE
    shown: Media = EVERYWHERE
    page: Callable[[Row], object] | None = None
    page_head: str = ""
    label: str = ""
    style: str | Callable[[Row], str | None] | None = None
    plain: bool = False

    def text(self, row: Row) -> str:
        """Return the cell of a row as text."""
        return _shown(self.cell(row))

    def html(self, row: Row, head: str) -> str:
        """Return the cell of a row on a page."""
        value = (self.page or self.cell)(row)
        style = self.style(row) if callable(self.style) else "n" if PAGE in self.right else self.style
        kind = "" if style is None else f' class="{style}"'
        return f'<td data-l="{_html(self.label or head)}"{kind}>{_html(_shown(value))}</td>'


class Table(Generic[Row]):
    """The columns of a kind of row.

    Args:
        columns: in the order in which every medium shows those that it has.
        below: heads of columns that are under each row if a terminal is too narrow.
        gap: what a page says of a row instead of all its numbers, or None to show them.
    """

    def __init__(
        self,
        *columns: Column[Row],
        below: Sequence[str] = (),
        gap: Callable[[Row], str | None] = lambda row: None,
    ) -> None:
        self.columns = columns
        self._below = below
        self._gap = gap

    def _columns(self, medium: Media) -> list[Column[Row]]:
        return [column for column in self.columns if medium in column.shown]

    def text(
        self,
        rows: Iterable[Row],
        *,
        indent: str = "",
        width: int | None = None,
        heads: Mapping[str, str] = _NO_HEADS,
        without: Collection[str] = (),
    ) -> str:
        """Return the table for a terminal.

        Args:
            width: columns of the terminal, or None if the table may have any width.
            heads: what the heads of some columns are instead.
            without: the heads of columns that are left out.
        """
        columns = [column for column in self._columns(TERMINAL) if column.head not in without]
        head = [heads.get(column.head, column.head) for column in columns]
        body = [[column.text(row) for column in columns] for row in rows]
        right = {name for name, column in zip(head, columns, strict=True) if TERMINAL in column.right}
        return aligned(head, body, right, indent, width=width, below=self._below)

    def markdown(
        self,
        rows: Iterable[Row],
        heads: Mapping[str, str] = _NO_HEADS,
        escaped: Callable[[str], str] | None = None,
    ) -> list[str]:
        """Return the lines of a pipe table."""
        columns, safe = self._columns(MARKDOWN), escaped or markdown_text
        rules = ("---:" if MARKDOWN in column.right else "---" for column in columns)
        body = (
            [column.text(row) if column.plain else safe(column.text(row)) for column in columns]
            for row in rows
        )
        head = [safe(heads.get(column.head, column.head)) for column in columns]
        return [_piped(head), f"|{'|'.join(rules)}|", *map(_piped, body)]

    def html_head(
        self,
        heads: Mapping[str, str] = _NO_HEADS,
        scope: str = "",
        *,
        medium: Media = PAGE,
        glossary: str | None = "",
    ) -> Markup:
        """Return the head of the table on a page.

        Args:
            scope: attributes of each cell.
            medium: PAGE or DETAILS.
            glossary: address of the page with the words, empty if they are on this one. None: no links.
        """
        cells = []
        for column in self._columns(medium):
            kind = ' class="n"' if PAGE in column.right else ""
            shown = printable(self._page_head(column, heads))
            cells.append(f"<th{scope}{kind}>{explained(column.head, glossary, shown)}</th>")
        return Markup(f"<thead><tr>{''.join(cells)}</tr></thead>")

    def html_rows(
        self, rows: Iterable[Row], heads: Mapping[str, str] = _NO_HEADS, *, medium: Media = PAGE
    ) -> Markup:
        """Return the rows of the table on a page, each on a line."""
        return Markup("".join(f"<tr>{self._html_row(row, heads, medium)}</tr>\n" for row in rows))

    def _html_row(self, row: Row, heads: Mapping[str, str], medium: Media) -> str:
        columns, gap = self._columns(medium), self._gap(row)
        cells = [column.html(row, self._page_head(column, heads)) for column in columns]
        if gap is None:
            return "".join(cells)
        numbers = [place for place, column in enumerate(columns) if PAGE in column.right]
        first, last = numbers[0], numbers[-1] + 1
        return "".join([*cells[:first], f'<td colspan="{last - first}">{_html(gap)}</td>', *cells[last:]])

    @staticmethod
    def _page_head(column: Column[Row], heads: Mapping[str, str]) -> str:
        return heads.get(column.head, column.page_head or column.head)

    @staticmethod
    def legend(*heads: str) -> str:
        """Return what those columns mean, in one paragraph."""
        return " ".join(f"{head}: {meaning(head)}" for head in heads)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else "-" if value is None else str(value)


def _html(text: str) -> str:
    return text if isinstance(text, Markup) else escape(printable(text))


def _piped(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


_SPECIAL = re.compile(r"[\\`*_\[\]<>|~#$&]|:(?=//)|(?<=www)\.")
_MENTION = re.compile(r"(?<!\w)@")


def markdown_text(text: str) -> str:
    """Return text that Markdown shows unchanged: no markup, mention, link or HTML, on one line."""
    plain = _SPECIAL.sub(lambda found: f"&#{ord(found.group())};", one_line(text, 600))
    return _MENTION.sub("@<!-- -->", plain)


def aligned(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Collection[str],
    indent: str = "",
    *,
    width: int | None = None,
    below: Sequence[str] = (),
) -> str:
    """Return a table. The columns named in `right` contain numbers and are aligned right.

    Args:
        width: columns of the terminal, or None if the table may have any width.
        below: columns that have a line of their own under each row if the table is wider than that.
    """
    texts = _lines(head, rows, right)
    if width is not None and below and len(indent) + max(map(len, texts)) > width:
        kept = [column for column, name in enumerate(head) if name not in below]
        under = [column for column, name in enumerate(head) if name in below]
        narrow = _lines(
            [head[column] for column in kept], [[row[column] for column in kept] for row in rows], right
        )
        cells = [[f"{head[column]} {row[column]}" for column in under] for row in rows]
        if len(under) == 1:
            cells = [[row[under[0]]] for row in rows]
        texts = [narrow[0]]
        for line, extra in zip(narrow[1:], cells, strict=True):
            texts += [line, "    " + ", ".join(extra)]
    rule = "-" * max(map(len, texts))
    return "\n".join(indent + line for line in (texts[0], rule, *texts[1:]))


def _lines(head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str]) -> list[str]:
    """Return the head and the rows, with cells of one width in each column."""
    lines = [list(head), *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(head))]
    texts = []
    for row in lines:
        cells = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(row, widths, head, strict=True)
        ]
        texts.append("  ".join(cells).rstrip())
    return texts


def folded(text: str, width: int) -> str:
    """Return a text whose long lines are broken between words, and go on two columns further in.

    Words that are longer than a line, such as paths, and ruled lines stay whole.
    """
    return "\n".join(part for line in text.split("\n") for part in _folded(line, width))


def _folded(line: str, width: int) -> list[str]:
    if len(line) <= width or not line.strip("-"):
        return [line]
    inset = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(
        line,
        width,
        subsequent_indent=inset + "  ",
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )
