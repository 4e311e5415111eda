"""The records of scored texts: the measures of a task, and their paired differences."""

from __future__ import annotations

from pydantic import Field

from genbench.analysis.records import Count, Interval, Share
from genbench.json_record import JsonRecord


class MeasureRecord(JsonRecord):
    """One measure of a task. Shares are fractions of 1, other measures are in their own unit."""

    value: float = Field(description="mean over problems, or ratio of sums over documents")
    ci: Interval | None = Field(description="95% interval for new problems; null for a single one")
    n: Count = Field(description="problems")
    lower_is_better: bool = Field(description="whether a smaller value is a better one")


class LikelihoodRecord(JsonRecord):
    """What the log-probabilities of a task come to."""

    measures: dict[str, MeasureRecord] = Field(description="all measures by name")
    ties: Count = Field(description="problems in which several choices share the largest value exactly")
    merged: Count = Field(description="problems in which a token has characters of context and continuation")


class MeasureDifference(JsonRecord):
    """The paired difference tuned - base of one measure."""

    base: float = Field(description="the measure of base")
    tuned: float = Field(description="the measure of tuned")
    difference: float = Field(description="tuned - base, over the problems of both")
    ci: Interval | None = Field(description="95% interval of the difference; null for a single problem")
    p_two_sided: Share | None = Field(description="p value of no difference")
    n: Count = Field(description="problems with scores in both")
    lower_is_better: bool = Field(description="whether a smaller value is a better one")
