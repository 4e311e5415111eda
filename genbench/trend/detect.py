"""Search for changes along a track, and the ledger's record of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from genbench.ledger.changes import change_id, open_change, settle_change
from genbench.ledger.database import Ledger
from genbench.ledger.history import track_history
from genbench.ledger.records import Change, Track, TrackHistory
from genbench.stats.changepoints import HISTORY, WINDOWS, alarm_threshold
from genbench.stats.changewatch import Direction, Found, walk_changes
from genbench.trend.looked import first_new, mark_looked
from genbench.trend.series import AlignedTask, aligned_tasks

SEARCHED = 2 * (HISTORY + max(WINDOWS))
"""Points before the first new one that are read: enough for every window, with nights that were cut out."""
DIRECTIONS: tuple[Direction, ...] = ("drop", "rise")


@dataclass(frozen=True, slots=True)
class WatchedSeries:
    """One series that is searched for changes: a task, or all gating tasks together (`task` is None)."""

    task: str | None
    gating: bool
    parts: tuple[AlignedTask, ...]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The z values that open a change in gating series and in the others, None if there are none."""

    gating: float | None
    others: float | None

    def of(self, series: WatchedSeries) -> float:
        """Return the threshold of one series."""
        found = self.gating if series.gating else self.others
        assert found is not None
        return found


def detect_changes(ledger: Ledger, track: str) -> TrackHistory:
    """Look at every point of a track that was not looked at before, and return its history.

    Each point is looked at as if it were the newest, so the order of adding and looking does not matter.
    Changes that open or recover are written to the ledger.

    Raises:
        InputError: there is no such track.
    """
    plain = track_history(ledger, track, tasks=())
    new = first_new(ledger, plain)
    needed = len(plain.points) - min(new, _oldest_open(plain)) + SEARCHED
    history = track_history(ledger, track, last=needed)
    if new >= len(plain.points):
        return history
    start = max(0, new - (len(plain.points) - len(history.points)))
    series = watched_series(history)
    limits = thresholds(history.track, series)
    for item in series:
        for direction in DIRECTIONS:
            _search(ledger, history, item, threshold=limits.of(item), direction=direction, start=start)
    mark_looked(ledger, plain)
    return track_history(ledger, track, last=needed)


def _oldest_open(history: TrackHistory) -> int:
    """Return the index of the first point of the oldest change that is open, or the number of points."""
    rows = {point.uid: row for row, point in enumerate(history.points)}
    opened = [rows.get(change.last_before_uid, 0) for change in history.changes if change.state == "open"]
    return min(opened, default=len(history.points))


def watched_series(history: TrackHistory) -> list[WatchedSeries]:
    """Return every series that is searched: tasks with enough problems, and the gating ones pooled."""
    tasks = [task for task in aligned_tasks(history).values() if task.is_tested]
    gating = tuple(task for task in tasks if task.gating)
    pooled = [WatchedSeries(None, True, gating)] if len(gating) > 1 else []
    return pooled + [WatchedSeries(task.name, task.gating, (task,)) for task in tasks]


def thresholds(track: Track, series: Sequence[WatchedSeries]) -> Thresholds:
    """Return the thresholds of a track. Gating series share one budget, and the others a second one."""

    def threshold(count: int) -> float | None:
        return alarm_threshold(count, track.alarms_per_year, track.nights_per_year) if count else None

    gating = sum(item.gating for item in series)
    return Thresholds(threshold(gating), threshold(len(series) - gating))


def _search(
    ledger: Ledger,
    history: TrackHistory,
    series: WatchedSeries,
    *,
    threshold: float,
    direction: Direction,
    start: int,
) -> None:
    """Walk one series in one direction, and write what opened or recovered."""
    track = history.track.name
    known = _known(history, series.task, direction)
    found = walk_changes(
        [part.values for part in series.parts],
        threshold=threshold,
        direction=direction,
        groups=[part.groups for part in series.parts],
        known=list(known.values()),
        start=start,
    )
    for change in found:
        name = change_id(track, series.task, direction, history.points[change.found].uid)
        before = known.get(name)
        if before is None:
            open_change(ledger, _change(history, series, change, name))
        if change.state == "recovered" and (before is None or before.state == "open"):
            assert change.closed is not None
            closed = history.points[change.closed]
            note = f"the level of {closed.label} no longer differs"
            settle_change(ledger, name, "recovered", by="genbench", note=note, closed_uid=closed.uid)


def _known(history: TrackHistory, task: str | None, direction: Direction) -> dict[str, Found]:
    """Return the stored changes of one series by id, with points as indices. Changes of lost runs go."""
    rows = {point.uid: row for row, point in enumerate(history.points)}
    return {
        change.id: Found(
            direction,
            first=rows[change.first_uid],
            last_before=rows[change.last_before_uid],
            found=rows[change.found_uid],
            z=change.z,
            threshold=change.threshold,
            size=change.size,
            interval=change.ci,
            suspects=tuple(rows[uid] for uid in change.suspects if uid in rows),
            state=change.state,
            closed=None if change.closed_uid is None else rows.get(change.closed_uid),
        )
        for change in history.changes
        if change.task == task
        and change.direction == direction
        and {change.first_uid, change.last_before_uid, change.found_uid} <= rows.keys()
    }


def _change(history: TrackHistory, series: WatchedSeries, found: Found, name: str) -> Change:
    """Return the ledger's record of a change that opened."""
    points = history.points
    return Change(
        id=name,
        track=history.track.name,
        task=series.task,
        direction=found.direction,
        first_uid=points[found.first].uid,
        last_before_uid=points[found.last_before].uid,
        found_uid=points[found.found].uid,
        found_position=points[found.found].position,
        z=found.z,
        threshold=found.threshold,
        size=found.size,
        ci=found.interval,
        suspects=tuple(points[night].uid for night in found.suspects),
        gating=series.gating,
        state="open",
        by="",
        note="",
        at="",
        closed_uid=None,
    )
