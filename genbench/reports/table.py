"""Tables of plain text with aligned columns and a ruled head."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[str], indent: str = ""
) -> str:
    """Return a table. The columns named in `right` contain numbers and are aligned right."""
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
