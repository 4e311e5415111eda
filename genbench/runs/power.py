"""What a suite could find, before any GPU is spent: the smallest drop per task, and what would lower it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from genbench.analysis.sides import SideTask
from genbench.analysis.storedrun import open_side
from genbench.errors import InputError
from genbench.runs.jobs import load_tasks
from genbench.runs.options import RunOptions, open_suite
from genbench.stats.differences import ALPHA
from genbench.stats.power import (
    RHO,
    assumed_components,
    measured_components,
    problems_needed,
    samples_needed,
    smallest_drop,
)
from genbench.tasks.loaded import LoadedTask

FORMAT = 1
_K_GRID = (1, 2, 4, 8, 16, 32, 64)


def power(
    suite: str,
    *,
    detect: float,
    base: Path | str | None = None,
    rho: float = RHO,
    data_dir: Path | None = None,
    limit: int | None = None,
    tasks: Sequence[str] = (),
    overrides: Sequence[str] = (),
    with_test: bool = False,
) -> dict[str, Any]:
    """Plans every task of a suite for a drop of `detect` (a fraction of 1); reads the data, opens no model.

    Args:
        base: a stored run or score file: its variances are used, and its k is the base's.
        rho: correlation of the problems' true means in base and tuned; 0.98 for neighbouring
            checkpoints, 0.9 after a big finetune.

    Raises:
        InputError: the suite, its data or the stored run cannot be used.
    """
    if not 0 < detect <= 1:
        raise InputError(f"--detect {100 * detect:g}: wanted points of 100, above 0 and up to 100")
    if not 0 <= rho <= 1:
        raise InputError(f"--rho {rho}: wanted a correlation from 0 to 1")
    options = RunOptions(
        suite=suite,
        data_dir=data_dir,
        limit=limit,
        tasks=tasks,
        overrides=tuple(overrides),
        with_test=with_test,
    )
    loaded = load_tasks(open_suite(options)[0], options)
    stored = open_side(Path(base)).tasks if base is not None else {}
    family = [task.name for task in loaded if task.entry.gating] or [task.name for task in loaded]
    gate_alpha = ALPHA if len(family) == 1 else ALPHA / 2 / len(family)
    return {
        "format": FORMAT,
        "suite": suite,
        "base": None if base is None else str(base),
        "detect": detect,
        "alpha": ALPHA,
        "gate_alpha": gate_alpha,
        "tasks": {
            task.name: _task_record(
                task,
                stored.get(task.name),
                detect,
                rho,
                gate_alpha if task.name in family else None,
            )
            for task in loaded
        },
    }


def _task_record(
    task: LoadedTask, base: SideTask | None, detect: float, rho: float, gate_alpha: float | None
) -> dict[str, Any]:
    """Without a stored base both runs are drawn with one k; `gate_alpha` None: the task does not gate."""
    parts = assumed_components(rho=rho) if base is None else measured_components(base.scores, rho=rho)
    n, k_base = len(task.problems), None if base is None else base.smallest_k

    def drop(k: float, alpha: float = ALPHA) -> float:
        return smallest_drop(parts, n, k if k_base is None else k_base, k, alpha=alpha)

    return {
        "n": n,
        "k_base": k_base or task.k,
        "k_tuned": task.k,
        "mde": drop(task.k),
        "mde_gate": None if gate_alpha is None else drop(task.k, gate_alpha),
        "mde_at": [{"k": k, "mde": drop(k)} for k in sorted({*_K_GRID, task.k})],
        "mde_floor": smallest_drop(parts, n, math.inf, math.inf),
        "finds": drop(task.k) <= detect,
        "k_needed": samples_needed(parts, n, detect, k_base=k_base),
        "problems_needed": problems_needed(parts, k_base or task.k, task.k, detect),
        "gating": gate_alpha is not None,
        "components": {
            "between": parts.between,
            "within": parts.within,
            "change": parts.change,
            "source": parts.source,
        },
    }
