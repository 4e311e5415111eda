"""Tables of plain text with aligned columns and a ruled head."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence


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
