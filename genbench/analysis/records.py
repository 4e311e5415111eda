"""Records that several results share: an estimate, a value with its interval, a stratum."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from genbench.json_record import JsonRecord
from genbench.stats.estimates import Estimate

Share = Annotated[float, Field(ge=0, le=1)]
"""A fraction of 1."""
Count = Annotated[int, Field(ge=0)]
"""A count."""
Interval = tuple[float, float]
"""Lower and upper bound, fractions of 1."""


class Bounded(JsonRecord):
    """A value with its interval."""

    value: float | None = Field(description="fraction of 1; null if it cannot be given")
    ci: Interval | None = Field(description="95% interval for new questions of this kind")


class StratumRecord(JsonRecord):
    """A metric within one stratum (level, subject, difficulty …) of a task."""

    value: float | None = Field(description="fraction of 1; null if it cannot be given")
    n: int = Field(description="problems of the stratum", ge=0)
    ci: Interval | None = Field(description="95% interval for new questions of this kind")


class EstimateRecord(JsonRecord):
    """A metric of one task with both intervals. Values and bounds are fractions of 1."""

    metric: str = Field(description="the metric with its k, as `avg@8`")
    value: float | None = Field(description="null if the metric cannot be given; `missing` says why")
    n: int = Field(description="problems", ge=0)
    k: int = Field(description="samples of each problem", ge=0)
    se: float | None = Field(description="standard error for new questions of this kind")
    ci: Interval | None = Field(description="95% interval for new questions of this kind")
    ci_method: str = Field(description="how `ci` was made; empty if there is none")
    rerun_ci: Interval | None = Field(description="95% interval for a re-run on these questions")
    rerun_ci_method: str = Field(description="how `rerun_ci` was made, or why there is none")
    excluded: int = Field(description="samples excluded because of a defect that is not the model's", ge=0)
    bounds: Interval | None = Field(
        description="the value if every excluded sample were wrong, and if every one were right"
    )
    missing: str | None = Field(description="what the metric lacks; null if it is given")

    @classmethod
    def from_estimate(cls, item: Estimate) -> EstimateRecord:
        """Return the record of an estimate."""
        return cls(**estimate_fields(item))


def estimate_fields(item: Estimate) -> dict[str, object]:
    """Return the fields of an estimate's record, for records that extend it."""
    return {name: getattr(item, name) for name in EstimateRecord.model_fields}
