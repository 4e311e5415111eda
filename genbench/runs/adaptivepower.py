"""What an adaptive run of a suite will cost, before anything is drawn."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from genbench.analysis.sides import SideTask
from genbench.runs.power_record import ForeseenNight
from genbench.stats.adaptive import task_rule
from genbench.stats.adaptivecost import ForeseenTask, foresee
from genbench.stats.gate import MARGIN
from genbench.stats.lookplan import SURE_SAMPLES, plan_looks, sure_problems
from genbench.stats.power import Components
from genbench.tasks.loaded import LoadedTask

_SEED = 0
"""The simulated nights are the same for the same plan."""
_SHOWN = 8
"""Tasks whose own drop is shown. A suite may have hundreds."""


def foreseen_nights(
    tasks: Sequence[LoadedTask],
    parts: Mapping[str, Components],
    stored: Mapping[str, SideTask],
    family: Collection[str],
    drop: float,
) -> tuple[ForeseenNight, ...]:
    """Return the expected cost if nothing changed, if one gating task lost `drop`, and if all did.

    Args:
        parts: the variances of each task.
        stored: the tasks of a stored base. Without it no problem is sure.
        family: the gating tasks.
    """
    if not tasks:
        return ()
    foreseen = {task.name: _task(task, parts[task.name], stored.get(task.name), family) for task in tasks}
    one_task = [{name: drop} for name in list(family)[:_SHOWN]]
    all_tasks = [dict.fromkeys(family, drop)] if len(family) > 1 else []
    return tuple(_night(foreseen, drops) for drops in ({}, *one_task, *all_tasks))


def _task(
    task: LoadedTask, parts: Components, base: SideTask | None, family: Collection[str]
) -> ForeseenTask:
    """Return a task as it is before it is drawn."""
    n = len(task.problems)
    rule = task_rule(
        plan_looks(n, task.k),
        margin=MARGIN if task.entry.margin is None else task.entry.margin / 100,
        gating=task.name in family,
        family=len(family),
    )
    sure = 0.0 if base is None else float(sure_problems(base.scores).mean())
    return ForeseenTask(rule, parts, SURE_SAMPLES if base is None else base.smallest_k, sure)


def _night(tasks: Mapping[str, ForeseenTask], drops: dict[str, float]) -> ForeseenNight:
    """Return the record of one kind of night."""
    found = foresee(tasks, drops, seed=_SEED)
    return ForeseenNight(
        drops=drops,
        share=found.share,
        regressed=found.regressed,
        non_inferior=found.non_inferior,
        tasks=dict(found.tasks),
    )
