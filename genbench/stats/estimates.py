"""A metric's value over the problems of a task, with its intervals and what was left out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from genbench.errors import InputError
from genbench.stats.draws import maj_at_k, pass_at_k, pass_hat_k
from genbench.stats.intervals import LEVEL, problem_interval, rerun_interval
from genbench.stats.resample import RESAMPLES, cluster
from genbench.stats.scores import Floats, Scores, ScoresLike, as_scores
from genbench.types import Estimate

AnswersLike = Sequence[Sequence[str | None]]
"""Extracted answers, one sequence per problem, beside the scores; None where none was found."""
_METRIC = re.compile(r"(?P<kind>avg@|pass@|pass\^|maj@)(?P<k>k|[1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's name taken apart: `acc`, or one of avg@k, pass@k, pass^k, maj@k; k None = all drawn."""

    kind: str
    k: int | None = None

    @property
    def is_mean(self) -> bool:
        """The mean of the scores, as opposed to a metric of k-subsets."""
        return self.kind in {"acc", "avg@"}


def parse_metric(name: str) -> Metric:
    """The metric that a name means.

    Raises:
        InputError: the name is none of ours.
    """
    if name == "acc":
        return Metric("acc")
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
    """The metric's value: mean over problems of per-problem values, never over pooled rows.

    `scores` are (n, k) or ragged, NaN or None where a sample was excluded; `groups` (n,) names the
    cluster above each problem, `answers` are needed for maj@k. `k` is how many samples each problem
    was to have: with fewer the value is missing, never scaled. Without `k`, unequal numbers are
    flagged in `ci_method`. `label` replaces the metric's name in the result (`acc_norm` …). The
    metrics of draws count a sample as right at score 1.

    Raises:
        InputError: unknown metric, more draws asked for than made, bad scores, or shapes that differ.
    """
    matrix, asked = as_scores(scores), parse_metric(metric)
    check_shapes(matrix, asked, groups, answers)
    name = label or _resolved(asked, matrix, k)
    short = _too_few(asked, matrix, k)
    if short:
        return Estimate(name, None, matrix.n, matrix.k, excluded=matrix.excluded, missing=short)
    draws = asked.k or matrix.k
    values, bounds = values_and_bounds(asked, matrix, answers, draws)
    if np.isnan(values).any():
        missing = undetermined(asked, values, draws)
        return Estimate(
            name, None, matrix.n, matrix.k, excluded=matrix.excluded, bounds=bounds, missing=missing
        )
    rows = float(matrix.scored.mean()) / (1 if asked.is_mean else draws)
    interval = problem_interval(
        values,
        seed=seed,
        groups=groups,
        draws=max(rows, 1.0) if matrix.is_binary else None,
        level=level,
        resamples=resamples,
    )
    rerun = rerun_interval(matrix, level=level) if asked.is_mean else None
    clusters = cluster(values, groups)
    return Estimate(
        metric=name,
        value=clusters.mean,
        n=matrix.n,
        k=matrix.k,
        se=clusters.se,
        ci=interval.bounds,
        ci_method=interval.method + _ragged_words(matrix),
        rerun_ci=rerun.bounds if rerun else None,
        rerun_ci_method=rerun.method
        if rerun
        else "not estimable"
        if asked.is_mean
        else "given for means only",
        excluded=matrix.excluded,
        bounds=bounds,
    )


def per_problem(metric: Metric, scores: Scores, answers: AnswersLike | None, draws: int) -> Floats:
    """The metric of each problem (n,), over its scored samples; NaN where they are fewer than it draws."""
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


def values_and_bounds(
    metric: Metric, scores: Scores, answers: AnswersLike | None, draws: int
) -> tuple[Floats, tuple[float, float] | None]:
    """Values (n,) and the mean's bounds with every excluded sample wrong, and right.

    A problem with too few scored samples still has a value where both bounds agree (pass@8 with
    seven scored samples of eight is 1 as soon as one of them is right).
    """
    values = per_problem(metric, scores, answers, draws)
    if scores.excluded == 0:
        return values, None
    low = per_problem(metric, scores.filled(0.0), _voting(answers, scores, right=False), draws)
    high = per_problem(metric, scores.filled(1.0), _voting(answers, scores, right=True), draws)
    values = np.where(np.isnan(values) & (low == high), low, values)
    return values, (float(low.mean()), float(high.mean()))


def _voting(answers: AnswersLike | None, scores: Scores, *, right: bool) -> AnswersLike | None:
    """Answers in which the excluded samples vote together: for the strongest right, or wrong, answer."""
    if answers is None:
        return None
    voted: list[list[str | None]] = []
    for row, line, drawn in zip(answers, scores.values, scores.drawn, strict=True):
        same = [
            a for a, s in zip(row, line[:drawn], strict=True) if a is not None and (s > 0) == right and s >= 0
        ]
        # Where no scored sample is of that kind they agree on an answer of their own.
        leader = max(sorted(set(same)), key=same.count, default="\0excluded")
        voted.append([leader if np.isnan(s) else a for a, s in zip(row, line[:drawn], strict=True)])
    return voted


def check_shapes(
    scores: Scores, metric: Metric, groups: Sequence[str | None] | None, answers: AnswersLike | None
) -> None:
    """Raise InputError where groups or answers do not fit the scores, or answers are needed and lacking."""
    if groups is not None and len(groups) != scores.n:
        raise InputError(f"{len(groups)} groups for {scores.n} problems: one is needed for each")
    if metric.kind == "maj@":
        if answers is None:
            raise InputError("maj@k counts votes: it needs the extracted answers beside the scores")
        if [len(row) for row in answers] != scores.drawn.tolist():
            raise InputError("answers and scores differ in shape: one answer (or None) is needed per sample")


def _resolved(metric: Metric, scores: Scores, k: int | None) -> str:
    if metric.kind == "acc":
        return "acc"
    drawn = "k" if scores.is_ragged else scores.k
    return f"{metric.kind}{metric.k or k or drawn}"


def _too_few(metric: Metric, scores: Scores, k: int | None) -> str | None:
    """What lacks for the metric, in words, or None."""
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
    """Which problems have no value (NaN in `values` (n,)), and why, in words."""
    unknown = np.flatnonzero(np.isnan(values))
    what = "no scored sample" if metric.is_mean else f"fewer than {draws} scored samples"
    return f"{len(unknown)} of {len(values)} problems have {what} (the first at position {int(unknown[0])})"


def _ragged_words(scores: Scores) -> str:
    if not scores.is_ragged:
        return ""
    return f"; ragged: {scores.k} to {int(scores.drawn.max())} samples a problem"
