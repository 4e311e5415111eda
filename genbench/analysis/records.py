"""Records that several results share: an estimate, a value with its interval, a stratum."""

from __future__ import annotations

from pydantic import Field

from genbench.json_record import Count, JsonRecord
from genbench.types import Status

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


class ExcludedSamples(JsonRecord):
    """Samples that were excluded, or whose prompts a server refused, for one reason."""

    status: Status = Field(description="status of these samples")
    why: str = Field(description="reason of the exclusion")
    samples: Count = Field(description="number of these samples")
    first: tuple[str, Count] = Field(description="problem_id and sample_index of the first")
