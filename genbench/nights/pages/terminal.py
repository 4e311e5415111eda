"""The records of `genbench ledger` and the nightly gate, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from genbench.nights.ledger.checking import CheckedRun, LedgerCheck
from genbench.nights.ledger.ingest import AddedRun, LedgerAdded
from genbench.nights.ledger.listing import LedgerList, ListedRun, ListedTrack
from genbench.nights.ledger.pruning import LedgerPruned
from genbench.nights.ledger.rescoring import LedgerRescored, RescoredRun
from genbench.nights.policy.gate import GatedTask, NightlyGate
from genbench.reports.numbers import points, signed
from genbench.reports.table import TERMINAL, Column, Table

LedgerRecord = LedgerAdded | LedgerList | LedgerCheck | LedgerPruned | LedgerRescored


def ledger_text(record: LedgerRecord) -> str:
    """Return a record of the ledger as text."""
    match record:
        case LedgerAdded():
            return _added(record)
        case LedgerList():
            return _list(record)
        case LedgerCheck():
            return _check(record)
        case LedgerPruned():
            return _pruned(record)
        case LedgerRescored():
            return _rescored(record)


def _outcome(item: AddedRun) -> str:
    words = [item.outcome, *([] if item.state in ("finished", "refused") else [item.state])]
    return ", ".join([*words, *([] if item.seal in (None, "whole") or len(words) > 1 else [item.seal])])


def _place(item: AddedRun) -> str:
    if item.outcome == "refused":
        return ""
    return f"{item.track} {item.label}" if item.track else "no track"


_ADDED = Table[AddedRun](
    Column("outcome", _outcome),
    Column("track", _place),
    Column("model", lambda item: item.model or ""),
    Column("run folder", lambda item: item.path),
)


def _added(record: LedgerAdded) -> str:
    counts = Counter(item.outcome for item in record.folders)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    refused = [
        f"{item.path}: {item.detail}"
        for item in record.folders
        if item.outcome == "refused" or (item.detail and item.state == "finished")
    ]
    table = _ADDED.text(record.folders)
    return "\n".join([table, "", f"{record.ledger}: {told or 'no run folder'}", *_bullets(refused)])


_TRACKS = Table[ListedTrack](
    Column("track", lambda item: item.name),
    Column("kind", lambda item: item.kind),
    Column("runs", lambda item: f"{item.points:,}", right=TERMINAL),
    Column("first", lambda item: item.first or "-"),
    Column("last", lambda item: item.last or "-"),
    Column("tasks", lambda item: f"{item.tasks:,}", right=TERMINAL),
    Column("base", lambda item: (item.base or "-")[:8]),
    Column("alarms a year", lambda item: f"{item.alarms_per_year:g}", right=TERMINAL),
    Column("open changes", lambda item: item.open_changes, right=TERMINAL),
)
_RUNS = Table[ListedRun](
    Column("uid", lambda item: item.uid[:8]),
    Column("track", lambda item: item.track or "-"),
    Column("night or step", lambda item: item.label or "-"),
    Column("model", lambda item: item.model),
    Column("role", lambda item: item.role),
    Column("state", lambda item: item.state if item.kept == "all" else f"{item.state}, kept: {item.kept}"),
    Column("run folder", lambda item: item.paths[0] if item.paths else "(not there)"),
)


def _list(record: LedgerList) -> str:
    if not record.tracks and not record.runs:
        return f"{record.ledger}: no tracks yet; add runs with: genbench ledger add DIR"
    runs = [] if record.runs is None else [_RUNS.text(record.runs)]
    return "\n\n".join([_TRACKS.text(record.tracks), *runs])


def _check(record: LedgerCheck) -> str:
    counts = Counter(item.state for item in record.runs)
    told = ", ".join(f"{count:,} {state}" for state, count in sorted(counts.items()))
    lines = [f"{record.ledger}: {told or 'no run folder'}"]
    for item in record.runs:
        if item.state != "ok":
            lines += [f"{item.state}: {item.path} ({_name(item)})", *_bullets(item.problems)]
    return "\n".join(lines)


def _name(item: CheckedRun) -> str:
    return f"{item.track}, {item.uid[:8]}" if item.track else item.uid[:8]


def _pruned(record: LedgerPruned) -> str:
    size = sum(item.bytes for item in record.runs)
    verb = "would delete" if record.dry_run else "deleted"
    lines = [
        f"{record.track}: {verb} {size / 1e6:,.1f} MB of {len(record.runs)} runs; {record.spared} old runs "
        "keep everything (base, open changes, the newest)"
    ]
    lines += [f"  {item.label} {item.uid[:8]}: {len(item.files)} files, {item.path}" for item in record.runs]
    return "\n".join(lines)


def _rescored(record: LedgerRescored) -> str:
    counts = Counter(item.outcome for item in record.runs)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    lines = [f"{record.track}: {told or 'no run'}"]
    for item in record.runs:
        lines += _moved(item)
    return "\n".join(lines)


def _moved(item: RescoredRun) -> list[str]:
    if item.outcome == "skipped":
        return [f"  {item.label} {item.model}: skipped, {item.detail}"]
    return [
        f"  {item.label} {item.model}: {task}: {moved.problems} problems moved, "
        f"{points(moved.before)} -> {points(moved.after)}"
        for task, moved in item.moved.items()
    ]


def _bullets(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


GatedRow = tuple[str, GatedTask]


def _difference_ci(row: GatedRow) -> str:
    ci = row[1].ci
    return "-" if ci is None else f"[{_change(row, ci[0])}, {_change(row, ci[1])}]"


def _figure(row: GatedRow, value: float | None) -> str:
    """Return a score or share in points of 100, and bits per byte as they are."""
    if value is None:
        return "-"
    return f"{value:.4g}" if row[1].measure == "bpb_gold" else points(value)


def _change(row: GatedRow, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:+.3f}" if row[1].measure == "bpb_gold" else signed(value)


_GATED = Table[GatedRow](
    Column("task", lambda row: row[0]),
    Column("tier", lambda row: row[1].tier),
    Column("n", lambda row: row[1].n, right=TERMINAL),
    Column("base", lambda row: _figure(row, row[1].base), right=TERMINAL),
    Column("tonight", lambda row: _figure(row, row[1].tonight), right=TERMINAL),
    Column("difference", lambda row: _change(row, row[1].difference), right=TERMINAL),
    Column("95% interval", _difference_ci, right=TERMINAL),
    Column("margin", lambda row: _figure(row, row[1].margin or None), right=TERMINAL),
    Column("", lambda row: "" if row[1].state == "held" else row[1].state),
)


def gate_text(record: NightlyGate) -> str:
    """Return the decision, its reasons, the tasks and the open changes. Scores are points of 100."""
    head = f"{record.verdict.upper()}: {record.model} of {record.label}, track {record.track}"
    lines = [head, *(f"  {reason}" for reason in record.reasons)]
    lines += [f"  note: {remark}" for remark in record.remarks]
    if record.seal != "whole":
        lines.append("  note: unsealed: nothing shows whether the run's files were changed")
    if record.tasks:
        lines += ["", _GATED.text(record.tasks.items())]
    lines += [
        "",
        f"policy {record.policy}; tonight's tests err on an unchanged model in {record.alpha:.2%} of nights; "
        f"open drops in the history: {len(record.changes)}",
    ]
    return "\n".join(lines)
