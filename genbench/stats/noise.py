"""The false-alarm band of a task: how far two runs of one model differ by sampling noise."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from genbench.errors import InputError, NotComparableError
from genbench.json_record import JsonRecord, Share
from genbench.stats.intervals import LEVEL, normal_quantile
from genbench.stats.scores import Scores, ScoresLike, as_scores

_ROUNDING = 1e-12
"""A difference above the band by less is within it."""


class TaskNoise(JsonRecord):
    """The band of one task, from two runs of one model. Values are fractions of 1."""

    n: int = Field(description="problems", ge=0)
    k_first: int = Field(description="samples of each problem in the first run", ge=0)
    k_second: int = Field(description="samples of each problem in the second run", ge=0)
    difference: Annotated[float, Field(ge=-1, le=1)] = Field(
        description="score of the second run less that of the first"
    )
    band: Share = Field(description="largest difference of 95% of re-runs")
    within_variance: float | None = Field(
        description="variance of one sample around its problem's mean; null with one seed"
    )
    changed_samples: Share | None = Field(
        description="share of the samples whose score differs; null at unequal k"
    )
    expected: bool = Field(description="whether the difference is within the band")
    verifier: str | None = Field(description="digest of the verifier whose scores these are")

    def band_at(self, k_first: int, k_second: int) -> float:
        """Return the band of two runs with other k. A band of one seed does not depend on k."""
        if self.within_variance is None:
            return self.band
        return _half_width(self.within_variance * (1 / k_first + 1 / k_second) / self.n)


class NoiseMeasurement(JsonRecord):
    """How far one model's score moves from run to run, by task."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[str, ...] = Field(description="paths of the two runs")
    run_seeds: tuple[int | None, ...] = Field(description="run seeds of the two runs")
    same_seed: bool = Field(description="whether both have one seed: then it is the engine's own noise")
    model_identity: str | None = Field(description="who the model is")
    allowed: tuple[str, ...] = Field(description="differences that --allow let through")
    tasks: dict[str, TaskNoise] = Field(description="noise by task")


class NoiseBand(JsonRecord):
    """A stored band at the k of a comparison."""

    band: Share = Field(description="largest difference of 95% of re-runs")
    same_seed: bool = Field(description="whether it was measured with one seed")
    model_identity: str | None = Field(description="the model that it was measured on")
    runs: tuple[str, ...] = Field(description="paths of the two runs")


def false_alarm_band(
    first: ScoresLike, second: ScoresLike, *, same_seed: bool = False, verifier: str | None = None
) -> TaskNoise:
    """Return the band from two runs of one model with the same problems in the same order.

    With different seeds, both runs' samples of a problem are draws from one distribution. They are pooled
    for its variance, which works at k = 1 too. With the same seed, the variance is that of the per-sample
    differences around zero: what an engine adds that does not repeat itself.

    Args:
        verifier: digest of the verifier whose scores these are.

    Raises:
        NotComparableError: the numbers of problems differ, or with `same_seed` the numbers of samples.
        InputError: a problem has no scored sample.
    """
    a, b = as_scores(first), as_scores(second)
    if a.n != b.n:
        raise NotComparableError(f"the runs have {a.n} and {b.n} problems: both must be of the same problems")
    if np.isnan(a.means).any() or np.isnan(b.means).any():
        raise InputError("a problem has no scored sample in one of the runs: verify that run again first")
    aligned = a.values.shape == b.values.shape
    if same_seed and not aligned:
        raise NotComparableError("with the same seed both runs must have the same number of samples")
    difference = float((b.means - a.means).mean())
    # Runs without any noise are treated as if one sample had deviated.
    least = 1 / min(int(a.scored.sum()), int(b.scored.sum())) ** 2
    if same_seed:
        deltas = b.values - a.values
        known = np.maximum((~np.isnan(deltas)).sum(axis=1), 1)
        within, variance = None, float((np.nansum(deltas**2, axis=1) / known**2).sum()) / a.n**2
    else:
        pooled = Scores(np.hstack([a.values, b.values]), a.drawn + b.drawn).variances
        within = float(pooled.mean())
        variance = float((pooled * (1 / a.scored + 1 / b.scored)).sum()) / a.n**2
    band = _half_width(max(variance, least))
    return TaskNoise(
        n=a.n,
        k_first=a.k,
        k_second=b.k,
        difference=difference,
        band=band,
        within_variance=within,
        changed_samples=_share_changed(a, b) if aligned else None,
        expected=abs(difference) <= band + _ROUNDING,
        verifier=verifier,
    )


def _share_changed(a: Scores, b: Scores) -> float:
    """Return the share of samples with another score, over those that both runs scored."""
    both = ~np.isnan(a.values) & ~np.isnan(b.values)
    return float((a.values[both] != b.values[both]).mean()) if both.any() else 0.0


def _half_width(variance: float) -> float:
    """Return the half width of a 95 % normal interval, at most 1, the largest difference of two scores."""
    return min(1.0, normal_quantile(LEVEL) * math.sqrt(variance))
