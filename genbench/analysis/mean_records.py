"""The records of macro and micro means."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count, Interval
from genbench.json_record import JsonRecord
from genbench.store.manifest import PublishedRecord


class MeanRecord(JsonRecord):
    """A mean over problems or over parts, as a fraction of 1."""

    value: float = Field(description="the mean")
    n: Count = Field(description="problems")
    parts: Count = Field(description="parts that count alike; 1 if every problem counts alike")
    se: float | None = Field(description="standard error for new questions of this kind")
    ci: Interval | None = Field(description="95% interval for new questions of this kind")
    rerun_se: float | None = Field(
        default=None,
        description="standard error between re-runs on the same problems; with one sample of each problem "
        "it is an upper bound; absent in older runs",
    )


class MacroRecord(MeanRecord):
    """The mean over the strata of a task, which count alike."""

    by: str = Field(description="the stratum: subject, language …")


class GroupRecord(JsonRecord):
    """Several tasks that a report shows as one."""

    tasks: tuple[str, ...] = Field(description="the tasks, in the order of the suite")
    macro: MeanRecord | None = Field(
        description="mean over the tasks, which count alike; null if one is missing"
    )
    micro: MeanRecord | None = Field(description="mean over all problems; null if a task is missing")
    mean: Literal["macro", "micro"] | None = Field(
        default=None, description="which of the two means others report; absent if nothing is published"
    )
    published: tuple[PublishedRecord, ...] = Field(
        default=(), description="what others report for the group; absent if there is nothing"
    )

    @property
    def reported(self) -> MeanRecord | None:
        """The mean that others report. None if nothing is published, or if a task is missing."""
        return self.micro if self.mean == "micro" else self.macro if self.mean == "macro" else None
