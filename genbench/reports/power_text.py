"""A power plan for the terminal: the smallest drop that each task can find, and how to find a smaller one."""

from __future__ import annotations

from genbench.reports.figures import points
from genbench.reports.table import aligned
from genbench.runs.power_record import NightsPlan, PlannedTask, PowerPlan
from genbench.safetext.printable import printable


def power_text(plan: PowerPlan) -> str:
    """Return the plan as text, in points of 100."""
    grid = sorted({cell.k for task in plan.tasks.values() for cell in task.mde_at})
    head = ("task", "n x k", "finds", "in the gate", *(f"k={k}" for k in grid), "endless k")
    rows = [_row(name, task, grid) for name, task in plan.tasks.items()]
    parts = [
        aligned(head, rows, set(head) - {"task"}),
        "",
        *(f"{name}: {_advice(task, plan.detect)}" for name, task in plan.tasks.items()),
        "",
        "Smallest drop in points of 100 that a one-sided test finds with 80% power: at 5%; in the gate at "
        f"{100 * plan.gate_alpha:.2g}%, the strictest level that Holm may ask of a task.",
        f"k=N: the same with N samples a problem of {_drawn(plan)}; endless k: of both. Variances:",
        *(f"  {name}: {task.components.source}" for name, task in plan.tasks.items()),
        *_caution(plan),
        *(_nights(plan.nights, plan.detect) if plan.nights else ()),
        *_adaptive(plan),
    ]
    return printable("\n".join(parts))


def _nights(plan: NightsPlan, detect: float) -> list[str]:
    """Return what a track of nights finds: a row for each task, and one for the pooled line."""
    grid = [cell.nights for cell in next(iter(plan.tasks.values())).drop_in]
    head = ("found within nights:", *map(str, grid), f"{points(detect)} points in {plan.nights}", "needs")
    named = {**plan.tasks, **({"all gating tasks alike": plan.pooled} if plan.pooled else {})}
    rows = [
        (
            name,
            *(points(cell.drop) for cell in task.drop_in),
            f"{task.chance:.0%}",
            "more than 40" if task.nights_needed is None else str(task.nights_needed),
        )
        for name, task in named.items()
    ]
    alarms = "false alarm" if plan.alarms_per_year == 1 else "false alarms"
    return [
        "",
        aligned(head, rows, set(head[1:])),
        f"Drops in points of 100 that a track finds with 80% probability, at {plan.alarms_per_year:g} "
        f"{alarms} in {plan.nights_per_year:g} nights. `needs`: nights for {points(detect)} points.",
    ]


def _adaptive(plan: PowerPlan) -> list[str]:
    """Return the table of what an adaptive run will cost, or nothing if it was not asked for."""
    if not plan.adaptive:
        return []
    head = ("if", "samples", "REGRESSED", "NON_INFERIOR", *plan.tasks)
    rows = [
        (
            _drops(night.drops),
            *(f"{share:.0%}" for share in (night.share, night.regressed, night.non_inferior)),
            *(f"{night.tasks[name]:.0%}" for name in plan.tasks),
        )
        for night in plan.adaptive
    ]
    sure = "" if plan.base else " No base is stored, so no problem is taken as sure: name it with --base."
    return [
        "",
        "run --adaptive, expected share of the samples, in all and by task:",
        aligned(head, rows, set(head) - {"if"}),
        "Simulated nights with normal errors. NON_INFERIOR: every gating task of 100 problems or more."
        + sure,
    ]


def _drops(drops: dict[str, float]) -> str:
    """Return what really happened in words."""
    if not drops:
        return "nothing changed"
    points_lost = points(max(drops.values()))
    if len(drops) > 1:
        return f"all tasks -{points_lost}"
    return f"{next(iter(drops))} -{points_lost}"


def _caution(plan: PowerPlan) -> list[str]:
    """Return what an assumed correlation is worth, or nothing if all are measured."""
    if all("measured from" in task.components.source for task in plan.tasks.values()):
        return []
    return [
        "rho, the correlation of base and tuned, is assumed. Real version steps had 0.5 to 0.8: drops found "
        "were then up to 3 times larger. Measure it with --base RUN --tuned EARLIER_RUN."
    ]


def _drawn(plan: PowerPlan) -> str:
    """Return the runs whose k varies in the columns."""
    return "both runs" if plan.base is None else "the tuned run, with the stored base"


def _row(name: str, task: PlannedTask, grid: list[int]) -> tuple[str, ...]:
    """Return the cells of one task: the drop as planned, in the gate, and at each k of the grid."""
    at = {cell.k: points(cell.mde) for cell in task.mde_at}
    gate = "-" if task.mde_gate is None else points(task.mde_gate)
    k = task.k_tuned if task.k_base == task.k_tuned else f"{task.k_base}/{task.k_tuned}"
    cells = (at.get(k, "-") for k in grid)
    return (name, f"{task.n} x {k}", points(task.mde), gate, *cells, points(task.mde_floor))


def _advice(task: PlannedTask, detect: float) -> str:
    """Return how to find the wanted drop: by the plan, by more samples, or only by more problems."""
    wanted, more = points(detect), f"{task.problems_needed:,} problems like these at this k"
    if task.finds:
        return f"finds a drop of {wanted} points as planned"
    if task.k_needed is not None:
        return f"finds {wanted} points with k = {task.k_needed:,}, or with {more}"
    if task.mde_floor <= detect:
        return f"more samples of only tuned do not find {wanted} points: draw more of the base too, or {more}"
    return f"no number of samples finds {wanted} points on {task.n} problems: only more problems do ({more})"
