"""The record of `genbench estimate`: every metric of a stored run or a score file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count, EstimateRecord
from genbench.analysis.side_record import SideKind
from genbench.json_record import JsonRecord


class EstimatedTask(EstimateRecord):
    """One task: its headline metric, all metrics, counts and tables by stratum."""

    metrics: dict[str, EstimateRecord] = Field(description="all metrics by name, the headline included")
    samples: Count = Field(description="samples of all problems")
    lacking: Count = Field(description="samples without a verdict")
    ragged: bool = Field(description="whether problems have different numbers of samples")
    seed: Count = Field(description="seed of the resampling")
    status_counts: dict[str, Count] | None = Field(
        description="samples by status; null for score files, which have none"
    )
    strata: dict[str, dict[str, EstimateRecord]] = Field(
        description="the headline metric by column, then by stratum"
    )


class Estimation(JsonRecord):
    """Estimates of all tasks of one run or score file."""

    format: Literal[1] = Field(description="version of this record")
    path: str = Field(description="the run folder or score file")
    kind: SideKind = Field(description="whether it is a run folder or a score file")
    name: str = Field(description="the model's name, or the file's")
    run_id: str = Field(description="name of the run in the seeds of resampling")
    model_identity: str | None = Field(description="digest of the model; null for a score file")
    run_seed: Count | None = Field(description="the seed of the run; null for a score file")
    tasks: dict[str, EstimatedTask] = Field(description="estimates by task")
