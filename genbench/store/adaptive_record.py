"""The records of an adaptive run in manifest.json: the plan before the first draw, and what each look saw."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from genbench.store.jsonrecord import JsonRecord

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Signed = Annotated[float, Field(ge=-1, le=1)]
Bounds = tuple[Signed, Signed]
TaskDecision = Literal["REGRESSED", "NON_INFERIOR", "QUIET", "INCONCLUSIVE", "STOPPED"]
SuiteDecision = Literal["REGRESSED", "IMPROVED", "NON_INFERIOR", "INCONCLUSIVE"]


class BaseRecord(JsonRecord):
    """The stored run that an adaptive run is compared with."""

    path: str = Field(description="its run folder")
    uid: str = Field(description="UUID of its run")
    model: str = Field(description="name of its model")
    model_identity: str = Field(description="digest of its weights, or of its ready responses")
    digest: str = Field(description="digest of the scores that the looks compare with")


class TaskPlan(JsonRecord):
    """The planned looks of one task."""

    n: Count = Field(description="problems of the whole run, over all its shards")
    k: Count = Field(description="most samples of each problem")
    by_problems: bool = Field(description="whether the looks are at shares of the problems, not of samples")
    steps: tuple[Count, ...] = Field(description="samples of each problem, or problems, at each look")
    fractions: tuple[Share, ...] = Field(description="planned share of the information at each look")
    cuts: tuple[str, ...] = Field(
        description="if by problems: a problem is drawn from the first look on whose cut is not below the "
        "sha256 of its group or id"
    )
    sure: tuple[str, ...] = Field(
        description="problems that base always or never solved: a quarter of the samples until the last look"
    )
    margin: Share = Field(description="loss that counts as none")
    gating: bool = Field(description="whether the task decides")
    alpha: Share = Field(description="error of a false REGRESSED over all looks at this task")
    interval: tuple[Share, ...] = Field(description="confidence of the repeated interval at each look")


SURE_PART = 4
"""Before the last look a sure problem gets one of so many samples, see stats.lookplan."""


class AdaptivePlan(JsonRecord):
    """The plan of an adaptive run. It is a term: a folder is not continued under another plan."""

    base: BaseRecord = Field(description="stored run that the looks compare with")
    alpha: Share = Field(description="error of a false REGRESSED over all looks and gating tasks")
    drop_spending: Literal["obf"] = Field(default="obf", description="how the error of REGRESSED is spent")
    bound_spending: Literal["pocock"] = Field(
        default="pocock", description="how the error of NON_INFERIOR is spent"
    )
    pooled_margin: Share = Field(
        description="loss of the pooled difference that must be excluded before decided tasks stop"
    )
    tasks: dict[str, TaskPlan] = Field(description="by name")


class TaskLookRecord(JsonRecord):
    """One look at one task. Differences are fractions of 1."""

    look: Count = Field(description="number of the task's own look, from 1")
    fraction: Share = Field(description="planned share of the information")
    n: Count = Field(description="problems")
    samples: Count = Field(description="samples so far")
    difference: Signed | None = Field(description="tuned - base")
    p: Share = Field(description="exact one-sided p value of a drop")
    level: Share = Field(description="level that p must not exceed for REGRESSED")
    lower: Signed | None = Field(description="lower bound of the difference at error `lower_level`")
    lower_level: Share = Field(description="error of the lower bound at this look")
    ci: Bounds | None = Field(description="repeated interval: valid whenever the run stops")
    ci_level: Share = Field(description="confidence of the interval at this look alone")
    decision: TaskDecision | None = Field(description="null if the task goes on")


class PooledLookRecord(JsonRecord):
    """One look at the pooled difference of the gating tasks."""

    fraction: Share = Field(description="mean of the tasks' planned shares")
    difference: Signed | None = Field(description="inverse-variance pooled difference")
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


class ConfirmationRecord(JsonRecord):
    """A task that REGRESSED, drawn once more with fresh seeds."""

    samples: Count = Field(description="fresh samples")
    difference: Signed | None = Field(description="tuned - base over the fresh samples only")
    p: Share = Field(description="exact one-sided p value of a drop in the fresh samples only")


class AdaptiveState(JsonRecord):
    """How far an adaptive run is."""

    reached: dict[str, Count] = Field(description="look of each task that is drawn now, or was drawn last")
    decisions: dict[str, TaskDecision] = Field(default_factory=dict, description="of the decided tasks")
    looks: tuple[NightLookRecord, ...] = Field(default=(), description="looks in order")
    is_over: bool = Field(default=False, description="whether no task draws any more")
    confirming: tuple[str, ...] = Field(default=(), description="tasks that are drawn with fresh seeds")
    confirmations: dict[str, ConfirmationRecord] = Field(default_factory=dict, description="by task")


class AdaptiveRecord(JsonRecord):
    """An adaptive run: its plan and its state."""

    plan: AdaptivePlan = Field(description="as it was before the first draw")
    state: AdaptiveState = Field(description="as of the last look")

    def counts(self, task: str, problems: Mapping[str, Mapping[str, Any]]) -> dict[str, int] | None:
        """Return the samples in force of each problem that has any, or None for a task without a plan.

        Args:
            problems: the lines of problems.jsonl by id.
        """
        plan = self.plan.tasks.get(task)
        if plan is None:
            return None
        return plan_counts(plan, self.state.reached[task], {k: v.get("group") for k, v in problems.items()})


def plan_counts(plan: TaskPlan, look: int, groups: Mapping[str, str | None]) -> dict[str, int]:
    """Return the samples of each problem at a look, without those that are not drawn by then.

    Args:
        groups: the group of each problem by id.
    """
    sure = frozenset(plan.sure)
    most = plan.k if plan.by_problems else plan.steps[look - 1]
    last = look == len(plan.steps) and not plan.by_problems
    few = most if last else max(1, most // SURE_PART)
    cut = plan.cuts[look - 1] if plan.by_problems else None
    return {
        name: few if name in sure else most
        for name, group in groups.items()
        if cut is None or place_of(name, group) <= cut
    }


def place_of(problem_id: str, group: str | None) -> str:
    """Return where a problem is in the order of drawing. Problems of one group are at one place."""
    text = problem_id if group is None else f"group {group}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
