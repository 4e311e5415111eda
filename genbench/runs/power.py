"""The power of a planned comparison: the smallest drop that each task of a suite can find.

A comparison is of two runs, of the runs of a track over several nights, or an adaptive run that stops early.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import SideTask
from genbench.errors import InputError
from genbench.json_record import Count, JsonRecord, Share
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.runs.selection import load_tasks
from genbench.stats.adaptive.expected_cost import ForeseenTask, foresee
from genbench.stats.adaptive.group_sequential import SURE_SAMPLES, plan_looks, sure_problems, task_rule
from genbench.stats.comparison.differences import ALPHA
from genbench.stats.comparison.gate import MARGIN
from genbench.stats.comparison.power import (
    RHO,
    ComponentsRecord,
    assumed_components,
    measured_change,
    measured_components,
    problems_needed,
    samples_needed,
    smallest_drop,
    with_measured_change,
)
from genbench.stats.tracks.changepoints import alarm_threshold
from genbench.stats.tracks.track_power import (
    MOST_NIGHTS,
    NightNoise,
    chance_to_find,
    drop_found,
    night_noise,
    nights_to_find,
    pooled_noise,
)
from genbench.tasks.loaded_task import LoadedTask


class DropAtK(JsonRecord):
    """The smallest detectable drop at another k."""

    k: Count = Field(description="samples of each problem: of both runs, or of tuned with a stored base")
    mde: Share = Field(description="smallest drop that a one-sided 5% test finds with 80% power")


class PlannedTask(JsonRecord):
    """The smallest drop that one task can find. Drops are fractions of 1."""

    n: Count = Field(description="problems")
    k_base: Count = Field(description="samples of each problem of base")
    k_tuned: Count = Field(description="samples of each problem of tuned")
    mde: Share = Field(description="smallest drop that a one-sided 5% test finds with 80% power")
    mde_gate: Share | None = Field(
        description="the same at level `gate_alpha`; null for tasks that do not gate"
    )
    mde_at: tuple[DropAtK, ...] = Field(description="smallest detectable drop at other k")
    mde_floor: Share = Field(description="smallest detectable drop with unlimited samples of both runs")
    finds: bool = Field(description="whether the plan finds the wanted drop")
    k_needed: Count | None = Field(description="samples of each problem that find it; null if no k does")
    problems_needed: Count = Field(description="problems that find it at this k")
    gating: bool = Field(description="whether the task is in the gate's family")
    components: ComponentsRecord = Field(description="variances that the plan is based on")


class DropInNights(JsonRecord):
    """The smallest drop that is found within some nights."""

    nights: Count = Field(description="nights after the drop")
    drop: Share = Field(description="smallest drop that is found with 80% probability")


class TaskNights(JsonRecord):
    """What the trend of one task, or the pooled line, finds. Drops are fractions of 1."""

    drop: Share = Field(description="smallest drop that is found within `nights` with 80% probability")
    chance: Share = Field(description="probability that the wanted drop is found within `nights`")
    nights_needed: Count | None = Field(
        description="nights that find the wanted drop with 80% probability; null if 40 nights do not"
    )
    drop_in: tuple[DropInNights, ...] = Field(description="the same at other numbers of nights")


class NightsPlan(JsonRecord):
    """The plan of a track of nights, from the law of its alarm threshold."""

    nights: Count = Field(description="nights within which the drop is wanted")
    alarms_per_year: float = Field(description="budget of false alarms of the gating tasks and pooled line")
    nights_per_year: float = Field(description="runs in a year")
    threshold: float | None = Field(description="z of an alarm of gating tasks and pooled line")
    watch_threshold: float | None = Field(description="z of the other tasks, which share a second budget")
    track: str | None = Field(
        default=None, description="track whose nights' own noise is in the plan; absent if none was named"
    )
    night_noise: dict[str, Share] = Field(
        default_factory=dict,
        description="how far nights move by themselves, beyond their samples: standard deviation of one "
        "night's score by task; '' is the pooled line; empty without a track",
    )
    tasks: dict[str, TaskNights] = Field(description="by name")
    pooled: TaskNights | None = Field(
        description="an equal drop of all gating tasks, seen in the pooled line; null with fewer than two"
    )


class ForeseenNight(JsonRecord):
    """The expected cost and outcome of an adaptive run, if the tasks really lost something."""

    drops: dict[str, Share] = Field(description="true loss by task; empty if nothing changed")
    share: Share = Field(description="expected share of the samples of a run without any stop")
    regressed: Share = Field(description="probability that the suite REGRESSED")
    non_inferior: Share = Field(description="probability that every gating task of 100 problems or more is")
    tasks: dict[str, Share] = Field(description="expected share of the samples by task")


class PowerPlan(JsonRecord):
    """The smallest drop that a suite can find, task by task."""

    format: Literal[1] = Field(description="version of this record")
    suite: str = Field(description="suite as it was given on the command line")
    base: str | None = Field(description="stored base whose variances are used; null if they are assumed")
    detect: Share = Field(description="drop that the plan must find")
    alpha: Share = Field(description="level of the test of one task")
    gate_alpha: Share = Field(description="the strictest level that the gate may use for a task")
    tasks: dict[str, PlannedTask] = Field(description="plans by task")
    nights: NightsPlan | None = Field(default=None, description="absent unless --nights was given")
    adaptive: tuple[ForeseenNight, ...] = Field(
        default=(), description="what an adaptive run will cost; absent unless asked for"
    )


_SEED = 0
"""The simulated nights are the same for the same plan."""
_SHOWN = 8
"""Tasks whose own drop is shown. A suite may have hundreds."""


def foreseen_nights(
    tasks: Sequence[LoadedTask],
    parts: Mapping[str, ComponentsRecord],
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
    foreseen = {
        task.name: _foreseen_task(task, parts[task.name], stored.get(task.name), family) for task in tasks
    }
    one_task = [{name: drop} for name in list(family)[:_SHOWN]]
    all_tasks = [dict.fromkeys(family, drop)] if len(family) > 1 else []
    return tuple(_foreseen_night(foreseen, drops) for drops in ({}, *one_task, *all_tasks))


def _foreseen_task(
    task: LoadedTask, parts: ComponentsRecord, base: SideTask | None, family: Collection[str]
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


def _foreseen_night(tasks: Mapping[str, ForeseenTask], drops: dict[str, float]) -> ForeseenNight:
    """Return the record of one kind of night."""
    return ForeseenNight.from_object(foresee(tasks, drops, seed=_SEED), drops=drops)


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


def _parts(base: SideTask | None, others: Sequence[SideTask], rho: float) -> ComponentsRecord:
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
        return parts.model_copy(update={"source": f"{parts.source} ({_SINGLE})"})
    return with_measured_change(parts, pairs)


def _planned(
    task: LoadedTask,
    parts: ComponentsRecord,
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
        components=parts,
    )


_NIGHTS_GRID = (1, 3, 7, 14, 28, 40)


def plan_nights(
    tasks: Mapping[str, PlannedTask],
    *,
    detect: float,
    nights: int,
    alarms_per_year: float = 1.0,
    nights_per_year: float = 365.0,
    track: str | None = None,
    night_variances: Mapping[str, float] | None = None,
) -> NightsPlan:
    """Plan a track of nights for a drop of `detect` (a fraction of 1).

    Args:
        tasks: the planned tasks of a suite. The gating ones and their pooled line share one budget.
        nights: the nights within which the drop is wanted.
        track: the track that `night_variances` were measured on.
        night_variances: what nights vary by themselves beyond their samples, by task ("" is the pooled line).
            None: nights are taken to have no noise of their own.

    Raises:
        InputError: a number is out of range.
    """
    if not 1 <= nights <= 365:
        raise InputError(f"--nights {nights}: wanted a number of nights from 1 to 365")
    if not 0 < alarms_per_year <= 365 or not 0 < nights_per_year <= 1e5:
        raise InputError("--alarms and --nights-per-year: wanted numbers a year, above 0")
    gating = [name for name, task in tasks.items() if task.gating]
    others = [name for name in tasks if name not in gating]
    pooled = len(gating) > 1
    budget = (alarms_per_year, nights_per_year)
    threshold = alarm_threshold(len(gating) + pooled, *budget) if gating else None
    watched = alarm_threshold(len(others), *budget) if others else None
    own = night_variances or {}
    drawn = {name: night_noise(task.components, task.n, task.k_tuned) for name, task in tasks.items()}
    noise = {name: NightNoise(drawn[name].variance + own.get(name, 0.0)) for name in tasks}
    found = {}
    for name in tasks:
        limit = threshold if name in gating else watched
        assert limit is not None
        found[name] = _task_over_nights(noise[name], detect, nights, limit)
    line = None
    if pooled and threshold is not None:
        pool = pooled_noise([drawn[name] for name in gating], own.get("", 0.0))
        line = _task_over_nights(pool, detect, nights, threshold)
    return NightsPlan(
        nights=nights,
        alarms_per_year=alarms_per_year,
        nights_per_year=nights_per_year,
        threshold=threshold,
        watch_threshold=watched,
        **({} if track is None else {"track": track, "night_noise": _deviations(own, {*tasks, ""})}),
        tasks=found,
        pooled=line,
    )


def _deviations(variances: Mapping[str, float], names: Collection[str]) -> dict[str, float]:
    return {name: math.sqrt(value) for name, value in variances.items() if name in names}


def _task_over_nights(noise: NightNoise, detect: float, nights: int, threshold: float) -> TaskNights:
    asked = min(nights, MOST_NIGHTS)
    grid = sorted({*_NIGHTS_GRID, asked})
    return TaskNights(
        drop=drop_found(noise, asked, threshold),
        chance=chance_to_find(noise, detect, asked, threshold),
        nights_needed=nights_to_find(noise, detect, threshold),
        drop_in=tuple(
            DropInNights(nights=number, drop=drop_found(noise, number, threshold)) for number in grid
        ),
    )
