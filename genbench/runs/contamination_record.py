"""The record of `genbench contamination`: signs that a model has seen the problems of a task."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.store.jsonrecord import JsonRecord
from genbench.store.manifest_record import Count, Share


class FlipsRecord(JsonRecord):
    """Problems that base never solves and tuned always solves."""

    chances: Count = Field(description="problems that base solves in at most 1 of 64 samples")
    count: Count = Field(description="those of them that tuned solves in at least 15 of 16 samples")
    problems: tuple[str, ...] = Field(description="their ids")
    share_of_gain: float | None = Field(
        description="part of the gain that comes from them; above 1 if others lost; null without a gain"
    )
    earlier_runs: Count = Field(description="runs of earlier models against the same base")
    earlier_chances: Count = Field(description="the chances there, summed over the runs")
    earlier_count: Count = Field(description="the flips there, summed over the runs")
    p: Share | None = Field(description="one-sided p value of so many flips; null without earlier runs")
    p_adjusted: Share | None = Field(description="the same, by Holm's method over all tests of the record")
    missing: str | None = Field(description="why flips cannot be counted; null if they are")


class OrderRecord(JsonRecord):
    """Whether tuned is right more often if options are shown in the order of the dataset."""

    problems: Count = Field(description="problems of tuned with right and wrong samples")
    base_effect: float | None = Field(
        description="rise of base's score from the reversed order to that of the dataset"
    )
    tuned_effect: float | None = Field(description="the same for tuned")
    difference: float | None = Field(description="tuned_effect - base_effect")
    se: float | None = Field(description="standard error of the difference")
    p: Share | None = Field(description="one-sided p value of a larger effect in tuned")
    p_adjusted: Share | None = Field(description="the same, by Holm's method over all tests of the record")
    missing: str | None = Field(description="why there is no test; null if there is one")


class ContaminationTask(JsonRecord):
    """One task."""

    k_base: Count = Field(description="samples that every problem of base has at least")
    k_tuned: Count = Field(description="samples that every problem of tuned has at least")
    flips: FlipsRecord = Field(description="miracle flips")
    order: OrderRecord = Field(description="the order of options")
    suspicious: bool = Field(description="whether a test is significant after adjustment")


class Contamination(JsonRecord):
    """Signs of contamination of one model, task by task."""

    format: Literal[1] = Field(description="version of this record")
    base: str = Field(description="the run of the base")
    earlier: tuple[str, ...] = Field(description="runs of earlier models, which are taken as clean")
    tuned: str = Field(description="the run of the model that is tested")
    alpha: Share = Field(description="error of all tests together if the model is clean")
    tasks: dict[str, ContaminationTask] = Field(description="the tasks of all runs, by name")
    allowed: tuple[str, ...] = Field(description="differences that --allow let through")
