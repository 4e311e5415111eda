"""The record of `genbench report --format json`: runs, their health, and their comparisons."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from genbench.analysis.comparison.checkpoints import Checkpoints
from genbench.analysis.comparison.compare import Comparison
from genbench.analysis.corrected import ReviewedTask
from genbench.analysis.efforts import Efforts
from genbench.analysis.records import ExcludedSamples
from genbench.analysis.results.record import Results
from genbench.analysis.side_by_side import SideBySide
from genbench.json_record import Count, JsonRecord, Share
from genbench.protocols import PublishedScore


class SuspiciousReference(JsonRecord):
    """A problem whose samples agree on an answer that the reference does not accept."""

    problem_id: str = Field(description="the problem")
    answer: str = Field(description="the first 200 characters of the answer")
    agreeing: Count = Field(description="samples that agree on it")
    samples: Count = Field(description="scored samples of the problem")


class TaskHealthRecord(JsonRecord):
    """Signs of defects in one task's data, prompts or references."""

    problems: Count = Field(description="problems with a scored sample")
    samples: Count = Field(description="samples that are not excluded")
    duplicates: tuple[tuple[str, ...], ...] = Field(
        description="groups of problems with one question, except for case and blanks"
    )
    extraction_failures: Count = Field(
        description="samples that came to an end and contain nothing to verify"
    )
    extraction_failure_rate: Share | None = Field(description="share of the samples that came to an end")
    always_right: Count = Field(description="problems that every sample solves")
    never_right: Count = Field(description="problems that no sample solves")
    suspicious_references: tuple[SuspiciousReference, ...] = Field(
        description="problems on which most samples, at least three, agree on another answer; at most 50"
    )
    excluded: tuple[ExcludedSamples, ...] = Field(description="excluded samples by reason")
    prompt_copies: Count = Field(
        description="answers that are half in the prompt, or contain half of the prompt"
    )
    prompt_copies_shown: tuple[tuple[str, Count], ...] = Field(
        description="problem_id and sample_index of the first 50"
    )


class ReportedRun(JsonRecord):
    """One run of a report."""

    name: str = Field(description="unique among the runs of the report")
    path: str = Field(description="the run folder")
    created: str | None = Field(description="time at which the run began")
    terms: dict[str, Any] = Field(description="decoding contract as in the manifest")
    results: Results = Field(description="content of results.json")
    health: dict[str, TaskHealthRecord] = Field(description="health of the data by task")
    engines: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="engines of the last attempt that drew: what they resolved, and statistics",
    )
    reviewed: dict[str, ReviewedTask] = Field(
        default_factory=dict, description="tasks that people labelled; absent without any"
    )


class ReportedScore(PublishedScore):
    """A score that someone else reports, with the task of the report that it belongs to."""

    task: str = Field(description="the task, or the group of tasks")

    @model_serializer(mode="wrap")
    def _task_first(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found = handler(self)
        first = {key: found[key] for key in ("task", "mean") if key in found}
        return {**first, **found}

    @property
    def label(self) -> str:
        """The task or group, with the name of the mean."""
        return f"{self.task} ({self.mean})" if self.mean else self.task


class DoubtfulReference(JsonRecord):
    """A reference against which several runs agree on one other answer."""

    task: str = Field(description="the task")
    problem_id: str = Field(description="the problem")
    answer: str = Field(description="the answer of the runs")
    runs: tuple[str, ...] = Field(description="names of the runs")


class ReportedComparison(JsonRecord):
    """A further run compared with the first."""

    base: str = Field(description="name of the first run")
    tuned: str = Field(description="name of the further run")
    record: Comparison | None = Field(description="the comparison; null if it was refused")
    refused: str | None = Field(description="why the two cannot be compared")


class Report(JsonRecord):
    """The report of one or several runs, with published scores and comparisons."""

    format: Literal[1] = Field(description="version of this record")
    title: str = Field(description="the suites of the runs")
    tasks: tuple[str, ...] = Field(description="all tasks of all runs, in order")
    published: tuple[ReportedScore, ...] = Field(
        description="scores that others report for the models, and the suite's own references"
    )
    runs: tuple[ReportedRun, ...] = Field(description="the runs, the first of which is the base")
    doubtful: tuple[DoubtfulReference, ...] = Field(
        description="references against which several runs agree on one other answer"
    )
    comparisons: tuple[ReportedComparison, ...] = Field(description="each further run against the first")
    checkpoints: Checkpoints | None = Field(
        default=None, description="the table of three or more runs; absent for fewer"
    )
    efforts: Efforts | None = Field(
        default=None, description="the runs by effort; absent if no run was drawn at a named effort"
    )
    texts: tuple[SideBySide, ...] = Field(
        default=(), description="answers of tasks that nothing scores; absent if there are none"
    )
    lead: str = Field(description="the main result in a sentence")
