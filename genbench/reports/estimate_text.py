"""Estimates for the terminal: a sentence for each metric, with both intervals, then tables by stratum."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.estimation_record import EstimatedTask, Estimation
from genbench.analysis.records import EstimateRecord
from genbench.reports.figures import interval, points
from genbench.reports.table import aligned
from genbench.safetext.printable import printable


def estimate_text(estimation: Estimation) -> str:
    """Return the estimates as text, in points of 100."""
    lines = [f"{estimation.kind} {estimation.path}"]
    for name, task in estimation.tasks.items():
        lines.append("")
        lines += [_sentence(name, item) for item in task.metrics.values()]
        lines += _notices(task)
        for column, rows in task.strata.items():
            body = [_stratum(label, row) for label, row in rows.items()]
            lines.append(f"  by {column}:")
            lines.append(aligned((column, "n", "value", "95% CI"), body, {"n", "value"}, indent="    "))
    return printable("\n".join(lines))


def _sentence(name: str, item: EstimateRecord) -> str:
    """Return a sentence with a metric's value and its intervals in points of 100."""
    if item.value is None:
        return f"{name} {item.metric} is missing: {item.missing}"
    size = f"{item.n} x {item.k}"
    text = (
        f"{name} {item.metric} = {points(item.value)} (95% CI {interval(item.ci)}; question "
        f"population, {item.ci_method}; {size})."
    )
    if not item.rerun_ci:
        return text
    return f"{text} A re-run on these questions: {interval(item.rerun_ci)} ({item.rerun_ci_method})."


def _notices(task: EstimatedTask) -> Iterator[str]:
    """Yield the notices on a task's samples: ragged, excluded, and counts by status."""
    if task.ragged:
        yield "  warning: ragged: problems have unequal numbers of samples; the mean of their means is taken"
    if task.excluded:
        between = ""
        if task.bounds:
            low, high = (points(bound) for bound in task.bounds)
            between = f"; with them between {low} and {high}"
        yield f"  {task.excluded} of {task.samples} samples are excluded{between}"
    if task.status_counts:
        counts = ", ".join(f"{status} {count}" for status, count in task.status_counts.items())
        yield f"  {counts}"


def _stratum(label: str, row: EstimateRecord) -> tuple[str, ...]:
    """Return the cells of one stratum."""
    value = "missing" if row.value is None else points(row.value)
    return (label, str(row.n), value, interval(row.ci))
