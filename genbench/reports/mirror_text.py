"""What `genbench mirror` fetched, for the terminal, with the lines that the other machine needs."""

from __future__ import annotations

from genbench.reports.table import aligned
from genbench.runs.mirror import MirrorRecord
from genbench.safetext.printable import printable


def mirror_text(record: MirrorRecord) -> str:
    """Return the parts as a table, what failed, and how the mirror is used."""
    head = ("what", "name", "state", "detail")
    rows = [(part.kind, part.name, part.state, _short(part.detail)) for part in record.parts]
    lines = [aligned(head, rows, right=()) if rows else "nothing to fetch: no task here has a dataset"]
    lines += [f"\nFAILED: {part.kind} {part.name}: {part.detail}" for part in record.failures]
    if record.use:
        lines += ["", f"Copy {record.to} to the machine without network. There, for the same path:"]
        lines += [f"  {line}" for line in record.use]
    return printable("\n".join(lines))


def _short(detail: str) -> str:
    """Return the first line of a detail."""
    first, _, more = detail.partition("\n")
    return f"{first} …" if more else first
