"""The record of `genbench gate`: tonight's decision, that of the track's history, and the reasons."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count, Interval, Share
from genbench.policy.config import Rule, Tier
from genbench.store.jsonrecord import JsonRecord


class GatedTask(JsonRecord):
    """One task of tonight's run against the base. Differences are fractions of 1."""

    tier: Tier = Field(description="critical, supporting or advisory")
    rule: Rule = Field(description="not_worse or proven, see the policy")
    state: Literal["held", "failed", "missing", "no base"] = Field(
        description="missing: the run lacks the task; no base: the base was not drawn under these terms"
    )
    n: Count | None = Field(description="problems that both runs have scored")
    base: Share | None = Field(description="score of the base on them")
    tonight: Share | None = Field(description="score of tonight's run on them")
    difference: float | None = Field(description="tonight - base")
    margin: float = Field(description="loss that is acceptable")
    level: Share | None = Field(description="chance of a false alarm of this task tonight; null if untested")
    lower: float | None = Field(
        description="one-sided 95% lower bound of the difference, with excluded samples against tonight"
    )
    p: Share | None = Field(
        description="one-sided p value of a loss above the margin, by sign flips: a loss is shown at `level`"
    )
    ci: Interval | None = Field(description="95% interval for new questions")
    gain: bool = Field(description="whether the 95% interval is above 0; never a reason")


class GatedChange(JsonRecord):
    """An open change of the track's history."""

    id: str = Field(description="name of the change")
    task: str | None = Field(description="the task; null for all gating tasks together")
    tier: Tier = Field(description="tier of the task, or of the pooled difference")
    since: str = Field(description="night or step at which it most likely began")
    found: str = Field(description="night or step at which it was found")
    size: float = Field(description="after minus before, a fraction of 1, after search")
    ci: Interval = Field(description="its 95% interval, after search")
    counts: bool = Field(description="whether tonight's run is after it")


class PooledTonight(JsonRecord):
    """The pooled difference of the critical tasks tonight."""

    tasks: tuple[str, ...] = Field(description="the tasks")
    difference: float | None = Field(description="inverse-variance mean of their differences")
    p_regression: Share = Field(description="one-sided p value of a drop")
    level: Share = Field(description="level of its test")
    failed: bool = Field(description="whether a drop is shown")


class NightlyGate(JsonRecord):
    """Tonight's run and its track's history in one decision."""

    format: Literal[1] = Field(description="version of this record")
    track: str = Field(description="the track")
    run: str = Field(description="uid of tonight's run")
    path: str | None = Field(description="its folder")
    label: str = Field(description="its night or step")
    model: str = Field(description="name of the model")
    base: str | None = Field(description="uid of the base")
    policy: str = Field(description="name of the policy")
    alpha: Share = Field(description="chance of a false alarm tonight: yearly budget / runs in a year")
    tasks: dict[str, GatedTask] = Field(description="by name")
    pooled: PooledTonight | None = Field(description="null with fewer than two critical tasks")
    changes: tuple[GatedChange, ...] = Field(description="open drops of the track")
    verdict: Literal["pass", "fail"] = Field(description="the decision")
    reasons: tuple[str, ...] = Field(description="why it fails, in words; empty if it passes")
    remarks: tuple[str, ...] = Field(description="what is shown and does not decide")
    exit_code: Literal[0, 1] = Field(description="0 pass, 1 fail; 2 (could not be asked) leaves no JSON")
