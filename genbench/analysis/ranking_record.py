"""The record of `genbench rank`: Bradley-Terry strengths of several models by task."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count, Interval, Share
from genbench.json_record import JsonRecord


class RankedRun(JsonRecord):
    """A run that was ranked."""

    path: str = Field(description="the run folder")
    model_identity: str | None = Field(description="digest of the model")


class RankingJudge(JsonRecord):
    """The judge whose verdicts the ranking uses."""

    name: str = Field(description="the judge's name")
    digest: str = Field(description="digest of prompt, labels and settings")
    unpinned: bool = Field(description="whether the judge's verdicts cannot be reproduced")


class RankedModel(JsonRecord):
    """One model of a ranking. Strengths are log odds over the reference."""

    name: str = Field(description="the model's name")
    strength: float | None = Field(description="log odds over the reference; null if it cannot be given")
    se: float | None = Field(description="standard error, clustered by problem")
    ci: tuple[float, float] | None = Field(description="95% interval of the strength, in log odds")
    beats_reference: Share | None = Field(description="chance of winning a pair against the reference")
    beats_reference_ci: Interval | None = Field(description="95% interval of `beats_reference`")
    pairs: Count = Field(description="pairs of this model")
    wins: Count = Field(description="pairs that the model won")
    ties: Count = Field(description="pairs that the model tied")
    losses: Count = Field(description="pairs that the model lost")


class RankedTask(JsonRecord):
    """The ranking of one task."""

    judge: RankingJudge = Field(description="the judge of the pairs")
    pairs: Count = Field(description="pairs with a score")
    problems: Count = Field(description="problems, which are the clusters of the intervals")
    itself: Count = Field(
        description="number of runs left out because they were compared with their own answers"
    )
    reference: str | None = Field(description="the model at strength 0")
    models: tuple[RankedModel, ...] = Field(description="models, strongest first")
    missing: str | None = Field(description="why there are no strengths; null if they are given")


class Ranking(JsonRecord):
    """Several models ranked by the pairs that their stored runs were judged in."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[RankedRun, ...] = Field(description="the ranked runs")
    tasks: dict[str, RankedTask] = Field(description="rankings by task")
    allowed: tuple[str, ...] = Field(description="differences that --allow let through")
