"""The power of a planned comparison: the smallest drop that each task of a suite can find."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from genbench.analysis.opening import open_side
from genbench.analysis.sides import SideTask
from genbench.errors import InputError
from genbench.runs.adaptivepower import foreseen_nights
from genbench.runs.options import RunOptions, open_suite
from genbench.runs.power_record import ComponentsRecord, DropAtK, PlannedTask, PowerPlan
from genbench.runs.selection import load_tasks
from genbench.stats.differences import ALPHA
from genbench.stats.power import (
    RHO,
    Components,
    assumed_components,
    measured_change,
    measured_components,
    problems_needed,
    samples_needed,
    smallest_drop,
    with_measured_change,
)
from genbench.tasks.loaded import LoadedTask

_K_GRID = (1, 2, 4, 8, 16, 32, 64)
_SINGLE = "no stored pair has two scored samples of a problem"


def power(
    suite: str | Path,
    *,
    detect: float,
    base: Path | str | None = None,
    tuned: Sequence[Path | str] = (),
    rho: float = RHO,
    data_dir: str | Path | None = None,
    limit: int | None = None,
    tasks: Sequence[str] = (),
    overrides: Sequence[str] = (),
    with_test: bool = False,
    adaptive: bool = False,
) -> PowerPlan:
    """Plan every task of a suite for a drop of `detect` (a fraction of 1). No model is loaded.

    Args:
        base: a stored run or score file whose variances and k are used. None: variances are assumed.
        tuned: stored runs of earlier tuned models with the same problems as `base`. How far the problems'
            true means move is measured from these pairs, task by task.
        rho: the correlation of the problems' true means in base and tuned that is assumed without a pair.
            It is 0.98 for neighbouring checkpoints and 0.9 after a big finetune.
        adaptive: also say what an adaptive run will cost, if nothing changed and for drops of `detect`.

    Raises:
        InputError: an option, the suite, its data or the stored run cannot be used.
    """
    _check(detect, rho)
    if tuned and base is None:
        raise InputError("--tuned names runs that are paired with a stored base: add --base RUN")
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
    others = [open_side(Path(path)).tasks for path in tuned]
    family = [task.name for task in loaded if task.entry.gating] or [task.name for task in loaded]
    gate_alpha = ALPHA if len(family) == 1 else ALPHA / 2 / len(family)
    parts = {
        task.name: _parts(
            stored.get(task.name), [side[task.name] for side in others if task.name in side], rho
        )
        for task in loaded
    }
    if others and all(part.source.endswith(f"({_SINGLE})") for part in parts.values()):
        raise InputError(f"--tuned: {_SINGLE}, in no task; draw two or more samples of each problem")
    nights = foreseen_nights(loaded, parts, stored, family, detect) if adaptive else ()
    return PowerPlan(
        format=1,
        suite=str(suite),
        base=None if base is None else str(base),
        detect=detect,
        alpha=ALPHA,
        gate_alpha=gate_alpha,
        tasks={
            task.name: _planned(
                task,
                parts[task.name],
                stored.get(task.name),
                detect,
                gate_alpha if task.name in family else None,
            )
            for task in loaded
        },
        **({"adaptive": nights} if nights else {}),
    )


def _check(detect: float, rho: float) -> None:
    """Raise InputError if the drop or the correlation is out of range."""
    if not 0 < detect <= 1:
        raise InputError(f"--detect {100 * detect:g}: wanted points of 100, above 0 and up to 100")
    if not 0 <= rho <= 1:
        raise InputError(f"--rho {rho}: wanted a correlation from 0 to 1")


def _parts(base: SideTask | None, others: Sequence[SideTask], rho: float) -> Components:
    """Return the variance components of a task: measured as far as runs are stored, otherwise assumed."""
    if base is None:
        return assumed_components(rho=rho)
    parts = measured_components(base.scores, rho=rho)
    pairs = []
    for other in others:
        known = set(other.problem_ids)
        ids = [problem for problem in base.problem_ids if problem in known]
        if ids:
            pairs.append((base.take(ids).scores, other.take(ids).scores))
    if not pairs:
        return parts
    if all(measured_change(*pair) is None for pair in pairs):
        return replace(parts, source=f"{parts.source} ({_SINGLE})")
    return with_measured_change(parts, pairs)


def _planned(
    task: LoadedTask,
    parts: Components,
    base: SideTask | None,
    detect: float,
    gate_alpha: float | None,
) -> PlannedTask:
    """Plan one task.

    Without a stored base both runs have one k. `gate_alpha` is None if it is not in the gate.
    """
    n, k_base = len(task.problems), None if base is None else base.smallest_k

    def drop(k: float, alpha: float = ALPHA) -> float:
        return smallest_drop(parts, n, k if k_base is None else k_base, k, alpha=alpha)

    return PlannedTask(
        n=n,
        k_base=k_base or task.k,
        k_tuned=task.k,
        mde=drop(task.k),
        mde_gate=None if gate_alpha is None else drop(task.k, gate_alpha),
        mde_at=tuple(DropAtK(k=k, mde=drop(k)) for k in sorted({*_K_GRID, task.k})),
        mde_floor=smallest_drop(parts, n, math.inf, math.inf),
        finds=drop(task.k) <= detect,
        k_needed=samples_needed(parts, n, detect, k_base=k_base),
        problems_needed=problems_needed(parts, k_base or task.k, task.k, detect),
        gating=gate_alpha is not None,
        components=_components(parts),
    )


def _components(parts: Components) -> ComponentsRecord:
    """Return the record of the variance components."""
    return ComponentsRecord(
        between=parts.between, within=parts.within, change=parts.change, source=parts.source
    )
