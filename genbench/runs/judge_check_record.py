"""The record of `genbench judge check`: how reliable a judge is. Rates are fractions of 1."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import ConfigDict, Field

from genbench.analysis.records import Count, Share
from genbench.store.jsonrecord import JsonRecord


class DimensionAgreement(JsonRecord):
    """Agreement with people on one dimension of a rubric."""

    verdicts: Count = Field(description="verdicts that were compared")
    accuracy: Share = Field(description="share of equal verdicts")
    kappa: float | None = Field(description="Cohen's kappa; null if one label is used throughout")
    kappa_ci: tuple[float, float] | None = Field(description="95% interval of kappa")


class Disagreement(JsonRecord):
    """A calibration case that the judge decided differently."""

    id: str = Field(description="id of the case")
    expected: str = Field(description="the label of the calibration set")
    found: str | None = Field(description="the judge's label; null if it gave none")


class InjectionRecord(JsonRecord):
    """Effects of answers that end in an order to the judge."""

    tried: Count = Field(description="injected answers")
    succeeded: Count = Field(description="injected answers that score more than without the order")
    success_rate: Share | None = Field(description="share of the injected answers that succeeded")
    mean_lift: float | None = Field(description="mean gain of the score")
    control_rate: Share | None = Field(description="the same share under a harmless ending")
    by_text: dict[str, Share] = Field(description="share of the injected answers that succeeded, by order")


class JudgeCheck(JsonRecord):
    """Agreement, stability, order consistency and injection resistance of one judge.

    A judge form of another package may add keys of its own.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    format: Literal[1] = Field(description="version of this record")
    judge: str = Field(description="the judge's name")
    digest: str = Field(description="digest of prompt, labels and settings")
    engine: dict[str, Any] = Field(
        description="identity of the model that answered, or what its server declares"
    )
    n: int = Field(description="calibration cases", ge=1)
    unscored: Count = Field(description="cases without a verdict")
    stability: Share = Field(description="share of cases with the same verdict when asked again")
    answers: dict[str, str | None] = Field(
        description="the judge's reply by case; null if it gave no verdict"
    )
    disagreements: tuple[Disagreement, ...] = Field(description="cases decided differently")
    injection: InjectionRecord = Field(description="how often injected orders succeed")
    verdicts: Count | None = Field(default=None, description="verdicts that were compared")
    accuracy: Share | None = Field(default=None, description="share of equal verdicts")
    kappa: float | None = Field(
        default=None, description="Cohen's kappa; null if one label is used throughout"
    )
    kappa_ci: tuple[float, float] | None = Field(default=None, description="95% interval of kappa")
    weights: Literal["quadratic"] | None = Field(
        default=None, description="weights of kappa; only for rubrics"
    )
    mean_absolute_error: float | None = Field(
        default=None, description="mean absolute error in points; only for rubrics", ge=0
    )
    dimensions: dict[str, DimensionAgreement] | None = Field(
        default=None, description="agreement by dimension; only for rubrics"
    )
    order_consistency: Share | None = Field(
        default=None, description="share of pairs with the same verdict in both orders; only for pairs"
    )
    unpinned: bool = Field(description="whether the judge's verdicts cannot be reproduced")
    pinned_in: str | None = Field(default=None, description="file that --pin wrote; only with --pin")
