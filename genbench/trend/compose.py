"""The record of a track, composed from its history in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from genbench.ledger.database import Ledger
from genbench.ledger.history import recent, track_history
from genbench.ledger.records import Change, Night, TrackHistory
from genbench.store.track_record import position_label
from genbench.trend.anchor import AnchorDraw, anchor_draws, anchor_due, anchor_state, house_moved_with
from genbench.trend.best import best_checkpoints
from genbench.trend.budget import Thresholds, thresholds
from genbench.trend.detect import detect_changes
from genbench.trend.record import (
    AlarmBudget,
    AnchorRecord,
    BestCheckpoint,
    Trend,
    TrendChange,
    TrendNote,
    TrendRun,
)
from genbench.trend.sentence import night_words, parse_since, sentence, since_position
from genbench.trend.series import aligned_tasks
from genbench.trend.tasks import task_records

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
    whole = detect_changes(ledger, track)
    return compose(_with_series(ledger, whole, points), since=since, points=points)


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
    return replace(whole, series=series)


def compose(history: TrackHistory, *, since: str | None = None, points: int = SHOWN) -> Trend:
    """Return the record of a history whose changes have been looked for."""
    kind = history.track.kind
    start = _start(history, None if since is None else parse_since(kind, since))
    runs = _runs(history)
    limits = thresholds(history)
    draws = anchor_draws(history)
    changes = _changes(history, runs, draws, limits)
    best: tuple[BestCheckpoint, ...] = ()
    if kind == "step":
        own = list(aligned_tasks(history).values())
        best = best_checkpoints(history, own, [runs[point.uid] for point in history.points])
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
        budget=_budget(history, limits),
        anchor=_anchor(history, runs, draws, limits),
        changes=changes,
        tasks=task_records(history, changes, points),
        best=best,
        missing=history.missing,
        unused=tuple(_unused(night) for night in history.others),
        notes=_notes(history),
    )
    if not history.points:
        return record
    return record.model_copy(update={"sentence": _sentence(history, record, start)})


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
        anchor=record.anchor,
        missing=sum(label >= record.since for label in record.missing),
        best=record.best,
    )


def _runs(history: TrackHistory) -> dict[str, TrendRun]:
    """Return the runs that a record can name, by uid: of thousands of nights it names few."""
    base = () if history.base is None else (history.base,)
    named = {uid for change in history.changes for uid in _named(change)}
    points = history.points if history.track.kind == "step" else history.points[-1:]
    own = (night for night in (*history.points, *history.others) if night.uid in named)
    return {night.uid: _run(night) for night in (*own, *points, *history.anchors, *base)}


def _named(change: Change) -> tuple[str | None, ...]:
    """Return the uids that a change names."""
    return (change.first_uid, change.last_before_uid, change.found_uid, change.closed_uid, *change.suspects)


def _budget(history: TrackHistory, limits: Thresholds) -> AlarmBudget:
    return AlarmBudget(
        alarms_per_year=history.track.alarms_per_year,
        nights_per_year=history.track.nights_per_year,
        series=limits.gating_series,
        threshold=limits.gating,
        watched=limits.other_series,
        watch_threshold=limits.others,
    )


def _notes(history: TrackHistory) -> tuple[TrendNote, ...]:
    return tuple(
        TrendNote(
            label=position_label(history.track.kind, note.position),
            position=note.position,
            kind=note.kind,
            text=note.text,
            by=note.by,
        )
        for note in history.annotations
    )


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
