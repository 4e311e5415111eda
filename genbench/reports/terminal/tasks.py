"""What a mirror has fetched, for the terminal."""

from __future__ import annotations

from genbench.reports.table import Column, Table
from genbench.runs.mirror import MirroredPart, MirrorRecord
from genbench.safetext.printable import printable

_PARTS = Table[MirroredPart](
    Column("what", lambda part: part.kind),
    Column("name", lambda part: part.name),
    Column("state", lambda part: part.state),
    Column("detail", lambda part: _short(part.detail)),
)


def mirror_text(record: MirrorRecord) -> str:
    """Return the parts as a table, what failed, and how the mirror is used."""
    lines = [_PARTS.text(record.parts) if record.parts else "nothing to fetch: no task here has a dataset"]
    lines += [f"\nFAILED: {part.kind} {part.name}: {part.detail}" for part in record.failures]
    if record.use:
        lines += ["", f"Copy {record.to} to the machine without network. There, for the same path:"]
        lines += [f"  {line}" for line in record.use]
    return printable("\n".join(lines))


def _short(detail: str) -> str:
    """Return the first line of a detail."""
    first, _, more = detail.partition("\n")
    return f"{first} …" if more else first
