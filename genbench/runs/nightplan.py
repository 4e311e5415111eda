"""The plan of a track of nights: which drop each task and the pooled line find within how many nights."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.errors import InputError
from genbench.runs.power_record import ComponentsRecord, DropInNights, NightsPlan, PlannedTask, TaskNights
from genbench.stats.changepoints import alarm_threshold
from genbench.stats.nightpower import (
    MOST_NIGHTS,
    NightNoise,
    chance_to_find,
    drop_found,
    night_noise,
    nights_to_find,
    pooled_noise,
)
from genbench.stats.power import Components

_GRID = (1, 3, 7, 14, 28, 40)


def plan_nights(
    tasks: Mapping[str, PlannedTask],
    *,
    detect: float,
    nights: int,
    alarms_per_year: float = 1.0,
    nights_per_year: float = 365.0,
) -> NightsPlan:
    """Plan a track of nights for a drop of `detect` (a fraction of 1).

    Args:
        tasks: the planned tasks of a suite. The gating ones and their pooled line share one budget.
        nights: the nights within which the drop is wanted.

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
    noise = {name: _noise(task.components, task) for name, task in tasks.items()}
    found = {}
    for name in tasks:
        limit = threshold if name in gating else watched
        assert limit is not None
        found[name] = _task(noise[name], detect, nights, limit)
    line = None
    if pooled and threshold is not None:
        line = _task(pooled_noise([noise[name] for name in gating]), detect, nights, threshold)
    return NightsPlan(
        nights=nights,
        alarms_per_year=alarms_per_year,
        nights_per_year=nights_per_year,
        threshold=threshold,
        watch_threshold=watched,
        tasks=found,
        pooled=line,
    )


def _noise(parts: ComponentsRecord, task: PlannedTask) -> NightNoise:
    components = Components(parts.between, parts.within, parts.change, parts.source)
    return night_noise(components, task.n, task.k_tuned)


def _task(noise: NightNoise, detect: float, nights: int, threshold: float) -> TaskNights:
    asked = min(nights, MOST_NIGHTS)
    grid = sorted({*_GRID, asked})
    return TaskNights(
        drop=drop_found(noise, asked, threshold),
        chance=chance_to_find(noise, detect, asked, threshold),
        nights_needed=nights_to_find(noise, detect, threshold),
        drop_in=tuple(
            DropInNights(nights=number, drop=drop_found(noise, number, threshold)) for number in grid
        ),
    )
