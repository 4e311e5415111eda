"""Several checkpoints next to each other: scores, differences to the first, and ranks, task by task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field
from scipy.stats import t as student

from genbench.analysis.comparison.compare import CompareOptions, Comparison, compare_sides
from genbench.analysis.curves import rerun_noise
from genbench.analysis.records import Bounded, Interval
from genbench.analysis.results.record import Results, TaskResults, read_results
from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side, SideTask
from genbench.errors import InputError, NotComparableError
from genbench.json_record import Count, DifferenceInterval, JsonRecord, Share, ShownRecord, SignedShare
from genbench.stats.metrics import parse_metric
from genbench.stats.scores import Floats
from genbench.stats.tracks.winners_curse import range_level, without_luck
from genbench.store.folder import RunFolder
from genbench.store.manifest import AboutRecord

MOST_RUNS = 30


class CheckpointRun(JsonRecord):
    """One of the checkpoints. The first is what the others are compared with."""

    name: str = Field(description="name of its model, with the folder above if two have one name")
    path: str = Field(description="the run folder or score file")
    about: AboutRecord = Field(
        default=AboutRecord(), description="tags, note and values of the user's own; absent if there are none"
    )
    refused: str | None = Field(default=None, description="why it cannot be compared; absent if it can")


class CheckpointScore(JsonRecord):
    """The score of one checkpoint on one task."""

    run: str = Field(description="name of the checkpoint")
    value: Share | None = Field(description="headline metric; null if it is missing")
    ci: Interval | None = Field(description="95% interval for new problems")
    difference: SignedShare | None = Field(
        default=None, description="to the first checkpoint, paired by problem; absent for the first"
    )
    difference_ci: DifferenceInterval | None = Field(default=None, description="its 95% interval")
    p: Share | None = Field(default=None, description="two-sided p value of the difference")
    rank: tuple[Count, Count] | None = Field(
        description="best and worst rank that the scores do not exclude, over all pairs of checkpoints "
        "together at 95%; null if it cannot be told"
    )
    parts: dict[str, Bounded] = Field(
        default_factory=dict, description="named parts of the score; absent if there are none"
    )


class CheckpointBest(JsonRecord):
    """The best checkpoint of a task, and its value without the luck of being the best."""

    run: str = Field(description="name of the checkpoint")
    value: Share = Field(description="its score")
    shrunk: float | None = Field(description="the score drawn towards the mean by the share of noise")
    luck: float | None = Field(description="what the best of as many equal checkpoints gains by chance")


class CheckpointTask(JsonRecord):
    """One task over all checkpoints."""

    metric: str = Field(description="headline metric")
    n: Count = Field(description="problems that all checkpoints have")
    scores: tuple[CheckpointScore, ...] = Field(description="by checkpoint, those that have the task")
    best: CheckpointBest | None = Field(description="null if fewer than two have a value")


class Checkpoints(ShownRecord):
    """Several checkpoints compared with the first, task by task."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[CheckpointRun, ...] = Field(description="the checkpoints, the first of which is the base")
    tasks: dict[str, CheckpointTask] = Field(description="tasks by name")
    warnings: tuple[str, ...] = Field(description="reasons to doubt the numbers")


def compare_checkpoints(
    paths: Sequence[str | Path], *, tasks: Sequence[str] = (), allow: Sequence[str] = ()
) -> Checkpoints:
    """Compare several run folders or score files with the first.

    Args:
        tasks: only these tasks. Empty: all.
        allow: names of differences to let through.

    Raises:
        InputError: fewer than two, too many, one twice, or one that cannot be read.
        NotComparableError: none of them can be compared with the first.
    """
    places = [Path(path) for path in paths]
    if not 2 <= len(places) <= MOST_RUNS:
        raise InputError(f"{len(places)} runs: wanted 2 to {MOST_RUNS}")
    names = run_names(places)
    sides = dict(zip(names, (open_side(path, tasks) for path in places), strict=True))
    return checkpoints_of(sides, *compared_with_first(sides, allow))


def runs_below(paths: Sequence[Path]) -> list[Path]:
    """Return the runs that some paths name: themselves, or the runs of one command in a folder.

    The runs of a folder are in the order of their suite, so that the base is the first.
    """
    return [run for path in paths for run in _runs_in(path)]


def _runs_in(path: Path) -> list[Path]:
    if not path.is_dir() or (path / "manifest.json").is_file():
        return [path]
    found = sorted(place.parent for place in path.glob("*/manifest.json"))
    if not found:
        return [path]  # opening it says what is wrong
    order = list(RunFolder(found[0]).require_manifest().suite.config.get("models", {}))
    return sorted(found, key=lambda run: (run.name not in order, run.name in order and order.index(run.name)))


def run_names(paths: Sequence[Path]) -> list[str]:
    """Return the models' names, with the folder above if two runs are of one model.

    Raises:
        InputError: one folder was given twice.
    """
    resolved = [path.resolve() for path in paths]
    if len(set(resolved)) < len(resolved):
        raise InputError("one run folder was given twice")
    short = [path.name for path in resolved]
    if len(set(short)) == len(short):
        return short
    longer = [f"{path.parent.name}/{path.name}" for path in resolved]
    return longer if len(set(longer)) == len(longer) else [str(path) for path in resolved]


def compared_with_first(
    sides: Mapping[str, Side], allow: Sequence[str] = ()
) -> tuple[dict[str, Comparison], dict[str, str]]:
    """Return the comparison of each further side with the first, and why others cannot be compared.

    Raises:
        NotComparableError: none of them can be.
    """
    (_, base), *others = sides.items()
    found: dict[str, Comparison] = {}
    refused: dict[str, str] = {}
    last: NotComparableError | None = None
    for name, side in others:
        try:
            found[name] = compare_sides(base, side, CompareOptions(allow=allow))
        except NotComparableError as error:
            refused[name], last = str(error), error
    if not found and last is not None:
        raise last
    return found, refused


def checkpoints_of(
    sides: Mapping[str, Side], compared: Mapping[str, Comparison], refused: Mapping[str, str]
) -> Checkpoints:
    """Return the record of opened sides by name. The first is the base.

    Args:
        compared: the comparison of each further side with the first, if there is one.
        refused: why the others have none.
    """
    first = next(iter(sides))
    kept = {name: side for name, side in sides.items() if name not in refused}
    results = {name: _results(side) for name, side in kept.items()}
    tasks = {
        name: _task(name, kept, results, compared)
        for name in sides[first].tasks
        if any(name in record.tasks for record in compared.values())
    }
    return Checkpoints(
        format=1,
        runs=tuple(_run(name, side, refused.get(name)) for name, side in sides.items()),
        tasks=tasks,
        warnings=tuple(
            f"{first} -> {name}: {line}" for name, record in compared.items() for line in record.warnings
        ),
    )


def _run(name: str, side: Side, refused: str | None) -> CheckpointRun:
    about = None if side.manifest is None else side.manifest.about
    extra = {} if about is None or about == AboutRecord() else {"about": about}
    return CheckpointRun(
        name=name, path=str(side.path), **extra, **({} if refused is None else {"refused": refused})
    )


def _results(side: Side) -> Results | None:
    return None if side.manifest is None else read_results(RunFolder(side.path))


def _task(
    name: str,
    sides: Mapping[str, Side],
    results: Mapping[str, Results | None],
    compared: Mapping[str, Comparison],
) -> CheckpointTask:
    own = {run: side.tasks[name] for run, side in sides.items() if name in side.tasks}
    stored = {run: None if (r := results[run]) is None else r.tasks.get(name) for run in own}
    ranks, shared = rank_ranges(own)
    scores = tuple(_score(run, name, stored[run], compared, ranks.get(run)) for run in own)
    lead = next(record.tasks[name] for record in compared.values() if name in record.tasks)
    return CheckpointTask(metric=lead.metric, n=shared, scores=scores, best=_best(scores, stored.values()))


def _score(
    run: str,
    task: str,
    stored: TaskResults | None,
    compared: Mapping[str, Comparison],
    rank: tuple[int, int] | None,
) -> CheckpointScore:
    record = compared.get(run)
    found = None if record is None else record.tasks.get(task)
    value = found.tuned if found is not None else None
    if record is None:  # the first: what the others are compared with
        value = next(item.tasks[task].base for item in compared.values() if task in item.tasks)
    extra: dict[str, Any] = (
        {}
        if found is None
        else {"difference": found.difference, "difference_ci": found.ci, "p": found.p_two_sided}
    )
    if stored is not None and (parts := score_parts(stored)):
        extra["parts"] = parts
    return CheckpointScore(
        run=run,
        value=value if stored is None else stored.value,
        ci=None if stored is None else stored.ci,
        rank=rank,
        **extra,
    )


def score_parts(task: TaskResults) -> dict[str, Bounded]:
    """Return the named parts of a task's score, and the measures of scored texts that are shares."""
    return dict(task.parts or {})


def _best(scores: Sequence[CheckpointScore], stored: Iterable[TaskResults | None]) -> CheckpointBest | None:
    known = [(score.run, score.value) for score in scores if score.value is not None]
    if len(known) < 2:
        return None
    values = np.array([value for _, value in known])
    noise = rerun_noise(None if task is None else task.rerun_ci for task in stored)
    place = int(values.argmax())
    fair, luck = without_luck(values, noise, place)
    return CheckpointBest(run=known[place][0], value=known[place][1], shrunk=fair, luck=luck)


def rank_ranges(tasks: Mapping[str, SideTask]) -> tuple[dict[str, tuple[int, int]], int]:
    """Return the ranks that the scores of several runs do not exclude, and how many problems all have.

    All pairs of runs are compared together: the level of each is that of the studentised range (Tukey), with
    errors over clusters of problems. A metric that is not a mean has no ranks.
    """
    first, *others = (task.problem_ids for task in tasks.values())
    common = set(first).intersection(*others)
    shared = [name for name in first if name in common]
    if len(tasks) < 2 or len(shared) < 2:
        return {}, len(shared)
    taken = {run: task.take(shared) for run, task in tasks.items()}
    if not all(parse_metric(task.metric).is_mean for task in taken.values()):
        return {}, len(shared)
    groups = next((task.groups for task in taken.values() if task.groups), None)
    means = np.array([_means(task) for task in taken.values()])
    better = _surely_better(means, _clusters(groups, len(shared)))
    count = len(taken)
    ranks = {
        run: (1 + int(better[:, row].sum()), count - int(better[row].sum())) for row, run in enumerate(taken)
    }
    return ranks, len(shared)


def _means(task: SideTask) -> list[float]:
    """Return the mean score of each problem, NaN without a scored sample."""
    rows = ([score for score in row if score is not None] for row in task.scores)
    return [sum(row) / len(row) if row else math.nan for row in rows]


def _clusters(groups: Sequence[str | None] | None, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of each problem's cluster."""
    names = [
        f"p{row}" if groups is None or groups[row] is None else f"g{groups[row]}" for row in range(count)
    ]
    return np.unique(names, return_inverse=True)[1].astype(np.int64)


def _surely_better(
    means: Floats, clusters: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Return for each pair of rows whether the first one is better beyond chance."""
    count = len(means)
    found = np.zeros((count, count), dtype=np.bool_)
    for first in range(count):
        for second in range(count):
            difference = means[first] - means[second]
            known = ~np.isnan(difference)
            sizes = len(np.unique(clusters[known]))
            if first == second or sizes < 2:
                continue
            middle = float(difference[known].mean())
            sums = np.bincount(clusters[known], difference[known] - middle)
            error = math.sqrt(float((sums**2).sum()) * sizes / (sizes - 1)) / int(known.sum())
            level = range_level(count)
            found[first, second] = middle > student.ppf((1 + level) / 2, sizes - 1) * max(
                error, _LEAST / sizes
            )
    return found


_LEAST = 0.5
"""The least standard error in scores of clusters: where every problem moved alike, the error is not zero."""
