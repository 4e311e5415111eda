"""Estimates of a stored run or a score file: every metric with both intervals, and tables by stratum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.plugin_metrics import plug_in_estimate
from genbench.analysis.records import Bounded
from genbench.analysis.results.table import estimate_seed
from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side, SideRecord, SideTask
from genbench.errors import InputError
from genbench.json_record import Count, JsonRecord
from genbench.protocols import ProblemScores
from genbench.stats.estimates import EstimateRecord
from genbench.stats.estimates import estimate as estimate_metric
from genbench.stats.quality import beyond
from genbench.stats.scores import Floats
from genbench.stats.strata import estimate_strata
from genbench.tasks.metrics import is_built_in, load_metric
from genbench.types import STATUSES


class SamplePoint(JsonRecord):
    """A task with another number of samples of each problem."""

    k: Count = Field(description="samples of each problem")
    passed: Bounded = Field(description="pass@k: at least one is right")
    majority: Bounded | None = Field(description="maj@k: most agree on a right answer; null without answers")
    drawn: bool = Field(description="whether so many were drawn; otherwise pass@k is extrapolated")


class EstimatedTask(EstimateRecord):
    """One task: its headline metric, all metrics, counts and tables by stratum."""

    metrics: dict[str, EstimateRecord] = Field(description="all metrics by name, the headline included")
    samples: Count = Field(description="samples of all problems")
    lacking: Count = Field(description="samples without a verdict")
    ragged: bool = Field(description="whether problems have different numbers of samples")
    seed: Count = Field(description="seed of the resampling")
    status_counts: dict[str, Count] | None = Field(
        description="samples by status; null for score files, which have none"
    )
    strata: dict[str, dict[str, EstimateRecord]] = Field(
        description="the headline metric by column, then by stratum"
    )
    curve: tuple[SamplePoint, ...] = Field(
        default=(), description="pass@k and maj@k over k; absent unless it was asked for"
    )
    curve_ends: str | None = Field(
        default=None, description="why the curve ends at the drawn samples; absent if it goes on"
    )


class _Versioned(JsonRecord):
    """A record whose version comes first."""

    format: Literal[1] = Field(description="version of this record")


class Estimation(SideRecord, _Versioned):
    """Estimates of all tasks of one run or score file."""

    tasks: dict[str, EstimatedTask] = Field(description="estimates by task")
    warnings: tuple[str, ...] = Field(
        default=(), description="files of the run that were changed; absent if there are none"
    )


def estimate(
    path: Path | str, *, tasks: Sequence[str] = (), metrics: Sequence[str] = (), curve: bool = False
) -> Estimation:
    """Estimate the metrics of a run folder or a score file.

    Args:
        path: RUN_DIR/<model>, or a score file.
        tasks: the tasks to estimate. Empty: all.
        metrics: names such as pass@5 or maj@3. The first one is the headline. Empty: those of each task.
        curve: also pass@k and maj@k for 1, 2, 4 … samples, and pass@k for up to four times the drawn ones.

    Raises:
        InputError: there is no usable run or score file, it has no such task, or a metric is unknown or
            cannot be estimated from its samples.
    """
    side = open_side(Path(path), tasks)
    folder = _suite_folder(side)
    for metric in metrics:
        if not is_built_in(metric):
            load_metric(metric, folder)
    return Estimation.from_object(
        side.record,
        format=1,
        **_warned(side),
        tasks={
            name: _with_curve(
                _estimated_task(_asked(task, metrics), estimate_seed(side.run_id, name), folder), task, curve
            )
            for name, task in side.tasks.items()
        },
    )


def _warned(side: Side) -> dict[str, tuple[str, ...]]:
    """Return the warnings of a record, if there are any."""
    found = side.state.all_warnings() if side.state is not None else ()
    return {"warnings": found} if found else {}


def _with_curve(found: EstimatedTask, task: SideTask, wanted: bool) -> EstimatedTask:
    if not wanted or task.is_ragged or task.lacking:
        return found
    points, k = list[SamplePoint](), 1
    while k < task.smallest_k:
        points.append(_point(task, k, found.seed))
        k *= 2
    points.append(_point(task, task.smallest_k, found.seed))
    right = right_shares(task)
    known = ~np.isnan(right)
    counts = np.full(int(known.sum()), float(task.smallest_k))
    ends = "the drawn samples solve every problem" if bool((right[known] > 0).all()) else None
    for times in () if ends else (2, 4):
        more = beyond(right[known] * counts, counts, times * task.smallest_k, seed=found.seed)
        if isinstance(more, str):
            ends = more
            break
        passed = Bounded(value=more[0], ci=more[1:])
        points.append(SamplePoint(k=times * task.smallest_k, passed=passed, majority=None, drawn=False))
    update = {"curve": tuple(points), **({} if ends is None else {"curve_ends": ends})}
    return found.model_copy(update=update)


def _point(task: SideTask, k: int, seed: int) -> SamplePoint:
    planned = task.smallest_k
    passed = estimate_metric(f"pass@{k}", task.scores, seed=seed, groups=task.groups, k=planned)
    majority = None
    if task.answers is not None:
        own = estimate_metric(
            f"maj@{k}", task.scores, seed=seed, groups=task.groups, answers=task.answers, k=planned
        )
        majority = Bounded(value=own.value, ci=own.ci)
    return SamplePoint(k=k, passed=Bounded(value=passed.value, ci=passed.ci), majority=majority, drawn=True)


def right_shares(task: SideTask) -> Floats:
    """Return the share of right samples (n,) of each problem. Partly right ones count as wrong.

    A problem without a scored sample has NaN.
    """
    rows = [[score for score in row if score is not None] for row in task.scores]
    return np.array([sum(score >= 1 for score in row) / len(row) if row else np.nan for row in rows])


def _suite_folder(side: Side) -> str | None:
    """Return the folder of a run's suite, which may have the modules of metrics. A score file has none."""
    return None if side.manifest is None else str(Path(side.manifest.suite.path).parent)


def _asked(task: SideTask, metrics: Sequence[str]) -> SideTask:
    """Return the task with the requested metrics instead of its own."""
    return replace(task, metric=metrics[0], metrics=tuple(metrics)) if metrics else task


def _estimated_task(task: SideTask, seed: int, folder: str | None) -> EstimatedTask:
    """Return the estimates, counts and tables of one task.

    Args:
        folder: the folder that is searched for the modules of plug-in metrics.
    """
    found = {
        metric: _estimate(task, metric, seed, folder)
        for metric in dict.fromkeys((task.metric, *task.metrics))
    }
    return EstimatedTask.from_object(
        found[task.metric],
        metrics={item.metric: item for item in found.values()},
        samples=task.samples,
        lacking=task.lacking,
        ragged=task.is_ragged,
        seed=seed,
        status_counts=_status_counts(task),
        strata=dict(_strata(task, seed)),
    )


def _estimate(task: SideTask, metric: str, seed: int, folder: str | None) -> EstimateRecord:
    """Estimate one metric as results.json has it. A run's k is the planned one, a score file's is counted."""
    k = task.k or (None if task.is_ragged else task.largest_k)
    ending = str(k or ("k" if metric.startswith("avg@") else task.smallest_k))
    label = metric.replace("@k", f"@{ending}").replace("^k", f"^{ending}")
    if task.lacking:
        missing = f"{task.lacking} of {task.samples} samples have no verdict"
        return EstimateRecord.without_value(label, len(task.problem_ids), task.k or task.smallest_k, missing)
    if not is_built_in(metric):
        return plug_in_estimate(metric, _rows(task), k=task.k or task.smallest_k, seed=seed, folder=folder)
    try:
        found = estimate_metric(
            metric,
            task.scores,
            seed=seed,
            groups=task.groups,
            answers=task.answers,
            k=k,
            label=label,
            may_be_silent=task.excludes_unanswered,
        )
    except InputError as error:
        raise InputError(f"task {task.name}: {error}") from None
    return found if task.texts is None else found.without_rerun


def _rows(task: SideTask) -> list[ProblemScores]:
    """Return the scores, answers and strata of each problem, as metrics of other packages take them."""
    answers = task.answers or ((),) * len(task.problem_ids)
    groups = task.groups or (None,) * len(task.problem_ids)
    return [
        ProblemScores(
            problem_id,
            task.scores[row],
            tuple(answers[row]),
            {name: label for name, labels in task.strata.items() if (label := labels[row]) is not None},
            groups[row],
        )
        for row, problem_id in enumerate(task.problem_ids)
    ]


def _status_counts(task: SideTask) -> dict[str, int] | None:
    """Count samples by status, or return None if statuses are unknown."""
    if task.statuses is None:
        return None
    counts = Counter(status for row in task.statuses for status in row)
    counts["unscored"] -= task.lacking
    return {status: counts[status] for status in STATUSES if counts[status] > 0}


def _strata(task: SideTask, seed: int) -> Iterator[tuple[str, dict[str, EstimateRecord]]]:
    """Yield each column with two or more strata, and the headline metric within each.

    Metrics of plug-ins have no strata.
    """
    if task.lacking or not is_built_in(task.metric):
        return
    for column, labels in task.strata.items():
        rows = estimate_strata(
            task.metric,
            task.scores,
            labels,
            seed=seed,
            groups=task.groups,
            answers=task.answers,
            may_be_silent=task.excludes_unanswered,
        )
        if len(rows) > 1:
            yield column, rows
