"""The records of looks at an adaptive run. They need no NumPy, so that a manifest is read without it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, SignedShare

TaskDecision = Literal["REGRESSED", "NON_INFERIOR", "QUIET", "INCONCLUSIVE", "STOPPED"]
"""Why a task draws no more.

QUIET is a task with under MIN_PROBLEMS problems whose loss would probably have shown. INCONCLUSIVE is a task
at its last look. STOPPED is a task that was still open when the night ended. Each of the three is
INCONCLUSIVE for the gate.
"""
SuiteDecision = Literal["REGRESSED", "IMPROVED", "NON_INFERIOR", "INCONCLUSIVE"]
"""The verdict of the gate on all tasks."""


class TaskLookRecord(JsonRecord):
    """One look at one task. Differences are fractions of 1."""

    look: Count = Field(description="number of the task's own look, from 1")
    fraction: Share = Field(description="planned share of the information")
    n: Count = Field(description="problems")
    samples: Count = Field(description="samples so far")
    difference: SignedShare | None = Field(description="tuned - base")
    p: Share = Field(description="exact one-sided p value of a drop")
    level: Share = Field(description="level that p must not exceed for REGRESSED")
    lower: SignedShare | None = Field(description="lower bound of the difference at error `lower_level`")
    lower_level: Share = Field(description="error of the lower bound at this look")
    ci: DifferenceInterval | None = Field(description="repeated interval: valid whenever the run stops")
    ci_level: Share = Field(description="confidence of the interval at this look alone")
    decision: TaskDecision | None = Field(description="null if the task goes on")


class PooledLookRecord(JsonRecord):
    """One look at the pooled difference of the gating tasks."""

    fraction: Share = Field(description="mean of the tasks' planned shares")
    difference: SignedShare | None = Field(description="inverse-variance pooled difference")
    p: Share = Field(description="one-sided p value of a drop")
    level: Share = Field(description="level that p must not exceed for REGRESSED")
    lower: float | None = Field(description="lower bound at error `lower_level`")
    lower_level: Share = Field(description="error of the lower bound at this look")
    regressed: bool = Field(description="whether the suite REGRESSED by it")
    is_excluded: bool = Field(description="whether a loss of the pooled margin is excluded")


class NightLookRecord(JsonRecord):
    """One look at the run."""

    number: Count = Field(description="number of the look, from 1")
    tasks: dict[str, TaskLookRecord] = Field(description="tasks that drew since the look before")
    pooled: PooledLookRecord | None = Field(description="null with one gating task, or if none drew")
    draws: tuple[str, ...] = Field(description="tasks that draw on; none at the last look")
    verdict: SuiteDecision | None = Field(description="verdict of the suite; null before the last look")
