"""What was made of folders of logs, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.interop.logs.import_runs import ImportedLogs, ImportedRun, ImportedTask
from genbench.reports.table import TERMINAL, Column, Table
from genbench.safetext.printable import printable

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
    lines += [
        "",
        f"{new} run{'s' if new != 1 else ''} made"
        + (f", {there} were there" if there else "")
        + _others(record),
    ]
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
    return f"; {record.others} other files are not logs of samples" if record.others else ""
