"""What brings tasks and runs to a machine, for the terminal: imports of definitions and logs, and mirrors."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.exchange.import_runs import ImportedLogs, ImportedRun, ImportedTask
from genbench.reports.table import TERMINAL, Column, Table, aligned
from genbench.runs.mirror import MirroredPart, MirrorRecord
from genbench.safetext.printable import printable
from genbench.task_import.harness.levels import LEVELS, LevelReport
from genbench.task_import.importer import ImportedRecord, ImportRecord

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


_LogRow = tuple[ImportedRun, str, ImportedTask]
_LOGS = Table[_LogRow](
    Column("night", lambda row: row[0].night),
    Column("model", lambda row: row[0].model),
    Column("tool", lambda row: row[0].tool),
    Column("task", lambda row: row[1]),
    Column("metric", lambda row: row[2].metric),
    Column("n", lambda row: row[2].problems, right=TERMINAL),
    Column("samples", lambda row: row[2].samples, right=TERMINAL),
    Column("mean", lambda row: _points(row[2].mean), right=TERMINAL),
    Column("the tool's", lambda row: _points(row[2].total), right=TERMINAL),
    Column("", lambda row: "was there" if row[0].outcome == "there" else ""),
)


def _points(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f}"


def imported_logs_text(record: ImportedLogs) -> str:
    """Return what was made of folders of logs as text."""
    rows = [(run, name, task) for run in record.runs for name, task in run.tasks.items()]
    new = sum(run.outcome == "new" for run in record.runs)
    lines = [_LOGS.text(rows)] if rows else []
    lines += ["", *_lacking(record)] if rows else []
    if record.left_out:
        lines += ["", f"{len(record.left_out)} logs could not be read:"]
        lines += [f"  {path}: {why.removeprefix(f'{path}: ')}" for path, why in record.left_out.items()]
    there = len(record.runs) - new
    lines += ["", f"{new} runs made" + (f", {there} were there" if there else "") + _others(record)]
    if record.runs:
        newest = record.runs[-1].folder
        then = f"genbench trend {record.track}" if record.track else f"genbench show {newest}"
        lines += [f"next: {then}"]
    return printable("\n".join(lines))


def _lacking(record: ImportedLogs) -> Iterator[str]:
    """Yield what logs do not have, once for all runs that lack the same."""
    found: dict[tuple[str, str], int] = {}
    for run in record.runs:
        for words in run.lacks:
            key = (run.tool, words)
            found[key] = found.get(key, 0) + 1
    for (tool, words), count in found.items():
        yield f"{tool}, {count} run{'s' if count > 1 else ''}: {words}"


def _others(record: ImportedLogs) -> str:
    return f"; {record.others} other files are no logs of samples" if record.others else ""
