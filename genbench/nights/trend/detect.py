"""Search for changes along a track, and keep in the ledger what was found.

The thresholds come from the track's budget of false alarms. The ledger remembers which points were searched.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from genbench.nights.ledger.changes import BY_SEARCH, change_id, open_change, settle_change, withdraw_change
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import (
    Night,
    TaskSeries,
    TrackHistory,
    recent,
    store_night_noise,
    track_history,
    with_epochs,
)
from genbench.nights.ledger.ingest import GENBENCH
from genbench.nights.ledger.note_application import meta_value, set_meta
from genbench.nights.ledger.notes import Change
from genbench.nights.ledger.vectors import problem_means
from genbench.nights.trend.rules import alarm_budget, alarm_tasks, watched_series
from genbench.stats.scores import Floats
from genbench.stats.tracks.changepoints import HISTORY, MIN_PROBLEMS, NOISE_NIGHTS, WINDOWS
from genbench.stats.tracks.sequential_detection import (
    DetectedChange,
    Direction,
    NightTests,
    join_epochs,
    walk_changes,
)


@dataclass(frozen=True, slots=True)
class AlignedTask:
    """Problem means of one task, (points, problems), with a row for every point of the track.

    A row of NaN is a point without the task, or in an epoch that cannot be joined with the newest.
    """

    name: str
    gating: bool
    values: Floats
    groups: Sequence[str | None] | None

    @property
    def is_tested(self) -> bool:
        """Whether the task has enough problems to take part in alarms."""
        return bool(self.values.shape[1] >= MIN_PROBLEMS)


def aligned_tasks(history: TrackHistory) -> dict[str, AlignedTask]:
    """Return every task of a history that has problem means."""
    rows = {point.uid: row for row, point in enumerate(history.points)}
    return {
        name: _aligned(series, rows, len(history.points))
        for name, series in history.series.items()
        if series.epochs
    }


def _aligned(series: TaskSeries, rows: Mapping[str, int], points: int) -> AlignedTask:
    epochs = series.epochs
    means = [problem_means(epoch.sums, epoch.counts) for epoch in epochs]
    joined, first = join_epochs(means, [epoch.base_means for epoch in epochs])
    uids = [uid for epoch in epochs for uid in epoch.uids][first:]
    values = np.full((points, joined.shape[1]), np.nan)
    for row, uid in enumerate(uids):
        if uid in rows:
            values[rows[uid]] = joined[row]
    return AlignedTask(series.task, series.gating, values, epochs[-1].groups)


def first_unsearched(ledger: Ledger, history: TrackHistory) -> int:
    """Return the index of the first point of a track that was not looked at.

    If points before the last one that was looked at came, went or changed since, it is 0, and after a rebuild
    of the ledger as well. All points are then searched anew.
    """
    with ledger.read() as connection:
        text = meta_value(connection, _key(history))
    if text is None:
        return 0
    count, digest = json.loads(text)
    same = count <= len(history.points) and _digest(history.points[:count]) == digest
    return int(count) if same else 0


def mark_searched(ledger: Ledger, history: TrackHistory, night_noise: Mapping[str, float]) -> None:
    """Remember that changes were looked for at every point of a history, and the noise of its nights."""
    with ledger.write() as connection:
        text = json.dumps([len(history.points), _digest(history.points)])
        set_meta(connection, _key(history), text)
        store_night_noise(connection, history.track.name, night_noise)


def _key(history: TrackHistory) -> str:
    return f"looked {history.track.name}"


def _digest(points: Sequence[Night]) -> str:
    names = [f"{point.uid} {point.position} {point.terms_digest}" for point in points]
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]


SEARCHED = NOISE_NIGHTS + HISTORY + max(WINDOWS)
"""Points before the first new one that are read: enough for every window, with nights that were cut out."""
BATCH = 8
"""Series of tasks that do not gate are read and searched so many at a time."""


@dataclass(frozen=True, slots=True)
class WatchedSeries:
    """One series that is searched for changes, see `trend.rules`. Several parts are pooled."""

    task: str | None
    gating: bool
    parts: tuple[AlignedTask, ...]


def detect_changes(ledger: Ledger, track: str) -> TrackHistory:
    """Look at every point of a track that was not looked at before. Return its history without series.

    Each point is looked at as if it were the newest, so the order of adding and looking does not matter.
    Changes that open or recover are written to the ledger. A task that the newest `SEARCHED` points lack has
    ended: it is not searched and has no share of the budget.

    If earlier points came, went or changed, the whole track is searched again, by its present budget. Changes
    that are no longer found are withdrawn. What a person explained or dismissed stays.

    Raises:
        InputError: there is no such track.
    """
    plain = track_history(ledger, track, tasks=())
    new = first_unsearched(ledger, plain)
    if new >= len(plain.points):
        return plain
    needed = len(plain.points) - min(new, _oldest_open(plain)) + SEARCHED
    outline = recent(ledger, track, SEARCHED)
    budget = alarm_budget(outline)
    noise: dict[str, float] = {}
    for gating, batch in _batches(outline):
        names = sorted({task for tasks in batch.values() for task in tasks})
        chosen = {name: outline.series[name] for name in names}
        history = with_epochs(ledger, replace(plain, series=chosen), needed)
        start = max(0, new - (len(plain.points) - len(history.points)))
        threshold = budget.threshold_of(gating=gating)
        for item in aligned_series(history, batch, gating=gating):
            values, groups = [part.values for part in item.parts], [part.groups for part in item.parts]
            tests = NightTests(values, groups, threshold=threshold)
            noise[item.task or ""] = tests.night_variance
            search = partial(_search, ledger, history, threshold=threshold, start=start, anew=not new)
            drops = search(item, "drop", tests=tests)
            rest = _without_drops(item, drops)
            search(rest, "rise", tests=tests if rest.parts is item.parts else None)
    _withdraw_lost(ledger, plain)
    mark_searched(ledger, plain, noise)
    return track_history(ledger, track, tasks=())


def _batches(history: TrackHistory) -> Iterator[tuple[bool, Mapping[str | None, Sequence[str]]]]:
    """Yield the series whose sums of problems are read together, and whether they gate.

    The series of gating tasks are one batch, because their pooled line needs them all. The sums of ten years
    of all tasks would not fit into memory.
    """
    tested = alarm_tasks(history)
    gating = watched_series(tested, gating=True)
    if gating:
        yield True, gating
    others = list(watched_series(tested, gating=False).items())
    for first in range(0, len(others), BATCH):
        yield False, dict(others[first : first + BATCH])


def aligned_series(
    history: TrackHistory, series: Mapping[str | None, Sequence[str]], *, gating: bool
) -> list[WatchedSeries]:
    """Return series with the problem means of their tasks.

    Tasks that share too few problems over the points are left out. A pool of which one task remains is left
    out too, because it would be the series of that task.
    """
    tasks = {name: task for name, task in aligned_tasks(history).items() if task.is_tested}
    found = []
    for name, pooled in series.items():
        parts = tuple(tasks[task] for task in pooled if task in tasks)
        if len(parts) >= min(2, len(pooled)):
            found.append(WatchedSeries(name, gating, parts))
    return found


def _oldest_open(history: TrackHistory) -> int:
    """Return the index of the first point of the oldest change that is open, or the number of points."""
    rows = {point.uid: row for row, point in enumerate(history.points)}
    opened = [rows.get(change.last_before_uid, 0) for change in history.changes if change.state == "open"]
    return min(opened, default=len(history.points))


def _search(
    ledger: Ledger,
    history: TrackHistory,
    series: WatchedSeries,
    direction: Direction,
    *,
    threshold: float,
    start: int,
    anew: bool,
    tests: NightTests | None,
) -> list[DetectedChange]:
    """Walk one series in one direction, and write what opened, recovered or is no longer found.

    Args:
        start: the first night to look at.
        anew: forget what earlier searches found, but for what people have said about it.
        tests: tests of the values of the series, if they were made before.

    Returns:
        The changes of the series.
    """
    track = history.track.name
    known = _known(history, series.task, direction)
    other = _known(history, series.task, "rise" if direction == "drop" else "drop").values()
    level = max((change.first for change in other if change.state == "explained"), default=0)
    taken = [change for change in known.values() if not (anew and change.state in BY_SEARCH)]
    found = walk_changes(
        [_emptied(part.values, range(level)) for part in series.parts],
        threshold=threshold,
        direction=direction,
        groups=[part.groups for part in series.parts],
        known=taken,
        start=start,
        tests=None if level else tests,
    )
    by_id = {change_id(track, series.task, direction, history.points[one.found].uid): one for one in found}
    for name in known if anew else ():
        if known[name].state in BY_SEARCH and not _is_found_again(known[name], by_id.get(name)):
            withdraw_change(ledger, name)
            known = {other: one for other, one in known.items() if other != name}
    for name, change in by_id.items():
        before = known.get(name)
        if before is None:
            open_change(ledger, _change(history, series, change, name))
        if change.state == "recovered" and (before is None or before.state == "open"):
            assert change.closed is not None
            closed = history.points[change.closed]
            note = f"the level of {closed.label} no longer differs"
            settle_change(ledger, name, "recovered", by=GENBENCH, note=note, closed_uid=closed.uid)
    return found


_CLOSE = 1e-6
"""Figures of a change that differ by less, in relation, are equal: sums of floats depend on their order."""


def _is_found_again(stored: DetectedChange, found: DetectedChange | None) -> bool:
    """Return whether a search found a stored change as it is stored. One that was open may have recovered."""
    if found is None or (stored.state == "recovered") > (found.state == "recovered"):
        return False
    if stored.state == "recovered" and stored.closed != found.closed:
        return False
    plain = ("first", "last_before", "found", "suspects")
    figures = ("z", "threshold", "size", "interval")
    return all(getattr(stored, key) == getattr(found, key) for key in plain) and all(
        np.allclose(getattr(stored, key), getattr(found, key), rtol=_CLOSE, atol=_CLOSE) for key in figures
    )


def _withdraw_lost(ledger: Ledger, history: TrackHistory) -> None:
    """Withdraw changes between runs that are no longer in the ledger. What a person said about one stays."""
    rows = {point.uid for point in history.points}
    for change in history.changes:
        named = {change.first_uid, change.last_before_uid, change.found_uid}
        if change.state in BY_SEARCH and not named <= rows:
            withdraw_change(ledger, change.id)


def _without_drops(series: WatchedSeries, drops: Sequence[DetectedChange]) -> WatchedSeries:
    """Return a series without the nights of its drops, so that a drop that is mended is not a rise."""
    parts = series.parts
    for drop in drops:
        if drop.state in ("open", "recovered"):
            stop = len(parts[0].values) if drop.closed is None else drop.closed
            gone = range(drop.first, stop)
            parts = tuple(replace(part, values=_emptied(part.values, gone)) for part in parts)
    return replace(series, parts=parts)


def _emptied(values: Floats, rows: range) -> Floats:
    """Return problem means with some points emptied (NaN)."""
    if not rows:
        return values
    emptied = values.copy()
    emptied[rows.start : rows.stop] = np.nan
    return emptied


def _known(history: TrackHistory, task: str | None, direction: Direction) -> dict[str, DetectedChange]:
    """Return the stored changes of one series by id, with points as indices. Changes of lost runs go."""
    rows = {point.uid: row for row, point in enumerate(history.points)}
    return {
        change.id: DetectedChange(
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
            closed=_closed(history, rows, change),
        )
        for change in history.changes
        if change.task == task
        and change.direction == direction
        and {change.first_uid, change.last_before_uid, change.found_uid} <= rows.keys()
    }


def _closed(history: TrackHistory, rows: Mapping[str, int], change: Change) -> int | None:
    """Return the newest point when a change was closed, or None if it is open.

    A person may have closed it without naming a run. Then it is the newest run of that time.
    """
    if change.state == "open":
        return None
    if change.closed_uid is not None and change.closed_uid in rows:
        return rows[change.closed_uid]
    earlier = [row for row, point in enumerate(history.points) if point.created <= change.at]
    return max(rows[change.found_uid], *earlier, 0)


def _change(history: TrackHistory, series: WatchedSeries, found: DetectedChange, name: str) -> Change:
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
    )
