"""The orders in which stored samples showed the options of their question, and the test of their effect."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from genbench.analysis.sides import Side, SideTask
from genbench.errors import GenbenchError
from genbench.runs.contamination_record import OrderRecord
from genbench.runs.rereadable import obstacle
from genbench.runs.rereading import stored_tasks
from genbench.runs.trust import Kind
from genbench.stats.optionorder import OrderedSamples, closeness, effect_test, order_effect
from genbench.store.folder import RunFolder
from genbench.tasks.loaded import LoadedTask
from genbench.tasks.options import LETTERS

Order = tuple[float, int]
"""Closeness to the order of the dataset, and the place of the right option."""


def order_record(
    side: Side, base: SideTask, tuned: SideTask, data_dir: Path | None, trusted: Collection[Kind]
) -> OrderRecord:
    """Return the effect of the order of options in base and tuned, with the test of a larger one in tuned.

    Args:
        side: the run of tuned, from which the questions are read again.
        base: the task in base, with the same problems as `tuned`.
        tuned: the task in tuned.
        data_dir: the mirror of the data, if its location has changed since the run.
        trusted: what the stored suite may do (see trust).
    """
    if side.manifest is None:
        return _missing("a score file has no questions")
    folder = RunFolder(side.path)
    why = obstacle(folder, side.manifest, tuned.name, data_dir, trusted)
    if why is not None:
        return _missing(why)
    try:
        (task,) = stored_tasks(folder, side.manifest, data_dir, [tuned.name])
    except GenbenchError as error:
        return _missing(str(error).split("\n", maxsplit=1)[0])
    orders = _orders(task, tuned.problem_ids, max(base.largest_k, tuned.largest_k))
    if orders is None:
        return _missing(_no_orders(task))
    left, right = (order_effect(_ordered(part, orders)) for part in (base, tuned))
    if left is None or right is None:
        return _missing("no problem has right and wrong samples in both runs")
    return OrderRecord(
        problems=right.problems,
        base_effect=left.effect,
        tuned_effect=right.effect,
        difference=right.effect - left.effect,
        se=math.hypot(left.se, right.se),
        p=effect_test(left, right),
        p_adjusted=None,
        missing=None,
    )


def _missing(why: str) -> OrderRecord:
    return OrderRecord(
        problems=0,
        base_effect=None,
        tuned_effect=None,
        difference=None,
        se=None,
        p=None,
        p_adjusted=None,
        missing=why,
    )


def _orders(task: LoadedTask, ids: Sequence[str], k: int) -> list[list[Order]] | None:
    """Return the orders of each problem's samples, or None if the task shows no options in changing order."""
    if task.task.info.asks_alike:
        return None
    problems = {problem.problem_id: problem for problem in task.problems}
    found = []
    for name in ids:
        asks = [task.ask(problems[name], index, ()) for index in range(k)]
        row = [_order(ask.order, ask.reference) for ask in asks if ask is not None]
        known = [item for item in row if item is not None]
        if len(known) < k:
            return None
        found.append(known)
    return found


def _no_orders(task: LoadedTask) -> str:
    """Return why a task shows no options in changing order."""
    asks = [task.ask(problem, 0, ()) for problem in task.problems[:1]]
    if any(ask is not None and ask.order is not None for ask in asks):
        return "its samples show the options in one order; draw it with options: {order: per_sample}"
    return "it shows no options"


def _order(order: tuple[int, ...] | None, reference: Any) -> Order | None:
    letter = reference.get("letter") if isinstance(reference, dict) else None
    if order is None or not isinstance(letter, str) or letter not in LETTERS or not letter:
        return None
    return closeness(order), LETTERS.index(letter)


def _ordered(task: SideTask, orders: Sequence[Sequence[Order]]) -> list[OrderedSamples]:
    """Return the scored samples of each problem with their orders."""
    found = []
    for row, own in zip(task.scores, orders, strict=True):
        kept = [(score, *order) for score, order in zip(row, own, strict=False) if score is not None]
        if len(kept) > 1:
            scores, close, places = zip(*kept, strict=True)
            found.append(OrderedSamples(np.array(scores), np.array(close), places))
    return found
