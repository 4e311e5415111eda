"""Estimates for the terminal: one sentence a metric, with both intervals named; then tables by stratum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from genbench.reports.figures import interval, points
from genbench.reports.safe import printable
from genbench.reports.table import aligned

Record = Mapping[str, Any]


def estimate_text(record: Record) -> str:
    """The record of `estimation.estimate` as text, in points of 100."""
    lines = [f"{record['kind']} {record['path']}"]
    for name, task in record["tasks"].items():
        lines.append("")
        lines += [_sentence(name, item) for item in task["metrics"].values()]
        lines += _notices(task)
        for column, rows in task["strata"].items():
            body = [_stratum(label, row) for label, row in rows.items()]
            lines.append(f"  by {column}:")
            lines.append(aligned((column, "n", "value", "95% CI"), body, {"n", "value"}, indent="    "))
    return printable("\n".join(lines))


def _sentence(name: str, item: Record) -> str:
    """`gpqa avg@8 = 47.3 (95% CI [41.9, 52.7]; question population, …, 198 x 8). Re-run: [46.1, 48.5]`."""
    if item["value"] is None:
        return f"{name} {item['metric']} is missing: {item['missing']}"
    size = f"{item['n']} x {item['k']}"
    text = (
        f"{name} {item['metric']} = {points(item['value'])} (95% CI {interval(item['ci'])}; question "
        f"population, {item['ci_method']}; {size})."
    )
    if not item["rerun_ci"]:
        return text
    return f"{text} A re-run on these questions: {interval(item['rerun_ci'])} ({item['rerun_ci_method']})."


def _notices(task: Record) -> Iterator[str]:
    if task["ragged"]:
        yield "  warning: ragged: problems have unequal numbers of samples; the mean of their means is taken"
    if task["excluded"]:
        between = ""
        if task["bounds"]:
            low, high = (points(bound) for bound in task["bounds"])
            between = f"; with them between {low} and {high}"
        yield f"  {task['excluded']} of {task['samples']} samples are excluded{between}"
    if task["status_counts"]:
        counts = ", ".join(f"{status} {count}" for status, count in task["status_counts"].items())
        yield f"  {counts}"


def _stratum(label: str, row: Record) -> tuple[str, ...]:
    value = "missing" if row["value"] is None else points(row["value"])
    return (str(label), str(row["n"]), value, interval(row["ci"]))
