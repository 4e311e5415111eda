"""The record of a track, composed from its history in the ledger: tasks, anchor, checkpoints, changes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from genbench.analysis.records import Interval
from genbench.analysis.results.run_state import edit_words
from genbench.analysis.stopping import StoppingChange, stopping_changes, stopping_words
from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.history import (
    Epoch,
    Night,
    TaskSeries,
    TrackHistory,
    read_epoch_starts,
    recent,
    track_history,
)
from genbench.nights.ledger.measures import measure_pairs, share_pairs
from genbench.nights.ledger.notes import Change
from genbench.nights.ledger.vectors import problem_means
from genbench.nights.trend.causes import change_cause
from genbench.nights.trend.detect import AlignedTask, aligned_tasks, detect_changes
from genbench.nights.trend.record import (
    AlarmBudget,
    AnchorRecord,
    BestCheckpoint,
    MeanToBase,
    Numbers,
    Trend,
    TrendChange,
    TrendColumns,
    TrendEpoch,
    TrendNote,
    TrendRun,
    TrendTask,
)
from genbench.nights.trend.rules import alarm_budget, is_tested
from genbench.nights.trend.sentence import night_words, parse_since, sentence, since_position
from genbench.stats.intervals import LEVEL, normal_quantile
from genbench.stats.scores import Floats
from genbench.stats.tracks.changepoints import MIN_HISTORY, MIN_PROBLEMS, SplitTests, TaskNights, pooled_tests
from genbench.stats.tracks.winners_curse import best_of, range_level, rerun_errors, shrunk
from genbench.store.manifest import position_label
from genbench.suite.block import is_headline

RERUN_MOVE = 3.0
"""Standard errors of a re-run beyond which a single step is remarked."""


_FIELDS = {
    name: name
    for name in (
        *("value", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference", "difference_low"),
        *("difference_high", "difference_rerun_low", "difference_rerun_high", "tokens"),
        *("loops", "empty"),
    )
} | {"truncated_share": "truncated"}
"""Columns of a record that are numbers, and where a series has them."""


def task_records(history: TrackHistory, changes: Sequence[TrendChange], points: int) -> tuple[TrendTask, ...]:
    """Return the tasks of a track, those with an open change first, then the gating ones.

    Args:
        points: newest points of each task.
    """
    moved = {change.task for change in changes if change.state == "open"}
    labels = _Labels({night.uid: night.label for night in history.points})
    found = []
    for series in history.series.values():
        since_last, rerun_z = _last_step(series)
        record = TrendTask.from_object(
            series,
            tested=is_tested(series),
            searched=_is_searched(history, series, points),
            night_noise=_night_noise(history, series.task),
            since_last=since_last,
            rerun_z=rerun_z,
            moved_here_only=series.task not in moved and rerun_z is not None and abs(rerun_z) > RERUN_MOVE,
            points=_columns(series, labels, points),
            **_parts(series, points),
        )
        found.append(record)
    return tuple(sorted(found, key=lambda task: (task.task not in moved, not task.gating)))


def _parts(series: TaskSeries, points: int) -> dict[str, dict[str, Numbers]]:
    """Return the named parts of a task's score at the shown points, as a field of the record."""
    shown: list[dict[str, float]] = [json.loads(text or "{}") for text in series.parts[-points:]]
    names = dict.fromkeys(name for own in shown for name in own)
    found = {name: tuple(own.get(name) for own in shown) for name in names}
    return {"parts": found}


def _is_searched(history: TrackHistory, series: TaskSeries, points: int) -> bool:
    """Return whether a change of a task could have been found: it takes part, with enough runs before one.

    Runs under other terms count if the base joins them. If fewer runs are shown, it is not known how many of
    the others have the task.
    """
    known = ~np.isnan(series.value)
    if history.base is None:
        known &= np.array([key == series.keys[-1] for key in series.keys])
    count = len(history.points) if len(known) == points <= MIN_HISTORY else int(known.sum())
    return is_tested(series) and count > MIN_HISTORY


def _night_noise(history: TrackHistory, task: str) -> float | None:
    """Return the standard deviation of a night's score beyond its samples, None if it is not known.

    A few nights say nothing about it.
    """
    variance = history.night_noise.get(task)
    known = len(history.points) > MIN_HISTORY
    return None if variance is None or not known else math.sqrt(variance)


def _last_step(series: TaskSeries) -> tuple[float | None, float | None]:
    """Return the step between the two newest scores under one key: its size, and in errors of a re-run."""
    values = series.value.tolist()
    newest = (row for row in range(len(values) - 1, -1, -1) if not math.isnan(values[row]))
    rows = list(islice(newest, 2))[::-1]
    if len(rows) < 2 or series.keys[rows[1]] != series.keys[rows[0]]:
        return None, None
    size = values[rows[1]] - values[rows[0]]
    errors = rerun_errors(series.rerun_low[rows], series.rerun_high[rows])
    error = float(np.sqrt((errors**2).sum()))
    return size, None if math.isnan(error) or error == 0 else size / error


def mean_to_base(tasks: Sequence[TrendTask], newest: str) -> MeanToBase | None:
    """Return the mean difference of the newest run to the base over the tasks that decide, None without any.

    Args:
        newest: uid of the newest run.
    """
    compared = [
        (task.task, *known)
        for task in tasks
        if task.gating or (not any(other.gating for other in tasks) and is_headline(task.task))
        if (known := _newest_difference(task, newest)) is not None
    ]
    if not compared:
        return None
    names, differences, lows, highs = zip(*compared, strict=True)
    mean = math.fsum(differences) / len(compared)
    # Tasks are drawn independently of each other, so the squares of their half widths add up.
    below, above = (
        math.hypot(*(end - middle for end, middle in zip(ends, differences, strict=True))) / len(compared)
        for ends in (lows, highs)
    )
    return MeanToBase(tasks=names, difference=mean, ci=(max(-1.0, mean - below), min(1.0, mean + above)))


def _newest_difference(task: TrendTask, newest: str) -> tuple[float, float, float] | None:
    """Return the difference of the newest run to the base with its interval, None if it is not known."""
    points = task.points
    if not points.uid or points.uid[-1] != newest:
        return None
    found = points.difference[-1], points.difference_low[-1], points.difference_high[-1]
    return None if None in found else found  # type: ignore[return-value]


def off_base(tasks: Sequence[TrendTask], newest: str) -> dict[str, tuple[float, Interval]]:
    """Return the tasks that the newest run is shown to differ from the base in, with intervals for all tasks.

    Together they err in one of twenty nights of a model that equals the base (Bonferroni).
    """
    known = {task.task: found for task in tasks if (found := _newest_difference(task, newest)) is not None}
    wider = normal_quantile(1 - ERROR / max(1, len(known))) / normal_quantile(LEVEL)
    bounds = {
        name: (
            middle,
            (max(-1.0, middle - wider * (middle - low)), min(1.0, middle + wider * (high - middle))),
        )
        for name, (middle, low, high) in known.items()
    }
    return {name: (middle, ci) for name, (middle, ci) in bounds.items() if ci[0] > 0 or ci[1] < 0}


class _Labels:
    """The labels of runs. Most tasks have the same runs, whose labels are looked up once."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = labels
        self._of: dict[tuple[str, ...], tuple[str, ...]] = {}

    def of(self, uids: tuple[str, ...]) -> tuple[str, ...]:
        """Return the label of each run. It is empty for a run that is not finished."""
        if uids not in self._of:
            self._of[uids] = tuple(self._labels.get(uid, "") for uid in uids)
        return self._of[uids]


def _columns(series: TaskSeries, labels: _Labels, points: int) -> TrendColumns:
    shown = slice(max(0, len(series.uids) - points), None)
    epochs = {key: number for number, key in enumerate(dict.fromkeys(series.keys))}
    uids = series.uids[shown]

    # One array of all columns: 300 tasks with 12 columns each are many small arrays.
    stacked = np.array([getattr(series, _FIELDS[name])[shown] for name in _FIELDS])
    found = stacked.tolist()
    if math.isnan(stacked.sum()):
        found = [[None if math.isnan(value) else value for value in column] for column in found]
    numbers: dict[str, Numbers] = dict(zip(_FIELDS, map(tuple, found), strict=True))
    return TrendColumns(
        uid=uids,
        label=labels.of(uids),
        position=tuple(series.positions[shown].tolist()),
        epoch=tuple(map(epochs.__getitem__, series.keys[shown])),
        **numbers,
    )


AnchorState = Literal["held", "moved", "not drawn"]


@dataclass(frozen=True, slots=True)
class AnchorDraw:
    """One draw of the anchor against the base.

    `difference` is pooled over the gating tasks, as a fraction of 1. `z` is the largest evidence, with its
    sign, over the gating tasks and the pooled line.
    """

    night: Night
    difference: float
    z: float


def anchor_draws(history: TrackHistory) -> list[AnchorDraw]:
    """Return the draws of the anchor that share terms with the base, old to new."""
    found = []
    for night in history.anchors:
        tests = [
            test
            for series in history.series.values()
            if series.gating
            for epoch in series.epochs
            if (test := _against_base(epoch, night.uid)) is not None
        ]
        if tests:
            joined = pooled_tests(tests)
            z = [float(test.z[0]) for test in (*tests, joined)]
            known = [value for value in z if not np.isnan(value)] or [0.0]
            difference = float(np.nan_to_num(joined.differences[0]))
            found.append(AnchorDraw(night, difference, max(known, key=abs)))
    return found


def anchor_state(draws: list[AnchorDraw], threshold: float | None) -> AnchorState:
    """Return what the newest draw shows at the threshold of the gating series."""
    if not draws or threshold is None:
        return "not drawn"
    return "moved" if abs(draws[-1].z) >= threshold else "held"


def house_moved_with(draws: list[AnchorDraw], threshold: float, size: float, first: int, last: int) -> bool:
    """Return whether the anchor moved in the direction of a change between positions `first` and `last`.

    The newest draw up to the night at which the change was found decides, if it is not older than the change.
    """
    near = [draw for draw in draws if first <= draw.night.position <= last]
    return bool(near) and abs(near[-1].z) >= threshold and near[-1].z * size > 0


def anchor_due(history: TrackHistory, draws: list[AnchorDraw], every_nights: int = 7) -> str | None:
    """Return why the anchor should be drawn again, or None if it need not be.

    It is due if circumstances or packages changed since it or the base was last drawn. Once it is drawn, it
    is also due after `every_nights` nights.
    """
    if not history.points or history.base is None or history.track.kind != "night":
        return None
    newest = history.points[-1]
    last = draws[-1].night if draws else history.base
    if newest.circumstances_digest != last.circumstances_digest or newest.packages != last.packages:
        return f"{_moved(last.packages, newest.packages)} since {last.label}"
    if draws and newest.position - last.position > every_nights:
        return f"it was last drawn on {last.label}"
    return None


def _moved(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return in words which packages changed, or that the circumstances did."""
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    if not names:
        return "the circumstances changed"
    shown = [f"{name} {before.get(name, 'none')} to {after.get(name, 'none')}" for name in names[:2]]
    more = f" and {len(names) - 2} more packages" if len(names) > 2 else ""
    return f"{', '.join(shown)}{more} changed"


def _against_base(epoch: Epoch, uid: str) -> SplitTests | None:
    """Return the paired test of one anchor minus the base, or None if this epoch has not both."""
    base = epoch.base_means
    if uid not in epoch.anchor_uids or base is None:
        return None
    if uid == epoch.base_uid or len(epoch.problem_ids) < MIN_PROBLEMS:
        return None
    row = epoch.anchor_uids.index(uid)
    anchor = problem_means(epoch.anchor_sums[row], epoch.anchor_counts[row])
    return _paired_test(np.stack([base, anchor]), epoch.groups)


def _paired_test(means: Floats, groups: Sequence[str | None] | None) -> SplitTests:
    """Return the test of the second of two rows (2, problems) minus the first."""
    return TaskNights(means, groups).tests(*(np.array([place]) for place in (0, 1, 2)))


ERROR = 0.05
"""Of equal checkpoints, at most so many tracks call one worse than the best."""


FEWEST = 20
"""The best is taken for that of at least so many checkpoints: a track is looked at after each of them."""


def best_checkpoints(
    history: TrackHistory, tasks: Sequence[AlignedTask], runs: Sequence[TrendRun]
) -> tuple[BestCheckpoint, ...]:
    """Return the best checkpoint on each task with at least two scored checkpoints.

    Args:
        runs: the points of the history, as records.
    """
    scored = {task.name: np.flatnonzero(~np.isnan(task.values).all(axis=1)) for task in tasks}
    several = [task for task in tasks if len(scored[task.name]) >= 2]
    return tuple(
        _best(history.series[task.name], task, scored[task.name], runs, ERROR / len(several))
        for task in several
    )


def _best(
    series: TaskSeries,
    task: AlignedTask,
    rows: np.ndarray[tuple[int], np.dtype[np.intp]],
    runs: Sequence[TrendRun],
    error: float,
) -> BestCheckpoint:
    places = {uid: at for at, uid in enumerate(series.uids)}
    own = [places[runs[int(row)].uid] for row in rows]
    values = series.value[own]
    noise = rerun_errors(series.rerun_low[own], series.rerun_high[own])
    best, newest = int(np.nanargmax(values)), len(rows) - 1
    to_previous, previous_ci = _difference(task, int(rows[newest - 1]), int(rows[newest]), LEVEL)
    to_best, best_ci = (None, None)
    level = range_level(max(FEWEST, len(rows)), error)
    if best != newest:
        to_best, best_ci = _difference(task, int(rows[best]), int(rows[newest]), level)
    return BestCheckpoint(
        task=task.name,
        checkpoints=len(rows),
        best=runs[int(rows[best])],
        value=float(values[best]),
        shrunk=float(shrunk(values, noise)[best]),
        luck=best_of(len(rows)) * float(np.sqrt(np.nanmean(noise**2))) if not np.isnan(noise).all() else 0.0,
        difference_to_previous=to_previous,
        previous_ci=previous_ci,
        difference_to_best=to_best,
        best_ci=best_ci,
        not_worse=_not_worse(task, int(rows[best]), [int(row) for row in rows if row != rows[best]], level),
    )


def compared(task: AlignedTask, before: int, after: int) -> SplitTests:
    """Return the paired test of one point of a task minus another."""
    return _paired_test(task.values[[before, after]], task.groups)


def _difference(
    task: AlignedTask, before: int, after: int, level: float
) -> tuple[float | None, Interval | None]:
    """Return the difference of two points of a task with its interval, None if it cannot be tested."""
    test = compared(task, before, after)
    return (None, None) if np.isnan(test.z[0]) else (float(test.differences[0]), test.interval(0, level))


def _not_worse(task: AlignedTask, best: int, others: Sequence[int], level: float) -> int:
    """Return the number of checkpoints whose interval to the best one does not exclude 0."""
    bounds = [_difference(task, best, other, level)[1] for other in others]
    return sum(ci is None or ci[1] >= 0 for ci in bounds)


SHOWN = 60
"""Points of each task that are shown by default."""


def trend(ledger: Ledger, track: str, *, since: str | None = None, points: int = SHOWN) -> Trend:
    """Look for changes on a track that were not looked for before, and return its record.

    Args:
        since: the first night (YYYY-MM-DD) or step that the sentence speaks of. None: see `since_position`.
        points: newest points of each task in the record.

    Raises:
        InputError: there is no such track, or `since` is not a night or step.
    """
    whole = _with_series(ledger, detect_changes(ledger, track), points)
    found = with_causes(compose(whole, since=since, points=points), whole)
    edited = tuple(_edited(whole, points))
    return found.model_copy(update={"edited": edited}) if edited else found


def with_causes(record: Trend, history: TrackHistory) -> Trend:
    """Return a record whose open changes say why, as far as the folders of their runs are there."""
    changes = tuple(
        change.model_copy(update={"cause": change_cause(history, change.task, change.first.uid, change.size)})
        if change.state == "open"
        else change
        for change in record.changes
    )
    return record.model_copy(update={"changes": changes})


def _edited(history: TrackHistory, points: int) -> Iterator[str]:
    """Yield what was edited in the folders of the runs that are shown. The newest one is read as a whole."""
    shown = (*([history.base] if history.base else []), *history.anchors, *history.points[-points:])
    newest = {night.path for night in history.points[-1:]}
    for path, label in {night.path: night.label for night in shown if night.path is not None}.items():
        yield from (f"{label}: {line}" for line in edit_words(Path(path), lines=path in newest))


def track(
    name: str, ledger: str | Path | None = None, *, since: str | None = None, points: int = SHOWN
) -> Trend:
    """Return what a track of a ledger shows, as `genbench trend` does.

    Args:
        ledger: a file, or the address of a PostgreSQL database. None: GENBENCH_LEDGER, or this folder's.
        since: the first night or step that the sentence speaks of. None: the last Friday, or the checkpoint
            before the newest.
        points: the newest so many runs of each task.

    Raises:
        InputError: there is no such ledger or track, or `since` is not a night.
    """
    with open_ledger(ledger, create=False) as opened:
        return trend(opened, name, since=since, points=points)


def read_track(ledger: Ledger, track: str, points: int) -> TrackHistory:
    """Return all runs of a track, and the newest `points` points of its series.

    Sums of problems are read for every task of checkpoints. For nights they are read only for the gating
    tasks, and only if there is an anchor.

    Raises:
        InputError: there is no such track.
    """
    return _with_series(ledger, track_history(ledger, track, tasks=()), points)


def _with_series(ledger: Ledger, whole: TrackHistory, points: int) -> TrackHistory:
    """Return a history of all runs with its newest points, see `read_track`."""
    track = whole.track.name
    series = dict(recent(ledger, track, nights=points).series)
    if whole.anchors or whole.track.kind == "step":
        compared = [name for name, task in series.items() if task.gating or whole.track.kind == "step"]
        series |= track_history(ledger, track, tasks=compared, last=points).series
    newest = whole.points[-1].uid if whole.points else None
    measures = {} if newest is None else measure_pairs(ledger, track, newest)
    return replace(whole, series=series, epoch_starts=read_epoch_starts(ledger, series), measures=measures)


def compose(history: TrackHistory, *, since: str | None = None, points: int = SHOWN) -> Trend:
    """Return the record of a history whose changes have been looked for."""
    kind = history.track.kind
    start = _start(history, None if since is None else parse_since(kind, since))
    runs = _runs(history)
    budget = alarm_budget(history)
    draws = anchor_draws(history)
    changes = _changes(history, runs, draws, budget)
    best: tuple[BestCheckpoint, ...] = ()
    if kind == "step":
        own = list(aligned_tasks(history).values())
        best = best_checkpoints(history, own, [runs[point.uid] for point in history.points])
    tasks = task_records(history, changes, points)
    record = Trend(
        format=1,
        track=history.track.name,
        kind=kind,
        suite=history.track.suite,
        sentence=_nothing(history),
        since=position_label(kind, start) if kind == "night" else str(start),
        runs=len(history.points),
        newest=runs[history.points[-1].uid] if history.points else None,
        base=None if history.base is None else runs[history.base.uid],
        base_reason=history.track.base_reason,
        budget=budget,
        anchor=_anchor(history, runs, draws, budget),
        changes=changes,
        tasks=tasks,
        mean=mean_to_base(tasks, history.points[-1].uid) if history.points else None,
        stopping=_endings(history),
        best=best,
        epochs=_epochs(history),
        missing=history.missing,
        unused=tuple(_unused(night) for night in history.others),
        notes=tuple(
            TrendNote.from_object(note, label=position_label(kind, note.position))
            for note in history.annotations
        ),
    )
    if not history.points:
        return record
    return record.model_copy(update={"sentence": _sentence(history, record, start)})


def _endings(history: TrackHistory) -> dict[str, StoppingChange]:
    """Return how the replies of the newest point end next to those of the base, by task.

    An unchanged model is told to end otherwise as often as a night's gate may err: the yearly budget of
    alarms over the runs of a year.
    """
    level = min(0.05, history.track.alarms_per_year / history.track.nights_per_year)
    return stopping_changes(share_pairs(history.measures), level)


def _nothing(history: TrackHistory) -> str:
    """Return the sentence about a track without a run of the model that is watched."""
    if not history.anchors:
        return "The track has no finished run yet."
    return (
        "The track has runs of its base's model only, which is what the watched model is compared with; "
        "draw the watched model (see `track: {anchor: …}` of the suite)."
    )


def _sentence(history: TrackHistory, record: Trend, start: int) -> str:
    """Return the sentence of a record that has everything else."""
    recent_changes = [
        change
        for change in record.changes
        if change.state == "open" or (change.closed is not None and change.closed.position >= start)
    ]
    return sentence(
        kind=record.kind,
        since=_since_words(history, start),
        fresh=sum(point.position >= start for point in history.points),
        changes=recent_changes,
        tasks=record.tasks,
        mean=record.mean,
        off_base=off_base(record.tasks, history.points[-1].uid),
        anchor=record.anchor,
        endings=[
            f"{name}: {line}"
            for name, own in record.stopping.items()
            if own.is_worse
            for line in stopping_words(own, history.points[-1].model)
        ],
        missing=sum(label >= record.since for label in record.missing),
        best=record.best,
    )


def _runs(history: TrackHistory) -> dict[str, TrendRun]:
    """Return the runs that a record can name, by uid: of thousands of nights it names few."""
    base = () if history.base is None else (history.base,)
    named = {uid for change in history.changes for uid in _named(change)}
    points = history.points if history.track.kind == "step" else history.points[-1:]
    own = (night for night in (*history.points, *history.others) if night.uid in named)
    return {night.uid: TrendRun.from_object(night) for night in (*own, *points, *history.anchors, *base)}


def _named(change: Change) -> tuple[str | None, ...]:
    """Return the uids that a change names."""
    return (change.first_uid, change.last_before_uid, change.found_uid, change.closed_uid, *change.suspects)


def _start(history: TrackHistory, asked: int | None) -> int:
    if not history.points:
        return 0
    previous = history.points[-2].position if len(history.points) > 1 else None
    start = since_position(history.track.kind, history.points[-1].position, asked, previous)
    return max(start, history.points[0].position) if asked is None else start


def _since_words(history: TrackHistory, start: int) -> str:
    if history.track.kind != "night" or not history.points:
        return f"step {start:,}"
    return night_words(start)


def _unused(night: Night) -> str:
    why = "; ".join(night.failed) if night.failed else night.state
    return f"{night.label} {night.model}: {why}"


def _epochs(history: TrackHistory) -> tuple[TrendEpoch, ...]:
    """Return the starts of epochs, new to old. Tasks in which the same changed at one run are one entry."""
    places = {night.uid: night for night in history.points}
    tasks: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for start in history.epoch_starts:
        if start.uid in places:
            tasks.setdefault((start.uid, start.changed, start.edits), []).append(start.task)
    ordered = sorted(tasks.items(), key=lambda item: -places[item[0][0]].position)
    return tuple(
        TrendEpoch(
            uid=uid,
            label=places[uid].label,
            changed=changed,
            tasks=tuple(own),
            **({"edits": edits} if edits else {}),
        )
        for (uid, changed, edits), own in ordered
    )


def _anchor(
    history: TrackHistory, runs: Mapping[str, TrendRun], draws: list[AnchorDraw], budget: AlarmBudget
) -> AnchorRecord:
    newest = draws[-1] if draws else None
    return AnchorRecord(
        state=anchor_state(draws, budget.threshold),
        run=None if newest is None else runs[newest.night.uid],
        difference=None if newest is None else newest.difference,
        z=None if newest is None else newest.z,
        due=anchor_due(history, draws),
    )


def _changes(
    history: TrackHistory, runs: Mapping[str, TrendRun], draws: list[AnchorDraw], budget: AlarmBudget
) -> tuple[TrendChange, ...]:
    known = [change for change in history.changes if {change.first_uid, change.found_uid} <= runs.keys()]
    ordered = sorted(known, key=lambda change: (change.state != "open", -change.found_position))
    return tuple(_change(change, runs, draws, budget) for change in ordered)


def _change(
    change: Change, runs: Mapping[str, TrendRun], draws: list[AnchorDraw], budget: AlarmBudget
) -> TrendChange:
    first, found = runs[change.first_uid], runs[change.found_uid]
    moved = budget.threshold is not None and house_moved_with(
        draws, budget.threshold, change.size, first.position, found.position
    )
    return TrendChange.from_object(
        change,
        first=first,
        last_before=runs.get(change.last_before_uid, first),
        found=found,
        closed=None if change.closed_uid is None else runs.get(change.closed_uid),
        suspects=tuple(runs[uid] for uid in change.suspects if uid in runs),
        house=moved,
        by=change.by or None,
        note=change.note or None,
    )
