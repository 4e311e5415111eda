"""Pages of one task of a track, of a change, of two runs side by side, and of the cost of runs.

The evidence about a change is what else changed with it, and which problems moved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from sqlalchemy import func, select

from genbench.analysis.comparison.compare import Comparison, compare
from genbench.analysis.results.run_state import require_results
from genbench.analysis.side_by_side import side_by_side
from genbench.errors import InputError, NotComparableError, nearest
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.differences import StoredScoresComparison, compare_scores
from genbench.nights.ledger.history import Epoch, Night, TrackHistory, track_history
from genbench.nights.ledger.listing import ListedRun
from genbench.nights.ledger.vectors import problem_means
from genbench.nights.pages.page import plot_data, trend_chart
from genbench.nights.pages.text import evidence_words
from genbench.nights.trend.record import TrendChange
from genbench.nights.trend.sentence import change_words, state_words
from genbench.reports.explanations import sentence as task_sentence
from genbench.reports.explanations import verdict_sentence
from genbench.reports.result_tables import CHANGES, change_rows
from genbench.stats.scores import Floats, Ints
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun
from genbench.store.sums import read_sums
from genbench.team.service.context import service
from genbench.team.service.queries import (
    MOST_POINTS,
    Name,
    RunSearch,
    count_runs,
    folder_of,
    found_change,
    has_verdicts,
    known_values,
    point_choices,
    read_run,
    read_runs,
    require_change,
    require_track,
)
from genbench.team.service.responses import NotFoundError, page, refused_as

_NIGHTS = 14
"""Runs before and after a change whose problems are compared."""
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class MovedProblem:
    """A problem's mean score before and after a change, as fractions of 1.

    `z` is the difference over its own standard error, see `move_errors`.
    """

    task: str
    problem_id: str
    before: float
    after: float
    z: float


@dataclass(frozen=True, slots=True)
class Suspects:
    """The evidence about a change."""

    differences: tuple[str, ...]
    """What else differs between the first run after it and the run before it."""
    moved: tuple[MovedProblem, ...]
    """The problems that moved most in its direction, by the difference over its own noise."""
    nights: tuple[int, int]
    """Runs before and after it that were compared, at most."""


def find_suspects(ledger: Ledger, track: str, change: TrendChange) -> Suspects:
    """Return the evidence about a change.

    Raises:
        InputError: the track is gone.
    """
    tasks = None if change.task is None else (change.task,)
    history = track_history(ledger, track, tasks=tasks)
    runs = {night.uid: night for night in history.points}
    first, before = runs.get(change.first.uid), runs.get(change.last_before.uid)
    differences = tuple(_differences(before, first)) if first and before else ()
    return Suspects(differences, tuple(moved_problems(history, change)), (_NIGHTS, _NIGHTS))


def moved_problems(history: TrackHistory, change: TrendChange) -> list[MovedProblem]:
    """Return the problems that moved most in the direction of a change, the clearest move first."""
    sign = 1 if change.direction == "drop" else -1
    alarming = [
        task
        for task in history.series.values()
        if (task.gating if change.task is None else task.task == change.task)
    ]
    moved = [item for task in alarming for item in _moved(history, task.task, change)]
    moved.sort(key=lambda item: sign * item.z)
    return [item for item in moved[:_SHOWN] if sign * item.z < 0]


def _differences(before: Night, after: Night) -> Iterator[str]:
    """Yield what differs between two runs besides their scores."""
    if before.identity != after.identity:
        yield f"the weights: {before.model} ({before.identity[:19]}) → {after.model} ({after.identity[:19]})"
    else:
        yield "the weights are the same"
    if before.terms_digest != after.terms_digest:
        yield "the terms of decoding"
    names = sorted(before.packages.keys() | after.packages.keys())
    for name in names:
        old, new = before.packages.get(name, "absent"), after.packages.get(name, "absent")
        if old != new:
            yield f"package {name}: {old} → {new}"
    if before.circumstances_digest != after.circumstances_digest:
        yield "the circumstances: GPU, driver, parallel sizes … (see genbench compare)"


def _moved(history: TrackHistory, task: str, change: TrendChange) -> Iterator[MovedProblem]:
    """Yield the problems of one task with their means before and after a change."""
    for epoch in history.series[task].epochs:
        if change.first.uid not in epoch.uids:
            continue
        row = epoch.uids.index(change.first.uid)
        old = _totals(epoch, range(max(0, row - _NIGHTS), row))
        new = _totals(epoch, range(row, min(len(epoch.uids), row + _NIGHTS)))
        before, after = problem_means(*old), problem_means(*new)
        z = (after - before) / move_errors(*old, *new)
        for place, name in enumerate(epoch.problem_ids):
            if not np.isnan(z[place]):
                yield MovedProblem(task, name, float(before[place]), float(after[place]), float(z[place]))


def _totals(epoch: Epoch, rows: range) -> tuple[Floats, Ints]:
    """Return the sum and the number of the scores of each problem over some nights."""
    chosen = slice(rows.start, rows.stop)
    return epoch.sums[chosen].sum(axis=0), epoch.counts[chosen].sum(axis=0)


def move_errors(old_sums: Floats, old_counts: Ints, new_sums: Floats, new_counts: Ints) -> Floats:
    """Return the standard error (n,) of each problem's difference of two mean scores, NaN without scores.

    The variance of a score is that of 0 and 1 at the mean of both sides. Half a right and half a wrong score
    are added to each side, so that a problem with few scores that never varied has an error too.
    """
    old, new = old_counts + 1.0, new_counts + 1.0
    mean = (old_sums + new_sums + 1.0) / (old + new)
    found = np.sqrt(mean * (1 - mean) * (1 / old + 1 / new))
    return np.where((old_counts > 0) & (new_counts > 0), found, np.nan)


@dataclass(frozen=True, slots=True)
class ChangedProblem:
    """A problem's mean scores in two runs, as fractions of 1."""

    task: str
    problem_id: str
    base: float
    tuned: float


def changed_problems(base: Path, tuned: Path, tasks: Collection[str]) -> list[ChangedProblem]:
    """Return the problems whose mean scores differ most between two runs, the largest change first.

    Runs that were scored before the sums of problems were kept have none.

    Raises:
        RunFolderError: the sums are damaged.
    """
    means = [_problem_means(path) for path in (base, tuned)]
    found = [
        ChangedProblem(task, name, mean, means[1][task, name])
        for (task, name), mean in means[0].items()
        if task in tasks and means[1].get((task, name), mean) != mean
    ]
    found.sort(key=lambda item: -abs(item.tuned - item.base))
    return found[:_SHOWN]


def _problem_means(path: Path) -> dict[tuple[str, str], float]:
    """Return the mean score of each problem that has one, by task and problem."""
    digest = require_results(RunFolder(path)).sums
    tasks = read_sums(path, digest).tasks if digest else {}
    return {
        (task, name): total / count
        for task, own in tasks.items()
        for name, total, count in zip(own.problem_ids, own.sums, own.counts, strict=True)
        if count
    }


@dataclass(frozen=True, slots=True)
class CostLine:
    """The sums of one track in one month. `cost` is None if no run of them has a price."""

    month: str
    track: str
    runs: int
    hours: float
    tokens: int
    cost: float | None
    currency: str


def cost_lines(ledger: Ledger, months: int = 12) -> list[CostLine]:
    """Return the sums of the newest months, new to old, by track and currency."""
    run, track = tables.run, tables.track
    month = func.substr(run.c.created, 1, 7)
    query = (
        select(
            month.label("month"),
            track.c.name,
            func.count(),
            func.coalesce(func.sum(run.c.seconds), 0),
            func.coalesce(func.sum(run.c.tokens), 0),
            func.sum(run.c.cost),
            func.coalesce(run.c.currency, ""),
        )
        .join(track, track.c.id == run.c.track_id)
        .group_by(month, track.c.name, func.coalesce(run.c.currency, ""))
        .order_by(month.desc(), track.c.name)
    )
    rows = ledger.rows(query)
    known = sorted({row[0] for row in rows}, reverse=True)[:months]
    return [
        CostLine(row[0], row[1], int(row[2]), float(row[3]) / 3600, int(row[4]), row[5], row[6])
        for row in rows
        if row[0] in known
    ]


router = APIRouter()
_POINTS, _OFFERED = 120, 500
Uid = Annotated[str, Query(max_length=100, description="uid of a run")]


@router.get("/tracks/{track}/series/{task}")
def series_page(
    request: Request, track: Name, task: Name, points: Annotated[int, Query(ge=2, le=MOST_POINTS)] = _POINTS
) -> HTMLResponse:
    """Return the page of one task of a track: its chart, its changes and its newest runs."""
    own = service(request)
    with refused_as(NotFoundError):
        trend = own.trends.task(own.ledger, track, task, points)
    (found,) = trend.tasks
    changes = [change for change in trend.changes if change.task == task]
    return page(
        request,
        "series.html.j2",
        trend=trend,
        task=found,
        chart=trend_chart(task, found.points, changes),
        plot=plot_data(found.points, changes, kind=trend.kind, is_small=False),
        changes=[(change, state_words(change), change_words(change)) for change in changes],
        choices=point_choices(trend.runs, points),
    )


@router.get("/tracks/{track}/changes/{change}")
def change_page(request: Request, track: Name, change: Name) -> HTMLResponse:
    """Return the page of a change: its evidence, what else changed, and which problems moved."""
    own = service(request)
    require_change(own.ledger, track, change)
    trend = own.trends.trend(own.ledger, track, _POINTS)
    found = found_change(trend.changes, change)
    shown = next((item for item in trend.tasks if item.task == found.task), None)
    return page(
        request,
        "change.html.j2",
        trend=trend,
        change=found,
        words=change_words(found),
        state=state_words(found),
        evidence=evidence_words(found),
        why=None if found.cause is None else found.cause.words,
        chart="" if shown is None else trend_chart(shown.task, shown.points, [found]),
        plot="" if shown is None else plot_data(shown.points, [found], kind=trend.kind, is_small=False),
        suspects=find_suspects(own.ledger, track, found),
    )


@router.get("/compare")
def compare_page(
    request: Request, base: Uid = "", tuned: Uid = "", track: Annotated[str, Query(max_length=200)] = ""
) -> HTMLResponse:
    """Return the page of two runs side by side, paired by problem.

    Runs whose samples are not kept, or were pushed without them, are compared by the ledger's scores. If two
    runs cannot be compared, the page says why.
    """
    ledger = service(request).ledger
    chosen = {uid: read_run(ledger, uid) for uid in (base, tuned) if uid}
    record = kept = sentence = refused = None
    heads = _side_names(chosen, base, tuned)
    changed: list[ChangedProblem] = []
    if base and tuned:
        try:
            record, kept = _compared(ledger, chosen[base], chosen[tuned])
            sentence = None if record is None else verdict_sentence(heads["base"], heads["tuned"], record)
            old, new = folder_of(chosen[base]), folder_of(chosen[tuned])
            if record is not None and old is not None and new is not None:
                changed = changed_problems(old, new, record.tasks)
        except (NotComparableError, InputError) as error:
            refused = str(error)
    track = track or next((run.track for run in chosen.values() if run.track), "")
    wanted = RunSearch(track=track)
    return page(
        request,
        "compare.html.j2",
        base=base,
        tuned=tuned,
        chosen=chosen,
        record=record,
        sentence=sentence,
        heads=heads,
        changes=CHANGES,
        rows=[] if record is None else change_rows(record.tasks, list(record.tasks)),
        why=task_sentence,
        kept=kept,
        changed=changed,
        refused=refused,
        track=track,
        tracks=known_values(ledger, tables.track.c.name),
        offered=read_runs(ledger, wanted, 0, _OFFERED),
        count=count_runs(ledger, wanted),
    )


def _side_names(chosen: Mapping[str, ListedRun], base: str, tuned: str) -> dict[str, str]:
    """Return what a page calls the two runs: the model with its night or step, and the uid if these agree."""
    if not base or not tuned:
        return {}
    runs = [chosen[uid] for uid in (base, tuned)]
    names = [f"{run.model} ({run.label})" if run.label else run.model for run in runs]
    if names[0] == names[1]:
        names = [f"{name} {run.uid[:8]}" for name, run in zip(names, runs, strict=True)]
    return dict(zip(("base", "tuned"), names, strict=True))


def _compared(
    ledger: Ledger, base: ListedRun, tuned: ListedRun
) -> tuple[Comparison | None, StoredScoresComparison | None]:
    """Return the comparison of two runs by their verdicts, or by the ledger's scores if those are not kept.

    Raises:
        NotComparableError: they differ in what must be equal.
        InputError: one run is given twice, or one is not finished.
    """
    if base.uid == tuned.uid:
        raise InputError("one run was chosen twice; choose two")
    folders = [folder_of(run) for run in (base, tuned)]
    found = [folder for folder in folders if folder is not None and has_verdicts(folder)]
    if len(found) == 2:
        return compare(*found), None
    return None, compare_scores(ledger, base.uid, tuned.uid)


_BESIDE = (2, 4, 7)
"""Newest runs of a track that are shown next to each other."""


@router.get("/compare/texts")
def compared_texts(
    request: Request, base: Uid, tuned: Uid, task: Annotated[str, Query(max_length=200)]
) -> HTMLResponse:
    """Return the page of a task's answers in two runs, next to each other."""
    ledger = service(request).ledger
    return _texts_page(request, [read_run(ledger, base), read_run(ledger, tuned)], task)


@router.get("/tracks/{track}/texts/{task}")
def track_texts(
    request: Request, track: Name, task: Name, nights: Annotated[int, Query(ge=2, le=12)] = 4
) -> HTMLResponse:
    """Return the page of a task's answers in the newest runs of a track, from the oldest of them."""
    ledger = service(request).ledger
    require_track(ledger, track)
    found = read_runs(ledger, RunSearch(track=track), 0, _OFFERED)
    runs = [run for run in found if run.role == "point"][:nights]
    return _texts_page(request, runs[::-1], task, track=track, nights=nights)


def _texts_page(request: Request, runs: Sequence[ListedRun], task: str, **values: object) -> HTMLResponse:
    """Return the page of a task's answers in several runs.

    Raises:
        NotFoundError: no run that is here has such a task.
    """
    here, gone = list[tuple[str, StoredRun]](), list[str]()
    for run in runs:
        name = f"{run.model} {run.label or run.uid[:8]}"
        folder = folder_of(run)
        if folder is None or run.kept != "all":
            gone.append(name)
        else:
            here.append((name, StoredRun(folder)))
    known = list(dict.fromkeys(own for _, run in here for own in run.manifest.tasks))
    if task not in known:
        raise NotFoundError(f"these runs have no task '{task[:50]}'{nearest(task, known)}")
    shown = side_by_side(here, task)
    own = {"track": "", "sizes": _BESIDE, "nights": 0, **values}
    return page(request, "texts.html.j2", shown=shown, gone=gone, **own)


@router.get("/cost")
def cost_page(request: Request) -> HTMLResponse:
    """Return the page of time, tokens and money by month and track."""
    return page(request, "cost.html.j2", lines=cost_lines(service(request).ledger))
