"""Columns of text: aligned, under a ruled head."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str], indent: str = ""
) -> str:
    """A table; the columns named in `right` hold numbers and end flush."""
    lines = [list(head), *rows]
    widths = [max(len(row[column]) for row in lines) for column in range(len(head))]
    texts = []
    for row in lines:
        cells = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for cell, width, name in zip(row, widths, head, strict=True)
        ]
        texts.append("  ".join(cells).rstrip())
    rule = "-" * max(map(len, texts))
    return "\n".join(indent + line for line in (texts[0], rule, *texts[1:]))
