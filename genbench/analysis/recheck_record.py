"""The record of stored answers that were verified again."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count
from genbench.json_record import JsonRecord


class RecheckedTask(JsonRecord):
    """A sample of one task's stored answers, verified again by today's verifier."""

    side: Literal["base", "tuned"] = Field(description="the side of the comparison")
    task: str = Field(description="the name of the task")
    verified: Count = Field(description="answers that were verified again")
    chosen: Count = Field(description="answers that were chosen; more than `verified` if time ran out")
    differing: Count = Field(description="answers whose stored verdict is not the one of today")
    examples: tuple[str, ...] = Field(description="the first differing verdicts, in words")
    unsettled: Count = Field(
        description="answers whose verdict depends on the machine (timeout, memory, a defect); not compared"
    )
    skipped: str | None = Field(description="why the task was not verified again; null if it was")
