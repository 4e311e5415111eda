"""A plan for the terminal: what each task can find, what more samples buy, where only problems help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.reports.figures import points
from genbench.reports.safe import printable
from genbench.reports.table import aligned

Record = Mapping[str, Any]


def power_text(record: Record) -> str:
    """The record of `planning.power` as text, in points of 100."""
    tasks = record["tasks"]
    grid = sorted({cell["k"] for task in tasks.values() for cell in task["mde_at"]})
    head = ("task", "n x k", "finds", "in the gate", *(f"k={k}" for k in grid), "endless k")
    rows = [_row(name, task, grid) for name, task in tasks.items()]
    parts = [
        aligned(head, rows, set(head) - {"task"}),
        "",
        *(f"{name}: {_advice(task, record['detect'])}" for name, task in tasks.items()),
        "",
        "Smallest drop in points of 100 that a one-sided test finds with 80% power: at 5%; in the gate at "
        f"{100 * record['gate_alpha']:.2g}%, the strictest level that Holm may ask of a task.",
        f"k=N: the same with N samples a problem of {_drawn(record)}; endless k: of both. Variances:",
        *(f"  {name}: {task['components']['source']}" for name, task in tasks.items()),
    ]
    return printable("\n".join(parts))


def _drawn(record: Record) -> str:
    return "both runs" if record["base"] is None else "the tuned run, beside the stored base"


def _row(name: str, task: Record, grid: list[int]) -> tuple[str, ...]:
    at = {cell["k"]: points(cell["mde"]) for cell in task["mde_at"]}
    gate = "-" if task["mde_gate"] is None else points(task["mde_gate"])
    k = task["k_tuned"] if task["k_base"] == task["k_tuned"] else f"{task['k_base']}/{task['k_tuned']}"
    cells = (at.get(k, "-") for k in grid)
    return (name, f"{task['n']} x {k}", points(task["mde"]), gate, *cells, points(task["mde_floor"]))


def _advice(task: Record, detect: float) -> str:
    wanted, more = points(detect), f"{task['problems_needed']:,} problems like these at this k"
    if task["finds"]:
        return f"finds a drop of {wanted} points as planned"
    if task["k_needed"] is not None:
        return f"finds {wanted} points with k = {task['k_needed']:,}, or with {more}"
    if task["mde_floor"] <= detect:
        return (
            f"more samples of tuned alone do not find {wanted} points: draw more of the base too, or {more}"
        )
    return (
        f"no number of samples finds {wanted} points on {task['n']} problems: only more problems do ({more})"
    )
