"""An estimate of a metric over the problems of a task, with intervals and bounds for excluded samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from pydantic import Field

from genbench.errors import InputError
from genbench.json_record import JsonRecord
from genbench.stats.intervals import LEVEL, problem_interval, rerun_interval
from genbench.stats.metrics import (
    AnswersLike,
    Metric,
    check_shapes,
    parse_metric,
    problem_values,
    undetermined,
)
from genbench.stats.resample import RESAMPLES, cluster
from genbench.stats.scores import Scores, ScoresLike, as_scores

NO_RERUN = "nothing is drawn: a re-run gives the same numbers"
"""The method of the re-run interval of scored texts, which have none."""


class EstimateRecord(JsonRecord):
    """A metric of one task with both intervals. Values and bounds are fractions of 1."""

    metric: str = Field(description="the metric with its k, as `avg@8`")
    value: float | None = Field(description="null if the metric cannot be given; `missing` says why")
    n: int = Field(description="problems", ge=0)
    k: int = Field(description="samples of each problem", ge=0)
    se: float | None = Field(description="standard error for new questions of this kind")
    ci: tuple[float, float] | None = Field(description="95% interval for new questions of this kind")
    ci_method: str = Field(description="how `ci` was made; empty if there is none")
    rerun_ci: tuple[float, float] | None = Field(description="95% interval for a re-run on these questions")
    rerun_ci_method: str = Field(description="how `rerun_ci` was made, or why there is none")
    excluded: int = Field(description="samples excluded because of a defect that is not the model's", ge=0)
    bounds: tuple[float, float] | None = Field(
        description="the value if every excluded sample were wrong, and if every one were right"
    )
    missing: str | None = Field(description="what the metric lacks; null if it is given")

    # `ci` answers "would it hold on new questions of this kind", and `rerun_ci` "would a re-run of this
    # checkpoint on these questions give it".

    @classmethod
    def without_value(
        cls,
        metric: str,
        n: int,
        k: int,
        missing: str,
        *,
        excluded: int = 0,
        bounds: tuple[float, float] | None = None,
    ) -> Self:
        """Return an estimate of which only the counts are known, and why it has no value."""
        return cls(
            metric=metric,
            value=None,
            n=n,
            k=k,
            se=None,
            ci=None,
            ci_method="",
            rerun_ci=None,
            rerun_ci_method="",
            excluded=excluded,
            bounds=bounds,
            missing=missing,
        )

    @property
    def without_rerun(self) -> Self:
        """The estimate of scored texts, which has no interval for a re-run because nothing is drawn."""
        return self.model_copy(update={"rerun_ci": None, "rerun_ci_method": NO_RERUN})


def estimate(
    metric: str,
    scores: ScoresLike,
    *,
    seed: int,
    groups: Sequence[str | None] | None = None,
    answers: AnswersLike | None = None,
    k: int | None = None,
    label: str | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    may_be_silent: bool = False,
) -> EstimateRecord:
    """Return the metric's value with its intervals: the mean over problems, never over pooled samples.

    Args:
        metric: `acc`, avg@k, pass@k, pass^k or maj@k. pass and maj count a sample as right at score 1.
        scores: (n, k) or ragged, with NaN or None for an excluded sample.
        groups: (n,) the cluster above each problem.
        answers: the extracted answers, needed for maj@k.
        k: the planned samples of each problem. With fewer the value is missing, never scaled.
        label: the name in the result instead of the metric's own (`acc_norm` …).
        may_be_silent: whether value and intervals leave out problems without any scored sample, as of a model
            that gave no answer. `bounds` count them both ways.

    Raises:
        InputError: the metric is unknown or asks for too many draws, or scores or shapes are wrong.
    """
    matrix, asked = as_scores(scores), parse_metric(metric)
    check_shapes(matrix, asked, groups, answers)
    name = label or _resolved(asked, matrix, k)
    short = _too_few(asked, matrix, k)
    if short:
        return EstimateRecord.without_value(name, matrix.n, matrix.k, short, excluded=matrix.excluded)
    draws = asked.k or matrix.k
    found = problem_values(asked, matrix, answers, draws)
    values = found.values
    if may_be_silent and 0 < (rows := np.flatnonzero(matrix.scored > 0)).size < matrix.n:
        kept = rows.tolist()
        part = estimate(
            metric,
            matrix.take(kept),
            seed=seed,
            groups=None if groups is None else [groups[row] for row in kept],
            answers=None if answers is None else [answers[row] for row in kept],
            label=name,
            level=level,
            resamples=resamples,
        )
        both = (float(found.low.mean()), float(found.high.mean()))
        return part.model_copy(update={"n": matrix.n, "excluded": matrix.excluded, "bounds": both})
    bounds = (float(found.low.mean()), float(found.high.mean())) if matrix.excluded else None
    if np.isnan(values).any():
        return EstimateRecord.without_value(
            name,
            matrix.n,
            matrix.k,
            undetermined(asked, values, draws),
            excluded=matrix.excluded,
            bounds=bounds,
        )
    per_value = float(matrix.scored.mean()) / (1 if asked.is_mean else draws)
    interval = problem_interval(
        values, seed=seed, groups=groups, draws=max(per_value, 1.0), level=level, resamples=resamples
    )
    clusters = cluster(values, groups)
    rerun_ci, rerun_method = _rerun(asked, matrix, level)
    return EstimateRecord(
        metric=name,
        value=clusters.mean,
        n=matrix.n,
        k=matrix.k,
        se=clusters.se,
        ci=interval.bounds,
        ci_method=interval.method + _ragged_words(matrix),
        rerun_ci=rerun_ci,
        rerun_ci_method=rerun_method,
        excluded=matrix.excluded,
        bounds=bounds,
        missing=None,
    )


def _rerun(metric: Metric, scores: Scores, level: float) -> tuple[tuple[float, float] | None, str]:
    """Return the re-run interval and how it was made, or None and why there is none."""
    if not metric.is_mean:
        return None, "given for means only"
    found = rerun_interval(scores, level=level)
    return (found.bounds, found.method) if found else (None, "not estimable")


def _resolved(metric: Metric, scores: Scores, k: int | None) -> str:
    """Return the metric's name with its k, as in avg@8."""
    if metric.kind == "acc":
        return metric.name
    drawn = "k" if scores.is_ragged and metric.is_mean else scores.k
    return f"{metric.kind}{metric.k or k or drawn}"


def _too_few(metric: Metric, scores: Scores, k: int | None) -> str | None:
    """Return what the metric lacks, in words, or None."""
    wanted = k or (metric.k if metric.kind == "avg@" else None)
    if wanted is not None and (scores.drawn != wanted).any():
        short = int((scores.drawn != wanted).sum())
        return f"{short} of {scores.n} problems do not have exactly {wanted} samples"
    if metric.k is not None and metric.k > scores.k:
        raise InputError(
            f"{metric.kind}{metric.k} needs {metric.k} samples of every problem, {scores.k} were drawn: "
            f"ask for k <= {scores.k}, or draw more"
        )
    return None


def _ragged_words(scores: Scores) -> str:
    """Return the range of samples per problem in words, empty if all have the same number."""
    if not scores.is_ragged:
        return ""
    return f"; ragged: {scores.k} to {int(scores.drawn.max())} samples a problem"
