"""The record of a track, composed from its history in the ledger."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from genbench.errors import InputError
from genbench.ledger.database import Ledger
from genbench.ledger.history import recent, track_history
from genbench.ledger.records import Change, Night, TaskSeries, TrackHistory
from genbench.stats.scores import Floats
from genbench.trend.anchor import AnchorDraw, anchor_draws, anchor_due, anchor_state, house_moved_with
from genbench.trend.best import best_checkpoints, rerun_errors
from genbench.trend.budget import Thresholds, is_tested, thresholds
from genbench.trend.detect import detect_changes
from genbench.trend.record import (
    AlarmBudget,
    AnchorRecord,
    Numbers,
    Trend,
    TrendChange,
    TrendColumns,
    TrendNote,
    TrendRun,
    TrendTask,
)
from genbench.trend.sentence import EPOCH, night_words, sentence, since_position
from genbench.trend.series import aligned_tasks

SHOWN = 60
"""Points of each task that are shown by default."""
RERUN_MOVE = 3.0
"""Standard errors of a re-run beyond which a single step is remarked."""


def trend(ledger: Ledger, track: str, *, since: str | None = None, points: int = SHOWN) -> Trend:
    """Look for changes on a track that were not looked for before, and return its record.

    Args:
        since: the first night (YYYY-MM-DD) or step that the sentence speaks of. None: see `since_position`.
        points: newest points of each task in the record.

    Raises:
        InputError: there is no such track, or `since` is not a night or step.
    """
    detect_changes(ledger, track)
    return compose(read_track(ledger, track, points), since=since, points=points)


def read_track(ledger: Ledger, track: str, points: int) -> TrackHistory:
    """Return all runs of a track, and the newest `points` points of its series.

    Sums of problems are read only for the gating tasks, and only if there is an anchor or a checkpoint to
    compare.

    Raises:
        InputError: there is no such track.
    """
    whole = track_history(ledger, track, tasks=())
    series = dict(recent(ledger, track, nights=points).series)
    if whole.anchors or whole.track.kind == "step":
        gating = [name for name, task in series.items() if task.gating]
        series |= track_history(ledger, track, tasks=gating, last=points).series
    return replace(whole, series=series)


def compose(history: TrackHistory, *, since: str | None = None, points: int = SHOWN) -> Trend:
    """Return the record of a history whose changes have been looked for."""
    kind = history.track.kind
    asked = None if since is None else parse_since(kind, since)
    runs = {night.uid: _run(night) for night in (*history.points, *history.anchors, *history.others)}
    if history.base is not None:
        runs[history.base.uid] = _run(history.base)
    limits = thresholds(history)
    draws = anchor_draws(history)
    newest = history.points[-1] if history.points else None
    start = _start(history, asked)
    changes = _changes(history, runs, draws, limits)
    anchor = _anchor(history, runs, draws, limits)
    tasks = _tasks(history, changes, points)
    aligned = list(aligned_tasks(history).values())
    best = (
        () if kind == "night" else best_checkpoints(history, aligned, [runs[p.uid] for p in history.points])
    )
    words = _since_words(history, start)
    recent = [
        change
        for change in changes
        if change.state == "open" or (change.closed is not None and change.closed.position >= start)
    ]
    return Trend(
        format=1,
        track=history.track.name,
        kind=kind,
        suite=history.track.suite,
        sentence=sentence(
            kind=kind,
            since=words,
            fresh=sum(point.position >= start for point in history.points),
            changes=recent,
            tasks=tasks,
            anchor=anchor,
            missing=sum(label >= _label(start) for label in history.missing) if kind == "night" else 0,
            best=best,
        )
        if newest
        else "The track has no finished run yet.",
        since=_label(start) if kind == "night" else str(start),
        runs=len(history.points),
        newest=None if newest is None else runs[newest.uid],
        base=None if history.base is None else runs[history.base.uid],
        base_reason=history.track.base_reason,
        budget=AlarmBudget(
            alarms_per_year=history.track.alarms_per_year,
            nights_per_year=history.track.nights_per_year,
            series=limits.gating_series,
            threshold=limits.gating,
            watched=limits.other_series,
            watch_threshold=limits.others,
        ),
        anchor=anchor,
        changes=changes,
        tasks=tasks,
        best=best,
        missing=history.missing,
        unused=tuple(_unused(night) for night in history.others),
        notes=tuple(
            TrendNote(
                label=_label(note.position) if kind == "night" else str(note.position),
                position=note.position,
                kind=note.kind,
                text=note.text,
                by=note.by,
            )
            for note in history.annotations
        ),
    )


def parse_since(kind: str, text: str) -> int:
    """Return the position of a night (YYYY-MM-DD) or step that a user wrote.

    Raises:
        InputError: it is neither.
    """
    try:
        return (date.fromisoformat(text) - EPOCH).days if kind == "night" else int(text)
    except ValueError:
        wanted = "a night as YYYY-MM-DD" if kind == "night" else "a step as a number"
        raise InputError(f"--since {text}: wanted {wanted}") from None


def _start(history: TrackHistory, asked: int | None) -> int:
    if not history.points:
        return 0
    previous = history.points[-2].position if len(history.points) > 1 else None
    start = since_position(history.track.kind, history.points[-1].position, asked, previous)
    return max(start, history.points[0].position) if asked is None else start


def _since_words(history: TrackHistory, start: int) -> str:
    if history.track.kind != "night" or not history.points:
        return f"step {start:,}"
    return night_words(start, history.points[-1].position)


def _label(position: int) -> str:
    return date.fromordinal(EPOCH.toordinal() + position).isoformat()


def _run(night: Night) -> TrendRun:
    return TrendRun(
        uid=night.uid, label=night.label, position=night.position, model=night.model, path=night.path
    )


def _unused(night: Night) -> str:
    why = "; ".join(night.failed) if night.failed else night.state
    return f"{night.label} {night.model}: {why}"


def _anchor(
    history: TrackHistory, runs: Mapping[str, TrendRun], draws: list[AnchorDraw], limits: Thresholds
) -> AnchorRecord:
    newest = draws[-1] if draws else None
    return AnchorRecord(
        state=anchor_state(draws, limits.gating),
        run=None if newest is None else runs[newest.night.uid],
        difference=None if newest is None else newest.difference,
        z=None if newest is None else newest.z,
        due=anchor_due(history, draws),
    )


def _changes(
    history: TrackHistory, runs: Mapping[str, TrendRun], draws: list[AnchorDraw], limits: Thresholds
) -> tuple[TrendChange, ...]:
    known = [change for change in history.changes if {change.first_uid, change.found_uid} <= runs.keys()]
    ordered = sorted(known, key=lambda change: (change.state != "open", -change.found_position))
    return tuple(_change(change, runs, draws, limits) for change in ordered)


def _change(
    change: Change, runs: Mapping[str, TrendRun], draws: list[AnchorDraw], limits: Thresholds
) -> TrendChange:
    first, found = runs[change.first_uid], runs[change.found_uid]
    moved = limits.gating is not None and house_moved_with(
        draws, limits.gating, change.size, first.position, found.position
    )
    return TrendChange(
        id=change.id,
        task=change.task,
        direction=change.direction,
        gating=change.gating,
        state=change.state,
        first=first,
        last_before=runs.get(change.last_before_uid, first),
        found=found,
        closed=None if change.closed_uid is None else runs.get(change.closed_uid),
        suspects=tuple(runs[uid] for uid in change.suspects if uid in runs),
        size=change.size,
        ci=change.ci,
        z=change.z,
        threshold=change.threshold,
        house=moved,
        by=change.by or None,
        note=change.note or None,
    )


@dataclass(frozen=True, slots=True)
class _LastStep:
    """The step from the last but one score of a task to the newest."""

    size: float | None
    z: float | None


def _tasks(history: TrackHistory, changes: Sequence[TrendChange], points: int) -> tuple[TrendTask, ...]:
    moved = {change.task for change in changes if change.state == "open"}
    labels = {night.uid: night.label for night in history.points}
    found = []
    for series in history.series.values():
        step = _last_step(series)
        found.append(
            TrendTask(
                task=series.task,
                gating=series.gating,
                n=series.n,
                tested=is_tested(series),
                chance=series.chance,
                since_last=step.size,
                rerun_z=step.z,
                moved_here_only=series.task not in moved and step.z is not None and abs(step.z) > RERUN_MOVE,
                points=_columns(series, labels, points),
            )
        )
    return tuple(sorted(found, key=lambda task: (task.task not in moved, not task.gating)))


def _last_step(series: TaskSeries) -> _LastStep:
    """Return the step between the two newest scores under one key."""
    rows = [row for row, value in enumerate(series.value) if not math.isnan(value)]
    if len(rows) < 2 or series.keys[rows[-1]] != series.keys[rows[-2]]:
        return _LastStep(None, None)
    size = float(series.value[rows[-1]] - series.value[rows[-2]])
    errors = rerun_errors(series.rerun_low[rows[-2:]], series.rerun_high[rows[-2:]])
    error = float(np.sqrt((errors**2).sum()))
    return _LastStep(size, None if math.isnan(error) or error == 0 else size / error)


def _columns(series: TaskSeries, labels: Mapping[str, str], points: int) -> TrendColumns:
    shown = slice(max(0, len(series.uids) - points), None)
    epochs = {key: number for number, key in enumerate(dict.fromkeys(series.keys))}

    def numbers(values: Floats) -> Numbers:
        return tuple(None if math.isnan(value) else float(value) for value in values[shown])

    return TrendColumns(
        uid=tuple(series.uids[shown]),
        label=tuple(labels.get(uid, "") for uid in series.uids[shown]),
        position=tuple(int(position) for position in series.positions[shown]),
        epoch=tuple(epochs[key] for key in series.keys[shown]),
        value=numbers(series.value),
        ci_low=numbers(series.ci_low),
        ci_high=numbers(series.ci_high),
        rerun_low=numbers(series.rerun_low),
        rerun_high=numbers(series.rerun_high),
        difference=numbers(series.difference),
        difference_low=numbers(series.difference_low),
        difference_high=numbers(series.difference_high),
        difference_rerun_low=numbers(series.difference_rerun_low),
        difference_rerun_high=numbers(series.difference_rerun_high),
        truncated_share=numbers(series.truncated),
        tokens=numbers(series.tokens),
    )
