"""Metrics of plug-ins: the mean over problems of the plug-in's values, with a resampled interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from genbench.errors import GenbenchError, cause
from genbench.protocols import ProblemScores
from genbench.stats.estimates import EstimateRecord
from genbench.stats.intervals import problem_interval
from genbench.stats.resample import cluster
from genbench.tasks.metrics import load_metric


def plug_in_estimate(
    metric: str, problems: Sequence[ProblemScores], *, k: int, seed: int, folder: str | None = None
) -> EstimateRecord:
    """Return the estimate of a plug-in metric over (n,) problems.

    A metric that is not installed here, raises or returns an invalid value is missing, with the reason. The
    other numbers of the run are kept. `folder` is searched for its module after the installed packages.
    """
    excluded = sum(score is None for problem in problems for score in problem.scores)
    try:
        values = _values(metric, problems, folder)
    except GenbenchError as error:
        return EstimateRecord.without_value(metric, len(problems), k, str(error), excluded=excluded)
    lacking = [problem.problem_id for problem, value in zip(problems, values, strict=True) if value is None]
    if lacking:
        missing = f"{len(lacking)} of {len(problems)} problems have no value (the first is '{lacking[0]}')"
        return EstimateRecord.without_value(metric, len(problems), k, missing, excluded=excluded)
    found = np.array(values, dtype=float)
    groups = [problem.group for problem in problems]
    kept = groups if any(groups) else None
    interval = problem_interval(found, seed=seed, groups=kept)
    clusters = cluster(found, kept)
    return EstimateRecord(
        metric=metric,
        value=clusters.mean,
        n=len(problems),
        k=k,
        se=clusters.se,
        ci=interval.bounds,
        ci_method=interval.method,
        rerun_ci=None,
        rerun_ci_method="given for means only",
        excluded=excluded,
        bounds=None,
        missing=None,
    )


def _values(metric: str, problems: Sequence[ProblemScores], folder: str | None) -> list[float | None]:
    """Return the plug-in's value of each problem.

    Raises:
        GenbenchError: it cannot be loaded, raises, or does not return a number from 0 to 1.
    """
    value_of = load_metric(metric, folder)
    found: list[float | None] = []
    for problem in problems:
        where = f"metric '{metric}', problem '{problem.problem_id}'"
        try:
            value = value_of(problem)
        except Exception as error:  # foreign code
            raise GenbenchError(f"{where}: {cause(error)}") from error
        if value is not None and not _is_share(value):
            raise GenbenchError(f"{where}: returned {value!r:.100}, wanted a number from 0 to 1 or None")
        found.append(None if value is None else float(value))
    return found


def _is_share(value: object) -> bool:
    """Return whether a value is a number in [0, 1], those of NumPy included."""
    try:
        return not isinstance(value, str) and math.isfinite(value) and 0 <= float(value) <= 1  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
