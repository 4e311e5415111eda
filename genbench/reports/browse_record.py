"""The records of `genbench show --json`: a task's problems, and the samples of one problem."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from genbench.analysis.records import Count, Share
from genbench.store.jsonrecord import JsonRecord
from genbench.types import FinishReason, Status, TraceStatus


class ProblemRow(JsonRecord):
    """One problem of a task."""

    problem_id: str = Field(description="the problem")
    score: Share | None = Field(description="mean of its samples; null if none has a score")
    samples: Count = Field(description="samples with a verdict")
    statuses: tuple[Status, ...] = Field(description="statuses of its samples in order")
    extracted: tuple[str | None, ...] = Field(description="what was compared, of its samples in order")
    completion_tokens: Count | None = Field(
        description="tokens of its longest sample; null unless --min-tokens asks for it"
    )
    strata: dict[str, str] = Field(description="strata of the problem, such as level, subject and difficulty")


class SampleRow(JsonRecord):
    """One turn of one sample."""

    task: str = Field(description="the task")
    problem_id: str = Field(description="the problem")
    sample_index: Count = Field(description="index of the sample from 0")
    turn: Count = Field(description="index of the turn from 0")
    seed: int | None = Field(description="seed of the sample; null if it is not known")
    finish_reason: FinishReason = Field(description="why the completion ended")
    completion_tokens: Count | None = Field(
        description="tokens of the completion; null if they were not counted"
    )
    trace_status: TraceStatus = Field(description="of the reasoning trace")
    trace: str = Field(description="the reasoning trace")
    answer: str = Field(description="the completion without its trace")
    score: Share | None = Field(description="of the sample; null without a verdict, or if it is excluded")
    status: Status | None = Field(description="status of the sample; null without a verdict")
    extracted: str | None = Field(description="what was compared")
    detail: dict[str, Any] | None = Field(description="details that the verifier gives of the sample")
    parts: dict[str, float] | None = Field(description="named sub-scores")
    prompt: str | None = Field(description="the prompt; null if the folder did not keep it")
    reference: str | None = Field(description="the reference; null if the folder did not keep it")
