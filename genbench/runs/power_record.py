"""The record of `genbench power`: the smallest drop that each task of a planned comparison can find."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count, Share
from genbench.store.jsonrecord import JsonRecord


class ComponentsRecord(JsonRecord):
    """Variance components of one sample's score."""

    between: float = Field(description="variance of the problems' true means")
    within: float = Field(description="variance of the samples of one problem")
    change: float = Field(description="variance of the true means' difference between base and tuned")
    source: str = Field(description="source of the variances")


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
