"""Records of a measured false-alarm band: noise.json, and the band that a comparison shows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from genbench.analysis.records import Share
from genbench.json_record import JsonRecord


class TaskNoise(JsonRecord):
    """The band of one task, from two runs of one model. Values are fractions of 1."""

    n: int = Field(description="problems", ge=0)
    k_first: int = Field(description="samples of each problem in the first run", ge=0)
    k_second: int = Field(description="samples of each problem in the second run", ge=0)
    difference: Annotated[float, Field(ge=-1, le=1)] = Field(
        description="score of the second run less that of the first"
    )
    band: Share = Field(description="largest difference of 95% of re-runs")
    within_variance: float | None = Field(
        description="variance of one sample around its problem's mean; null with one seed"
    )
    changed_samples: Share | None = Field(
        description="share of the samples whose score differs; null at unequal k"
    )
    expected: bool = Field(description="whether the difference is within the band")
    verifier: str | None = Field(description="digest of the verifier whose scores these are")


class NoiseMeasurement(JsonRecord):
    """How far one model's score moves from run to run, by task."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[str, ...] = Field(description="paths of the two runs")
    run_seeds: tuple[int | None, ...] = Field(description="run seeds of the two runs")
    same_seed: bool = Field(description="whether both have one seed: then it is the engine's own noise")
    model_identity: str | None = Field(description="who the model is")
    allowed: tuple[str, ...] = Field(description="differences that --allow let through")
    tasks: dict[str, TaskNoise] = Field(description="noise by task")


class NoiseBand(JsonRecord):
    """A stored band at the k of a comparison."""

    band: Share = Field(description="largest difference of 95% of re-runs")
    same_seed: bool = Field(description="whether it was measured with one seed")
    model_identity: str | None = Field(description="the model that it was measured on")
    runs: tuple[str, ...] = Field(description="paths of the two runs")
