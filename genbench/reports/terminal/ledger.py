"""The records of `genbench ledger` and the nightly gate, for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from genbench.ledger.checking import CheckedRun, LedgerCheck
from genbench.ledger.ingest import LedgerAdded
from genbench.ledger.listing import LedgerList
from genbench.ledger.pruning import LedgerPruned
from genbench.ledger.rescoring import LedgerRescored, RescoredRun
from genbench.policy.gate import GatedTask, NightlyGate
from genbench.reports.numbers import points, signed
from genbench.reports.table import aligned

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


def _added(record: LedgerAdded) -> str:
    rows = []
    for item in record.folders:
        place = f"{item.track} {item.label}" if item.track else "no track"
        what = item.outcome if item.state in ("finished", "refused") else f"{item.outcome}, {item.state}"
        rows.append((what, "" if item.outcome == "refused" else place, item.model or "", item.path))
    counts = Counter(item.outcome for item in record.folders)
    told = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    refused = [f"{item.path}: {item.detail}" for item in record.folders if item.outcome == "refused"]
    table = aligned(("outcome", "track", "model", "run folder"), rows, ())
    return "\n".join([table, "", f"{record.ledger}: {told or 'no run folder'}", *_bullets(refused)])


def _list(record: LedgerList) -> str:
    if not record.tracks and not record.runs:
        return f"{record.ledger}: no tracks yet; add runs with: genbench ledger add DIR"
    parts = [_tracks(record)]
    if record.runs is not None:
        rows = [
            (
                item.uid[:8],
                item.track or "-",
                item.label or "-",
                item.model,
                item.role,
                item.state if item.kept == "all" else f"{item.state}, kept: {item.kept}",
                item.paths[0] if item.paths else "(not there)",
            )
            for item in record.runs
        ]
        head = ("uid", "track", "night or step", "model", "role", "state", "run folder")
        parts.append(aligned(head, rows, ()))
    return "\n\n".join(parts)


def _tracks(record: LedgerList) -> str:
    rows = [
        (
            item.name,
            item.kind,
            f"{item.points:,}",
            item.first or "-",
            item.last or "-",
            f"{item.tasks:,}",
            (item.base or "-")[:8],
            f"{item.alarms_per_year:g}",
            str(item.open_changes),
        )
        for item in record.tracks
    ]
    head = ("track", "kind", "runs", "first", "last", "tasks", "base", "alarms a year", "open changes")
    return aligned(head, rows, {"runs", "tasks", "alarms a year", "open changes"})


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
        f"{_points(moved.before)} -> {_points(moved.after)}"
        for task, moved in item.moved.items()
    ]


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def _bullets(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


_HEAD = ("task", "tier", "n", "base", "tonight", "difference", "95% interval", "margin", "")
_RIGHT = frozenset({"n", "base", "tonight", "difference", "95% interval", "margin"})


def gate_text(record: NightlyGate) -> str:
    """Return the decision, its reasons, the tasks and the open changes. Scores are points of 100."""
    head = f"{record.verdict.upper()}: {record.model} of {record.label}, track {record.track}"
    lines = [head, *(f"  {reason}" for reason in record.reasons)]
    lines += [f"  note: {remark}" for remark in record.remarks]
    if record.tasks:
        rows = [_row(name, task) for name, task in record.tasks.items()]
        lines += ["", aligned(_HEAD, rows, _RIGHT)]
    lines += [
        "",
        f"policy {record.policy}; tonight's tests err on an unchanged model in {record.alpha:.2%} of nights; "
        f"open drops in the history: {len(record.changes)}",
    ]
    return "\n".join(lines)


def _row(name: str, task: GatedTask) -> tuple[str, ...]:
    """Return the cells of one task."""
    interval = "-" if task.ci is None else f"[{signed(task.ci[0])}, {signed(task.ci[1])}]"
    return (
        name,
        task.tier,
        "-" if task.n is None else str(task.n),
        points(task.base) if task.base is not None else "-",
        points(task.tonight) if task.tonight is not None else "-",
        signed(task.difference) if task.difference is not None else "-",
        interval,
        points(task.margin) if task.margin else "-",
        "" if task.state == "held" else task.state,
    )
