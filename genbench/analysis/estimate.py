"""Estimates of a stored run or a score file: every metric with both intervals, and tables by stratum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from genbench.analysis.metrics import plug_in_estimate
from genbench.analysis.sides import SideTask
from genbench.analysis.storedrun import open_side
from genbench.analysis.table import estimate_record, estimate_seed
from genbench.protocols import ProblemScores
from genbench.stats.estimates import estimate as estimate_metric
from genbench.stats.strata import estimate_strata
from genbench.tasks.metrics import is_built_in
from genbench.types import STATUSES, Estimate

FORMAT = 1


def estimate(path: Path | str, *, tasks: Sequence[str] = ()) -> dict[str, Any]:
    """The record that docs/json.md describes, of a run folder or a score file.

    Raises:
        InputError: nothing usable is there.
    """
    side = open_side(Path(path), tasks)
    return {
        "format": FORMAT,
        "path": str(side.path),
        "kind": side.kind,
        "name": side.name,
        "run_id": side.run_id,
        "model_identity": side.identity,
        "run_seed": side.run_seed,
        "tasks": {
            name: _task_record(task, estimate_seed(side.run_id, name)) for name, task in side.tasks.items()
        },
    }


def _task_record(task: SideTask, seed: int) -> dict[str, Any]:
    found = {metric: _estimate(task, metric, seed) for metric in dict.fromkeys((task.metric, *task.metrics))}
    return estimate_record(found[task.metric]) | {
        "metrics": {item.metric: estimate_record(item) for item in found.values()},
        "samples": task.samples,
        "lacking": task.lacking,
        "ragged": task.is_ragged,
        "seed": seed,
        "status_counts": _status_counts(task),
        "strata": _strata(task, seed),
    }


def _estimate(task: SideTask, metric: str, seed: int) -> Estimate:
    """As results.json has it: a run's k is exact, a score file's is what it holds."""
    k = task.k or (None if task.is_ragged else task.largest_k)
    ending = str(k) if k else "k"
    label = metric.replace("@k", f"@{ending}").replace("^k", f"^{ending}")
    if task.lacking:
        missing = f"{task.lacking} of {task.samples} samples have no verdict"
        return Estimate(label, None, len(task.problem_ids), task.k or task.smallest_k, missing=missing)
    if not is_built_in(metric):
        return plug_in_estimate(metric, _rows(task), k=task.k or task.smallest_k, seed=seed)
    return estimate_metric(
        metric, task.scores, seed=seed, groups=task.groups, answers=task.answers, k=k, label=label
    )


def _rows(task: SideTask) -> list[ProblemScores]:
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
    if task.statuses is None:
        return None
    counts = Counter(status for row in task.statuses for status in row)
    counts["unscored"] -= task.lacking
    return {status: counts[status] for status in STATUSES if counts[status] > 0}


def _strata(task: SideTask, seed: int) -> dict[str, dict[str, Any]]:
    """By column with two or more strata: the headline metric within each."""
    tables: dict[str, dict[str, Any]] = {}
    if task.lacking:
        return tables
    for column, labels in task.strata.items():
        rows = estimate_strata(
            task.metric, task.scores, labels, seed=seed, groups=task.groups, answers=task.answers
        )
        if len(rows) > 1:
            tables[column] = {name: estimate_record(row) for name, row in rows.items()}
    return tables
