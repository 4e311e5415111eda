"""The record of one side of a comparison: the model, and the source of its scores."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from genbench.analysis.records import Count
from genbench.json_record import JsonRecord

SideKind = Literal["run", "score file"]


class SideRecord(JsonRecord):
    """One side of a comparison: a run folder or a score file."""

    path: str = Field(description="the run folder or score file")
    kind: SideKind = Field(description="whether it is a run folder or a score file")
    name: str = Field(description="the model's name, or the file's")
    run_id: str = Field(description="name of the run in the seeds of resampling")
    model_identity: str | None = Field(description="digest of the model; null for a score file")
    run_seed: Count | None = Field(description="the seed of the run; null for a score file")
