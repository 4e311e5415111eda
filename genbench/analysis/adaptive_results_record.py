"""The record of an adaptive run in results.json and in a comparison: its looks and what they saved."""

from __future__ import annotations

from pydantic import Field

from genbench.json_record import JsonRecord
from genbench.store.manifest import (
    ConfirmationRecord,
    Count,
    NightLookRecord,
    Share,
    SuiteDecision,
    TaskDecision,
)


class TaskSpend(JsonRecord):
    """The samples of one task of an adaptive run."""

    decision: TaskDecision | None = Field(description="null while the task draws")
    look: Count = Field(description="look that the task reached, from 1")
    looks: Count = Field(description="planned looks")
    samples: Count = Field(description="samples that its looks used")
    planned: Count = Field(description="samples without any stop")
    sure: Count = Field(description="problems that get a quarter of the samples")


class AdaptiveResults(JsonRecord):
    """What an adaptive run decided, and what it drew for it."""

    base: str = Field(description="folder of the stored run that it was compared with")
    verdict: SuiteDecision | None = Field(description="verdict of the suite; null while it draws")
    alpha: Share = Field(description="error of a false REGRESSED over all looks and gating tasks")
    samples: Count = Field(description="samples that the looks used")
    planned: Count = Field(description="samples without any stop")
    tasks: dict[str, TaskSpend] = Field(description="by task")
    looks: tuple[NightLookRecord, ...] = Field(description="looks in order")
    confirmations: dict[str, ConfirmationRecord] = Field(
        description="tasks that REGRESSED, drawn once more with fresh seeds"
    )
