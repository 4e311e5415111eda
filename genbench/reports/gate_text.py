"""The nightly gate for the terminal."""

from __future__ import annotations

from genbench.policy.record import GatedTask, NightlyGate
from genbench.reports.figures import points
from genbench.reports.table import aligned
from genbench.reports.why import signed

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
