"""Imports of definitions, and the levels of a folder of them, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.interop.tasks.harness.levels import LEVELS, LevelReport
from genbench.interop.tasks.importer import ImportedRecord, ImportRecord
from genbench.reports.table import TERMINAL, Column, Table, aligned
from genbench.safetext.printable import printable

_SHOWN_TASKS = 5
_SHOWN_CHARACTERS = 600
_SHOWN_REFUSED = 30


def import_text(record: ImportRecord | LevelReport) -> str:
    """Return the record of an import, or the levels of a folder, as text."""
    lines = _levels(record) if isinstance(record, LevelReport) else _import(record)
    return printable("\n".join(lines))


_IMPORTED = Table[ImportedRecord](
    Column("task", lambda item: item.task),
    Column("level", lambda item: item.level),
    Column("door", lambda item: item.door),
    Column("output", lambda item: item.output),
    Column("rows", lambda item: item.rows, right=TERMINAL),
    Column("refused", lambda item: item.refused_rows, right=TERMINAL),
)


def _import(record: ImportRecord) -> Iterator[str]:
    yield _IMPORTED.text(record.imported)
    for item in record.imported[:_SHOWN_TASKS]:
        yield from _task(item)
    if record.refused:
        yield ""
        yield f"{len(record.refused)} tasks cannot be imported:"
        yield from (
            f"  {item.task} (level {item.level}): {item.reason}" for item in record.refused[:_SHOWN_REFUSED]
        )
        if len(record.refused) > _SHOWN_REFUSED:
            yield f"  … and {len(record.refused) - _SHOWN_REFUSED} more (--json lists all)"
    yield ""
    yield f"suite: {record.suite}; next: genbench check {record.suite} --model model=PATH"


def _task(item: ImportedRecord) -> Iterator[str]:
    yield ""
    yield f"{item.task}: {item.lock}"
    yield from (f"  known defect: {words}" for words in item.defects)
    yield from (f"  changed: {words}" for words in item.changes)
    for place, (prompt, reference) in enumerate(item.examples, start=1):
        shown = prompt if len(prompt) <= _SHOWN_CHARACTERS else f"… {prompt[-_SHOWN_CHARACTERS:]}"
        yield f"  row {place}: {shown!r}"
        yield f"    reference: {reference[:_SHOWN_CHARACTERS]}"


def _levels(record: LevelReport) -> Iterator[str]:
    yield f"{record.tasks:,} tasks and {record.groups:,} groups in {record.root}"
    yield ""
    outputs = sorted({output for counts in record.levels.values() for output in counts})
    rows = []
    for level, counts in record.levels.items():
        count = sum(counts.values())
        shares = [_share(counts.get(output, 0), _whole(record, output)) for output in outputs]
        rows.append((level, LEVELS[level], _share(count, record.tasks), *shares))  # type: ignore[index]
    yield aligned(("level", "what it needs", "tasks", *outputs), rows, {"tasks", *outputs})
    yield ""
    families = [
        (item.family, str(item.tasks), *(str(item.levels.get(level, "")) for level in record.levels))
        for item in record.families
    ]
    numbers = {"tasks", *record.levels}
    yield aligned(("family", "tasks", *record.levels), families, numbers)
    if record.code:
        yield ""
        yield "Python functions: " + ", ".join(f"{key} {count:,}" for key, count in record.code.items())
    if record.refused:
        yield ""
        yield f"{sum(record.refused.values()):,} tasks cannot be imported by any door:"
        for reason, count in record.refused.items():
            yield f"  {count:,} tasks: {reason}"
            own = record.refused_families.get(reason) or {}
            if own:
                yield "    " + ", ".join(f"{name} {number:,}" for name, number in own.items())
    for name, words in record.defects.items():
        yield from (f"known defect of {name}: {text}" for text in words)
    yield from (f"cannot be read: {text}" for text in record.unreadable)


def _whole(record: LevelReport, output: str) -> int:
    return sum(counts.get(output, 0) for counts in record.levels.values())


def _share(count: int, of: int) -> str:
    return f"{count:,} ({100 * count / of:.1f} %)" if count else "-"
