"""Macro and micro means: over the strata of one task, and over the tasks of a group, with their records."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Bounded
from genbench.analysis.results.table import VerdictTable
from genbench.json_record import Count, JsonRecord
from genbench.protocols import MACRO_JOINT, MacroMean, PublishedScore
from genbench.stats.macro import MeanRecord, harmonic_over_parts, mean_over_parts, spread_over_parts
from genbench.stats.metrics import parse_metric, per_problem
from genbench.stats.scores import Floats, Scores, as_scores


class SpreadRecord(JsonRecord):
    """How far the values of a stratum are apart, over the questions that all of them have."""

    n: Count = Field(description="problems that it is from; 0 if no question was asked in all values")
    delta: Bounded = Field(description="the highest mean minus the lowest")
    std: Bounded = Field(description="sample standard deviation of the means")


class MacroRecord(MeanRecord):
    """The mean over the strata of a task, which count alike."""

    by: str = Field(description="the stratum: subject, language …")
    mean: MacroMean = Field(default="plain", description="which mean of its values; absent in older runs")
    spread: SpreadRecord | None = Field(
        default=None, description="how far its values are apart; absent unless the task asks for it"
    )

    @property
    def name(self) -> str:
        """Return what reports call the mean."""
        return f"{'' if self.mean == 'plain' else f'{self.mean} '}mean over"


class GroupRecord(JsonRecord):
    """Several tasks that a report shows as one."""

    tasks: tuple[str, ...] = Field(description="the tasks, in the order of the suite")
    macro: MeanRecord | None = Field(
        description="mean over the tasks, which count alike; null if one is missing"
    )
    micro: MeanRecord | None = Field(description="mean over all problems; null if a task is missing")
    mean: Literal["macro", "micro"] | None = Field(
        default=None, description="which of the two means others report; absent if nothing is published"
    )
    published: tuple[PublishedScore, ...] = Field(
        default=(), description="what others report for the group; absent if there is nothing"
    )

    @property
    def reported(self) -> MeanRecord | None:
        """The mean that others report. None if nothing is published, or if a task is missing."""
        return self.micro if self.mean == "micro" else self.macro if self.mean == "macro" else None


@dataclass(frozen=True, slots=True)
class ProblemValues:
    """The headline metric of each problem of a task, with the cluster of each."""

    values: Floats
    clusters: Sequence[Hashable]
    parts: Sequence[str] = ()
    """The stratum of each problem, if the strata of the task have weights."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The weight of each stratum in the value of the task. Empty: every problem counts alike."""
    noise: Floats | None = None
    """(n,) the variance of each value between re-runs. None if it is unknown, as with one sample of each."""


def problem_values(
    table: VerdictTable,
    metric: str,
    task: str,
    by: str | None = None,
    weights: Mapping[str, float] | None = None,
    *,
    lists: bool = False,
) -> ProblemValues | None:
    """Return the metric of each problem, or None if samples are missing or no problem has enough of them.

    It is also None for an adaptive run, because means over strata and tasks have plain intervals.

    A problem without a group is a cluster of its own. A group is one cluster in all tasks.

    Args:
        by: the stratum that has weights.
        weights: the weight of each of its values.
        lists: whether the stratum is a list of values. Then every problem counts alike in a group of tasks.
    """
    if table.lacking or not table.problems or table.counts is not None:
        return None
    asked = parse_metric(metric)
    scores = as_scores(table.scores)
    values = per_problem(asked, scores, table.answers, asked.k or table.k)
    if np.isnan(values).any() and not table.excludes_unanswered:
        return None
    clusters = [
        ("problem", task, problem.problem_id) if problem.group is None else ("group", problem.group)
        for problem in table.problems
    ]
    parts = [problem.strata.get(by or "", "") for problem in table.problems] if weights and not lists else ()
    return ProblemValues(
        values, clusters, parts, dict(weights or {}), _noise(scores) if asked.is_mean else None
    )


def _noise(scores: Scores) -> Floats | None:
    """Return the variance (n,) of each problem's mean between re-runs, or None if none has two samples.

    A problem with one scored sample among others with more has the mean variance of those. If no problem
    shows any noise, the variance of the task's mean is that of one deviating sample, as in `rerun_interval`.
    """
    variances = scores.variances
    if np.isnan(variances).all():
        return None
    found: Floats = np.where(np.isnan(variances), np.nanmean(variances), variances) / np.maximum(
        scores.scored, 1
    )
    return found if found.any() else np.full(scores.n, scores.n / float(scores.scored.sum()) ** 2)


def macro_record(
    table: VerdictTable,
    found: ProblemValues | None,
    by: str | None,
    *,
    lists: bool = False,
    mean: MacroMean = "plain",
    spread: bool = False,
    seed: int = 0,
) -> MacroRecord | None:
    """Return the mean over a stratum of the task, or None if the task names none or it has one value.

    Args:
        lists: whether the stratum is a list of values. A problem counts in each of them, as often as it is
            there.
        mean: which mean of the values of the stratum.
        spread: whether the values ask the same questions, so that it tells something how far they are apart.
        seed: the seed of the resampling that the intervals of a harmonic mean and of a spread are from.
    """
    if found is None or by is None:
        return None
    placed = [
        (place, part)
        for place, problem in enumerate(table.problems)
        if (own := problem.strata.get(by)) is not None and not np.isnan(found.values[place])
        for part in (own.split(MACRO_JOINT) if lists else (own,))
    ]
    if len({part for _, part in placed}) < 2:
        return None
    kept = [place for place, _ in placed]
    values, parts = found.values[kept], [part for _, part in placed]
    clusters = [found.clusters[place] for place in kept]
    noise = None if found.noise is None else found.noise[kept]
    made = (
        harmonic_over_parts(values, parts, clusters, seed=seed, noise=noise)
        if mean == "harmonic"
        else mean_over_parts(values, parts, clusters, weights=found.weights or None, noise=noise)
    )
    apart = spread_over_parts(values, parts, clusters, seed=seed) if spread else None
    return MacroRecord.from_object(
        made,
        by=by,
        mean=mean,
        n=len(set(kept)),
        spread=None if apart is None else SpreadRecord.from_object(apart),
    )


def group_records(
    groups: Mapping[str, Sequence[str]], values: Mapping[str, ProblemValues | None]
) -> dict[str, GroupRecord]:
    """Return the means of each group of tasks.

    Args:
        groups: the tasks of each group.
        values: the values of each task. None if its metric is missing.
    """
    return {name: _group(tasks, [values.get(task) for task in tasks]) for name, tasks in groups.items()}


def _group(tasks: Sequence[str], values: Sequence[ProblemValues | None]) -> GroupRecord:
    known = [item for item in values if item is not None]
    if len(known) < len(tasks):
        return GroupRecord(tasks=tuple(tasks), macro=None, micro=None)
    joined = np.concatenate([item.values for item in known])
    clusters = [cluster for item in known for cluster in item.clusters]
    parts, weights = _group_parts(tasks, known)
    noise = np.concatenate(
        [np.full(len(item.values), np.nan) if item.noise is None else item.noise for item in known]
    )
    scored = np.flatnonzero(~np.isnan(joined))  # a problem without an answer may count neither way
    joined, noise = joined[scored], noise[scored]
    clusters, parts = [clusters[at] for at in scored], [parts[at] for at in scored]
    macro = mean_over_parts(joined, parts, clusters, weights=weights, noise=noise)
    return GroupRecord(
        tasks=tuple(tasks),
        macro=macro.model_copy(update={"parts": len(tasks)}),
        micro=mean_over_parts(joined, ["all"] * len(parts), clusters, noise=noise),
    )


def _group_parts(tasks: Sequence[str], known: Sequence[ProblemValues]) -> tuple[list[str], dict[str, float]]:
    """Return the part of each problem of a group, and the weight of each part.

    A task is one part, or one part for each of its strata if these have weights. Each task weighs the same.
    """
    parts: list[str] = []
    weights: dict[str, float] = {}
    for task, item in zip(tasks, known, strict=True):
        own = [f"{task}\0{part}" for part in item.parts] if item.parts else [task] * len(item.clusters)
        parts += own
        present = {part: item.weights[part] for part in dict.fromkeys(item.parts)}
        total = sum(present.values())
        weights |= {f"{task}\0{part}": weight / total for part, weight in present.items()} or {task: 1.0}
    return parts, weights
