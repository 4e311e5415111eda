"""Curves of checkpoints by training step, from the run folders of a sweep."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from genbench.analysis.curves_record import Curve, CurvePoint, Curves, RankPoint, Ranks
from genbench.analysis.records import Interval
from genbench.analysis.results_record import Results, TaskResults, read_results
from genbench.errors import InputError, nearest
from genbench.stats.curves import monotonicity, order_agreement, signal_to_noise
from genbench.stats.likelihood import MEASURES
from genbench.store.folder import RunFolder

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
                for measure, value, ci, kind in _measures(found):
                    key = (folder.name, task, measure)
                    kinds[key] = kind
                    points[key].append(CurvePoint(step=step, model=results.model, value=value, ci=ci))
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


def _measures(task: TaskResults) -> Iterator[tuple[str, float, Interval | None, tuple[bool, bool]]]:
    """Yield each measure of a task: name, value, interval, and (is a share, lower is better)."""
    if task.likelihood is None:
        if task.value is not None:
            yield task.metric, task.value, task.ci, (True, False)
        return
    for name, item in task.likelihood.measures.items():
        yield name, item.value, item.ci, (MEASURES[name].is_share, item.lower_is_better)


def _curve(key: _Key, points: Sequence[CurvePoint], kind: tuple[bool, bool]) -> Curve:
    is_share, lower = kind
    values = [-point.value if lower else point.value for point in points]
    ratio = signal_to_noise(values)
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
    )


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
        yield Ranks(
            task=task,
            measure=measure,
            points=tuple(
                RankPoint(step=step, agreement=share) for step, share in zip(steps, shares, strict=True)
            ),
        )


def _check(what: str, wanted: Sequence[str], known: set[str]) -> None:
    for name in wanted:
        if name not in known:
            raise InputError(f"no {what} '{name}'{nearest(name, known)}")
