"""Records of metrics that exist only for all samples together."""

from __future__ import annotations

from pydantic import Field

from genbench.analysis.records import Count
from genbench.json_record import JsonRecord

Bounds = tuple[float, float]
"""Lower and upper bound."""


class CorpusRecord(JsonRecord):
    """A corpus metric of one task: bleu, chrf, ter, f1 or mcc."""

    value: float | None = Field(description="fraction of 1 (ter can be above 1); null if `missing` says why")
    ci: Bounds | None = Field(description="95% interval for new questions of this kind")
    method: str = Field(description="how `ci` was made")
    lower_is_better: bool = Field(description="whether a lower value is better, as of ter")
    empty: Count = Field(description="samples without an answer, which count as empty answers")
    missing: str | None = Field(description="what the metric lacks; null if it is given")


class CorpusDifference(JsonRecord):
    """The difference tuned - base of a corpus metric, paired by problem."""

    base: float | None = Field(description="value of base")
    tuned: float | None = Field(description="value of tuned")
    difference: float | None = Field(description="tuned - base")
    ci: Bounds | None = Field(description="95% interval; both sides are resampled together")
    lower_is_better: bool = Field(description="whether a lower value is better, as of ter")
    missing: str | None = Field(description="what the difference lacks; null if it is given")
