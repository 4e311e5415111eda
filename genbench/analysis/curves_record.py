"""The record of `genbench trend --steps`: measures of checkpoints by training step."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count, Interval, Share
from genbench.json_record import JsonRecord


class CurvePoint(JsonRecord):
    """A measure of one checkpoint."""

    step: Count = Field(description="training step")
    model: str = Field(description="name of the checkpoint")
    value: float = Field(description="the measure, in its own unit")
    ci: Interval | None = Field(description="95% interval for new problems")
    rerun_ci: Interval | None = Field(
        description="95% interval for a re-run; null for scored texts, which a re-run gives again"
    )


class CurveBest(JsonRecord):
    """The best checkpoint of a curve, and its value without the luck of being the best."""

    step: Count = Field(description="training step")
    model: str = Field(description="name of the checkpoint")
    value: float = Field(description="the measure, in its own unit")
    shrunk: float | None = Field(
        description="the value drawn towards the mean by the share of noise; null if the noise is unknown"
    )
    luck: float | None = Field(description="what the best of as many equal checkpoints gains by chance")


class Curve(JsonRecord):
    """One measure of one task over the checkpoints of one training run."""

    series: str = Field(description="name of the training run: its folder")
    task: str = Field(description="the task")
    measure: str = Field(description="the headline metric, or a measure of scored texts")
    is_share: bool = Field(description="whether values are fractions of 1")
    lower_is_better: bool = Field(description="whether a smaller value is a better one")
    points: tuple[CurvePoint, ...] = Field(description="checkpoints by step")
    signal_to_noise: float | None = Field(
        description="change from the first to the last step over the noise of one; null below four steps"
    )
    monotonicity: float | None = Field(
        description="rank correlation of step and improvement, from -1 to 1; null below three steps"
    )
    noise: float | None = Field(
        description="standard error of one step: from re-run intervals, else from second differences; null "
        "below four steps without them"
    )
    best: CurveBest = Field(description="the best checkpoint")


class RankPoint(JsonRecord):
    """How the order of training runs at one step agrees with that at the last step."""

    step: Count = Field(description="training step that all series have")
    agreement: Share = Field(description="share of pairs of series in the order of the last step")


class Ranks(JsonRecord):
    """The order of several training runs over the steps that all of them have."""

    task: str = Field(description="the task")
    measure: str = Field(description="the measure")
    points: tuple[RankPoint, ...] = Field(description="agreement by step")


class Curves(JsonRecord):
    """Curves of all tasks, those that tell checkpoints apart best first."""

    format: Literal[1] = Field(description="version of this record")
    curves: tuple[Curve, ...] = Field(description="curves, the largest signal to noise first")
    ranks: tuple[Ranks, ...] = Field(description="orders of several series; empty for one")
