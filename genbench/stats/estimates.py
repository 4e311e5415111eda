"""Estimates of a metric over the problems of a task, with intervals and bounds for excluded samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from genbench.errors import InputError
from genbench.stats.draws import maj_at_k, pass_at_k, pass_hat_k
from genbench.stats.intervals import LEVEL, problem_interval, rerun_interval
from genbench.stats.resample import RESAMPLES, cluster
from genbench.stats.scores import Floats, Scores, ScoresLike, as_scores

AnswersLike = Sequence[Sequence[str | None]]
"""Extracted answers, one sequence per problem, in the shape of the scores. None: nothing was extracted."""
SCORED_METRICS = (
    "acc_norm",
    "acc_char",
    "acc_token",
    "acc_byte",
    "acc_pmi",
    "greedy",
    "byte_probability",
)
"""Headlines of tasks that score given texts. Each is the mean of the scores, as `acc` is."""
NO_RERUN = "nothing is drawn: a re-run gives the same numbers"
"""The method of the re-run interval of scored texts, which have none."""
_METRIC = re.compile(r"(?P<kind>avg@|pass@|pass\^|maj@)(?P<k>k|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A metric's value with its intervals. Values and bounds are fractions of 1.

    `ci` answers "would it hold on new questions of this kind". `rerun_ci` answers "would a re-run of this
    checkpoint on these questions give it". `value` is None if the metric cannot be computed; `missing` then
    says why.
    """

    metric: str
    value: float | None
    n: int
    k: int
    se: float | None = None
    ci: tuple[float, float] | None = None
    ci_method: str = ""
    rerun_ci: tuple[float, float] | None = None
    rerun_ci_method: str = ""
    excluded: int = 0
    bounds: tuple[float, float] | None = None
    """The value with every excluded sample wrong, and with every one right."""
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """A parsed metric: `acc`, or one of avg@k, pass@k, pass^k, maj@k. `k` None means all samples drawn."""

    kind: str
    k: int | None = None
    name: str = "acc"
    """The name of a metric of kind `acc`."""

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean of the scores, as opposed to a metric of k-subsets."""
        return self.kind in {"acc", "avg@"}


def parse_metric(name: str) -> Metric:
    """Return the metric with this name.

    Raises:
        InputError: there is no such metric.
    """
    if name == "acc":
        return Metric("acc")
    if name in SCORED_METRICS:
        return Metric("acc", name=name)
    found = _METRIC.fullmatch(name)
    if found is None:
        raise InputError(f"unknown metric '{name}'; valid: acc, avg@k, pass@k, pass^k, maj@k (k or a number)")
    return Metric(found["kind"], None if found["k"] == "k" else int(found["k"]))


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
) -> Estimate:
    """Return the metric's value with its intervals: the mean over problems, never over pooled samples.

    Args:
        metric: `acc`, avg@k, pass@k, pass^k or maj@k. pass and maj count a sample as right at score 1.
        scores: (n, k) or ragged, with NaN or None for an excluded sample.
        groups: (n,) the cluster above each problem.
        answers: the extracted answers, needed for maj@k.
        k: the planned samples of each problem. With fewer the value is missing, never scaled.
        label: the name in the result instead of the metric's own (`acc_norm` …).

    Raises:
        InputError: the metric is unknown or asks for too many draws, or scores or shapes are wrong.
    """
    matrix, asked = as_scores(scores), parse_metric(metric)
    check_shapes(matrix, asked, groups, answers)
    name = label or _resolved(asked, matrix, k)
    empty = Estimate(name, None, matrix.n, matrix.k, excluded=matrix.excluded)
    short = _too_few(asked, matrix, k)
    if short:
        return replace(empty, missing=short)
    draws = asked.k or matrix.k
    found = problem_values(asked, matrix, answers, draws)
    values = found.values
    if matrix.excluded:
        empty = replace(empty, bounds=(float(found.low.mean()), float(found.high.mean())))
    if np.isnan(values).any():
        return replace(empty, missing=undetermined(asked, values, draws))
    units = _Units(groups, seed, level, resamples)
    return _with_value(empty, asked, matrix, values, draws=draws, units=units)


@dataclass(frozen=True, slots=True)
class _Units:
    """How the units of an estimate are resampled."""

    groups: Sequence[str | None] | None
    seed: int
    level: float
    resamples: int


def _with_value(
    empty: Estimate, metric: Metric, scores: Scores, values: Floats, *, draws: int, units: _Units
) -> Estimate:
    """Return the estimate with its value and both intervals, from the problems' values (n,)."""
    per_value = float(scores.scored.mean()) / (1 if metric.is_mean else draws)
    interval = problem_interval(
        values,
        seed=units.seed,
        groups=units.groups,
        draws=max(per_value, 1.0),
        level=units.level,
        resamples=units.resamples,
    )
    clusters = cluster(values, units.groups)
    rerun_ci, rerun_method = _rerun(metric, scores, units.level)
    return replace(
        empty,
        value=clusters.mean,
        se=clusters.se,
        ci=interval.bounds,
        ci_method=interval.method + _ragged_words(scores),
        rerun_ci=rerun_ci,
        rerun_ci_method=rerun_method,
    )


def _rerun(metric: Metric, scores: Scores, level: float) -> tuple[tuple[float, float] | None, str]:
    """Return the re-run interval and how it was made, or None and why there is none."""
    if not metric.is_mean:
        return None, "given for means only"
    found = rerun_interval(scores, level=level)
    return (found.bounds, found.method) if found else (None, "not estimable")


def without_rerun(found: Estimate) -> Estimate:
    """Return an estimate of scored texts, which has no interval for a re-run because nothing is drawn."""
    return replace(found, rerun_ci=None, rerun_ci_method=NO_RERUN)


def per_problem(metric: Metric, scores: Scores, answers: AnswersLike | None, draws: int) -> Floats:
    """Return the metric (n,) of each problem over its scored samples, NaN if there are too few."""
    if metric.is_mean:
        return scores.means
    values = np.full(scores.n, np.nan)
    for i in np.flatnonzero(scores.scored >= draws):
        kept = ~np.isnan(scores.values[i])
        row = scores.values[i][kept]
        if metric.kind == "maj@":
            assert answers is not None
            votes = [answers[i][j] for j in np.flatnonzero(kept)]
            values[i] = maj_at_k(votes, [float(score) for score in row], draws)
        else:
            share = pass_at_k if metric.kind == "pass@" else pass_hat_k
            values[i] = share(len(row), int((row == 1).sum()), draws)
    return values


@dataclass(frozen=True, slots=True)
class ProblemValues:
    """The metric of each problem (n,), with its bounds if every excluded sample was wrong or right.

    `values` is NaN for a problem with too few scored samples, unless both bounds agree: pass@8 with seven
    scored samples of eight is 1 as soon as one of them is right.
    """

    values: Floats
    low: Floats
    high: Floats


def problem_values(metric: Metric, scores: Scores, answers: AnswersLike | None, draws: int) -> ProblemValues:
    """Return the metric of each problem with its bounds. Without excluded samples all three are equal."""
    values = per_problem(metric, scores, answers, draws)
    if scores.excluded == 0:
        return ProblemValues(values, values, values)
    low = per_problem(metric, scores.filled(0.0), _voting(answers, scores, right=False), draws)
    high = per_problem(metric, scores.filled(1.0), _voting(answers, scores, right=True), draws)
    return ProblemValues(np.where(np.isnan(values) & (low == high), low, values), low, high)


def _voting(answers: AnswersLike | None, scores: Scores, *, right: bool) -> AnswersLike | None:
    """Return answers in which all excluded samples vote for the strongest right (or wrong) answer."""
    if answers is None:
        return None
    voted: list[list[str | None]] = []
    for row, line, drawn in zip(answers, scores.values, scores.drawn, strict=True):
        same = [
            a for a, s in zip(row, line[:drawn], strict=True) if a is not None and (s > 0) == right and s >= 0
        ]
        # Without a scored sample of that kind they agree on an answer of their own.
        leader = max(sorted(set(same)), key=same.count, default="\0excluded")
        voted.append([leader if np.isnan(s) else a for a, s in zip(row, line[:drawn], strict=True)])
    return voted


def check_shapes(
    scores: Scores, metric: Metric, groups: Sequence[str | None] | None, answers: AnswersLike | None
) -> None:
    """Raise InputError if groups or answers do not fit the scores, or if needed answers are missing."""
    if groups is not None and len(groups) != scores.n:
        raise InputError(f"{len(groups)} groups for {scores.n} problems: one is needed for each")
    if metric.kind == "maj@":
        if answers is None:
            raise InputError("maj@k counts votes: it needs the extracted answers in addition to the scores")
        if [len(row) for row in answers] != scores.drawn.tolist():
            raise InputError("answers and scores differ in shape: one answer (or None) is needed per sample")


def _resolved(metric: Metric, scores: Scores, k: int | None) -> str:
    """Return the metric's name with its k, as in avg@8."""
    if metric.kind == "acc":
        return metric.name
    drawn = "k" if scores.is_ragged else scores.k
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


def undetermined(metric: Metric, values: Floats, draws: int) -> str:
    """Say which problems have no value (NaN in `values` (n,)), and why."""
    unknown = np.flatnonzero(np.isnan(values))
    what = "no scored sample" if metric.is_mean else f"fewer than {draws} scored samples"
    return f"{len(unknown)} of {len(values)} problems have {what} (the first at position {int(unknown[0])})"


def _ragged_words(scores: Scores) -> str:
    """Return the range of samples per problem in words, empty if all have the same number."""
    if not scores.is_ragged:
        return ""
    return f"; ragged: {scores.k} to {int(scores.drawn.max())} samples a problem"
