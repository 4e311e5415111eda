"""Curves of checkpoints by training step, from the run folders of a sweep, and their record."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from genbench.analysis.records import Interval
from genbench.analysis.results.record import Results, TaskResults, read_results
from genbench.errors import InputError, nearest
from genbench.json_record import Count, JsonRecord, Share, ShownRecord
from genbench.stats.likelihood import MEASURES
from genbench.stats.quality import kendall_tau
from genbench.stats.tracks.curves import monotonicity, order_agreement, signal_to_noise, step_noise
from genbench.stats.tracks.winners_curse import rerun_errors, without_luck
from genbench.store.folder import RunFolder


class CurvePoint(JsonRecord):
    """A measure of one checkpoint."""

    step: Count = Field(description="training step")
    model: str = Field(description="name of the checkpoint")
    value: float = Field(description="the measure, in its own unit")
    ci: Interval | None = Field(description="95% interval for new problems")
    rerun_ci: Interval | None = Field(
        description="95% interval for a re-run; null for scored texts, which a re-run gives again"
    )


class CurveBest(JsonRecord):
    """The best checkpoint of a curve, and its value without the luck of being the best."""

    step: Count = Field(description="training step")
    model: str = Field(description="name of the checkpoint")
    value: float = Field(description="the measure, in its own unit")
    shrunk: float | None = Field(
        description="the value drawn towards the mean by the share of noise; null if the noise is unknown"
    )
    luck: float | None = Field(description="what the best of as many equal checkpoints gains by chance")


class Curve(JsonRecord):
    """One measure of one task over the checkpoints of one training run."""

    series: str = Field(description="name of the training run: its folder")
    task: str = Field(description="the task")
    measure: str = Field(description="the headline metric, or a measure of scored texts")
    is_share: bool = Field(description="whether values are fractions of 1")
    lower_is_better: bool = Field(description="whether a smaller value is a better one")
    points: tuple[CurvePoint, ...] = Field(description="checkpoints by step")
    signal_to_noise: float | None = Field(
        description="change from the first to the last step over the noise of one; null below four steps"
    )
    monotonicity: float | None = Field(
        description="rank correlation of step and improvement, from -1 to 1; null below three steps"
    )
    noise: float | None = Field(
        description="standard error of one step: from re-run intervals, else from second differences; null "
        "below four steps without them"
    )
    best: CurveBest = Field(description="the best checkpoint")


class RankPoint(JsonRecord):
    """How the order of training runs at one step agrees with that at the last step."""

    step: Count = Field(description="training step that all series have")
    agreement: Share = Field(description="share of pairs of series in the order of the last step")
    tau: float | None = Field(
        default=None, description="Kendall's tau-b of the order with that of the last step; null if all tie"
    )


class Ranks(JsonRecord):
    """The order of several training runs over the steps that all of them have."""

    task: str = Field(description="the task")
    measure: str = Field(description="the measure")
    points: tuple[RankPoint, ...] = Field(description="agreement by step")


class Curves(ShownRecord):
    """Curves of all tasks, those that tell checkpoints apart best first."""

    format: Literal[1] = Field(description="version of this record")
    curves: tuple[Curve, ...] = Field(description="curves, the largest signal to noise first")
    ranks: tuple[Ranks, ...] = Field(description="orders of several series; empty for one")


_Key = tuple[str, str, str]
"""Series, task and measure."""


def curves(folders: Sequence[Path | str], tasks: Sequence[str] = (), measures: Sequence[str] = ()) -> Curves:
    """Return the curves of training runs, each a folder of `genbench run --models-from`.

    Args:
        folders: RUN_DIR of each training run. Several of them are also ranked against each other.
        tasks: the tasks to show. Empty: all.
        measures: the measures to show. Empty: all.

    Raises:
        InputError: a folder has no finished checkpoints with a training step, or nothing fits.
    """
    points: defaultdict[_Key, list[CurvePoint]] = defaultdict(list)
    kinds: dict[_Key, tuple[bool, bool]] = {}
    for folder in map(Path, folders):
        for step, results in sorted(_checkpoints(folder), key=lambda found: found[0]):
            for task, found in results.tasks.items():
                for measure, point, kind in _measures(found, step, results.model):
                    key = (folder.name, task, measure)
                    kinds[key] = kind
                    points[key].append(point)
    _check("task", tasks, {task for _, task, _ in points})
    _check("measure", measures, {measure for _, _, measure in points})
    kept = [key for key in points if (not tasks or key[1] in tasks) and (not measures or key[2] in measures)]
    made = [_curve(key, points[key], kinds[key]) for key in kept]
    made.sort(key=lambda curve: -(curve.signal_to_noise if curve.signal_to_noise is not None else -1.0))
    return Curves(format=1, curves=tuple(made), ranks=tuple(_ranks(made)))


def _checkpoints(folder: Path) -> Iterator[tuple[int, Results]]:
    """Yield step and results of each finished checkpoint of a folder."""
    found = 0
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        run = RunFolder(place)
        manifest = run.manifest() if place.is_dir() else None
        if manifest is None or manifest.track is None or manifest.track.kind != "step":
            continue
        results = read_results(run)
        if results is not None:
            found += 1
            yield manifest.track.position, results
    if not found:
        raise InputError(
            f"{folder}: no finished checkpoints with a training step; wanted the run folder of "
            "genbench run SUITE --models-from PATTERN"
        )


def _measures(
    task: TaskResults, step: int, model: str
) -> Iterator[tuple[str, CurvePoint, tuple[bool, bool]]]:
    """Yield each measure of a task: name, point of its curve, and (is a share, lower is better)."""
    if task.likelihood is None:
        if task.value is not None:
            point = CurvePoint(step=step, model=model, value=task.value, ci=task.ci, rerun_ci=task.rerun_ci)
            yield task.metric, point, (True, False)
        return
    for name, item in task.likelihood.measures.items():
        point = CurvePoint(step=step, model=model, value=item.value, ci=item.ci, rerun_ci=None)
        yield name, point, (MEASURES[name].is_share, item.lower_is_better)


def _curve(key: _Key, points: Sequence[CurvePoint], kind: tuple[bool, bool]) -> Curve:
    is_share, lower = kind
    values = [-point.value if lower else point.value for point in points]
    ratio = signal_to_noise(values)
    noise = _noise(points)
    series, task, measure = key
    return Curve(
        series=series,
        task=task,
        measure=measure,
        is_share=is_share,
        lower_is_better=lower,
        points=tuple(points),
        signal_to_noise=None if ratio is None or math.isinf(ratio) else ratio,
        monotonicity=monotonicity([point.step for point in points], values),
        noise=noise,
        best=_best(points, values.index(max(values)), noise),
    )


def _noise(points: Sequence[CurvePoint]) -> float | None:
    """Return the standard error of one checkpoint: that of a re-run, or else that of one step."""
    found = rerun_noise(point.rerun_ci for point in points)
    return step_noise([point.value for point in points]) if found is None else found


def rerun_noise(intervals: Iterable[Interval | None]) -> float | None:
    """Return the standard error of one score by its 95 % intervals for a re-run, None without any."""
    known = [bounds for bounds in intervals if bounds is not None]
    if not known:
        return None
    low, high = np.array(known, dtype=float).T
    return math.sqrt(float((rerun_errors(low, high) ** 2).mean()))


def _best(points: Sequence[CurvePoint], place: int, noise: float | None) -> CurveBest:
    best = points[place]
    fair, luck = without_luck(np.array([point.value for point in points]), noise, place)
    return CurveBest(step=best.step, model=best.model, value=best.value, shrunk=fair, luck=luck)


def _ranks(curves: Sequence[Curve]) -> Iterator[Ranks]:
    """Yield the orders of several series, of each task and measure that all of them have."""
    groups: defaultdict[tuple[str, str], list[Curve]] = defaultdict(list)
    for curve in curves:
        groups[curve.task, curve.measure].append(curve)
    series = {curve.series for curve in curves}
    for (task, measure), found in groups.items():
        if len(found) < 2 or len(found) < len(series):
            continue
        by_step = [{point.step: point.value for point in curve.points} for curve in found]
        steps = sorted(set.intersection(*(set(values) for values in by_step)))
        if not steps:
            continue
        columns = {
            curve.series: [values[step] for step in steps]
            for curve, values in zip(found, by_step, strict=True)
        }
        shares = order_agreement(columns)
        last = [values[-1] for values in columns.values()]
        taus = [kendall_tau([own[at] for own in columns.values()], last) for at in range(len(steps))]
        yield Ranks(
            task=task,
            measure=measure,
            points=tuple(
                RankPoint(step=step, agreement=share, tau=tau)
                for step, share, tau in zip(steps, shares, taus, strict=True)
            ),
        )


def _check(what: str, wanted: Sequence[str], known: set[str]) -> None:
    for name in wanted:
        if name not in known:
            raise InputError(f"no {what} '{name}'{nearest(name, known)}")
