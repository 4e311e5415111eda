"""A ranking for the terminal: one table a task, strongest first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from genbench.reports.figures import interval, points
from genbench.reports.safe import printable
from genbench.reports.table import aligned

Record = Mapping[str, Any]
_HEAD = ("model", "strength", "95% CI", "beats reference", "95% CI of it", "pairs", "won", "tied", "lost")
_RIGHT = frozenset({"strength", "beats reference", "pairs", "won", "tied", "lost"})


def rank_text(record: Record) -> str:
    """The record of `ranking.rank` as text."""
    parts = [f"let through: {line}" for line in record["allowed"]]
    for name, task in record["tasks"].items():
        parts += _task(name, task)
    parts.append(
        "strength: log odds over the reference (Bradley-Terry, ties as half a win each, intervals clustered\n"
        "by problem). beats reference: the chance of winning a pair, in points of 100."
    )
    return printable("\n".join(parts))


def _task(name: str, task: Record) -> Iterator[str]:
    judge = task["judge"]
    pin = ", UNPINNED" if judge["unpinned"] else ""
    over = f"{task['pairs']} pairs over {task['problems']} problems"
    yield f"{name}: {over}, judge {judge['name']} {judge['digest']}{pin}"
    if task["missing"]:
        yield f"  no strengths: {task['missing']}"
    if task["itself"]:
        yield f"  {task['itself']} run(s) were held against their own answers and left out"
    if task["models"]:
        yield f"  reference: {task['reference']}"
        yield aligned(_HEAD, [_row(model) for model in task["models"]], _RIGHT, indent="  ")
    yield ""


def _row(model: Record) -> tuple[str, ...]:
    known = model["strength"] is not None
    return (
        model["name"],
        f"{model['strength']:+.2f}" if known else "-",
        f"[{model['ci'][0]:+.2f}, {model['ci'][1]:+.2f}]" if known else "-",
        points(model["beats_reference"]) if known else "-",
        interval(model["beats_reference_ci"]),
        *(str(model[key]) for key in ("pairs", "wins", "ties", "losses")),
    )
