"""Pages of runs and samples: the search for them, one run with its scores and report, one problem."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from sqlalchemy import select

from genbench.analysis.comparison.checkpoints import MOST_RUNS, Checkpoints, compare_checkpoints
from genbench.errors import InputError, NotComparableError, nearest
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.listing import ListedRun
from genbench.nights.trend.sentence import state_words
from genbench.reports.browse import (
    FoundSample,
    ProblemRow,
    SampleRow,
    SampleSearch,
    find_samples,
    sample_rows,
    task_rows,
)
from genbench.reports.checkpoints import Dot, checkpoints_csv, csv_text, scatter
from genbench.reports.page.html import page_scripts
from genbench.reports.page.templates import page_environment
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun
from genbench.team.queue import tables as queue_tables
from genbench.team.queue.database import Queue
from genbench.team.service.context import service
from genbench.team.service.queries import (
    MEASURES,
    Name,
    RunSearch,
    count_runs,
    folder_of,
    has_verdicts,
    known_meta,
    known_tags,
    known_values,
    read_run,
    read_runs,
    report_of,
    require_track,
    run_folder,
    run_table,
    unrated_tasks,
)
from genbench.team.service.responses import GoneError, NotFoundError, page, page_address, refused_as
from genbench.types import STATUSES

router = APIRouter()
_SHOWN = 100
"""Runs of one page of a list."""
_MOST_CHARTED, _MOST_CSV = 500, 10_000
_TURNS = 120
"""Turns of a problem's samples that one page shows."""
Start = Annotated[int, Query(ge=0, le=1 << 31)]
Text = Annotated[str, Query(max_length=200)]
Date = Annotated[str, Query(max_length=10)]
Columns = Annotated[list[Text] | None, Query(max_length=100)]
Uids = Annotated[list[Text] | None, Query(max_length=MOST_RUNS)]


@cache
def report_policy() -> str:
    """Return the content security policy of a stored report, which perhaps a stranger has written.

    It is without the service's origin, sends nothing, and of its scripts only those run that reports of this
    version have.
    """
    scripts = page_scripts(page_environment()).values()
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"sandbox allow-scripts; default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def _wanted(  # noqa: PLR0917 - FastAPI passes them by name
    text: Text = "",
    model: Text = "",
    track: Text = "",
    suite: Text = "",
    since: Date = "",
    until: Date = "",
    tag: Text = "",
    meta: Text = "",
) -> RunSearch:
    """Return what is looked for among the runs."""
    return RunSearch(text, model, track, suite, since, until, tag=tag, meta=meta)


Wanted = Annotated[RunSearch, Depends(_wanted)]


@router.get("/runs")
def runs_page(  # noqa: PLR0917 - FastAPI passes them by name
    request: Request,
    wanted: Wanted,
    column: Columns = None,
    x: Text = "",
    y: Text = "",
    after: Start = 0,
) -> HTMLResponse:
    """Return the page on which runs are looked for, with scores and values as columns and as a chart."""
    return _listed(request, wanted, after, columns=column or (), x=x, y=y)


@router.get("/runs.csv")
def runs_csv(
    request: Request,
    wanted: Wanted,
    column: Columns = None,
) -> Response:
    """Return the runs that are looked for as CSV, with the chosen columns, tags, note and all values."""
    ledger = service(request).ledger
    runs = read_runs(ledger, wanted, 0, _MOST_CSV)
    own = [f"meta:{key}" for key in dict.fromkeys(key for run in runs for key in run.meta)]
    found = run_table(ledger, runs, [*(column or ()), "tags", "note", *own])
    head = ("uid", "track", "label", "model", "suite", "state", "created")
    lines = [(*(getattr(run, name) for name in head), *found.values[run.uid]) for run in runs]
    return _csv(csv_text((*head, *found.columns), lines), "runs.csv")


def _csv(text: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/table")
def table_page(request: Request, run: Uids = None, tag: Text = "") -> HTMLResponse:
    """Return the table of several runs: their scores, differences to the first, and ranks."""
    runs, record, refused = _table(request, run or (), tag)
    links = {str(folder_of(item)): f"/runs/{item.uid}" for item in runs}
    query = urlencode([("run", item.uid) for item in runs])
    return page(
        request, "table.html.j2", runs=runs, record=record, refused=refused, links=links, query=query, tag=tag
    )


@router.get("/table.csv")
def table_csv(request: Request, run: Uids = None, tag: Text = "") -> Response:
    """Return the table of several runs as CSV."""
    _, record, refused = _table(request, run or (), tag)
    if record is None:
        raise InputError(refused)
    return _csv(checkpoints_csv(record), "table.csv")


def _table(
    request: Request, uids: Sequence[str], tag: str
) -> tuple[list[ListedRun], Checkpoints | None, str]:
    """Return runs by uid, or those of a tag from the oldest on, with their table or why there is none."""
    ledger = service(request).ledger
    runs = [read_run(ledger, uid) for uid in dict.fromkeys(uids)]
    if not runs and tag:
        runs = read_runs(ledger, RunSearch(tag=tag), 0, MOST_RUNS)[::-1]
    folders = {run.uid: folder for run in runs if (folder := folder_of(run)) is not None}
    gone = [run.model for run in runs if run.uid not in folders or not has_verdicts(folders[run.uid])]
    if gone:
        return runs, None, f"the verdicts of {', '.join(gone)} are not kept here; leave these runs out"
    try:
        return runs, compare_checkpoints(list(folders.values())), ""
    except (NotComparableError, InputError) as error:
        return runs, None, str(error)


@router.get("/tracks/{track}/runs")
def track_runs_page(request: Request, track: Name, after: Start = 0) -> HTMLResponse:
    """Return the list of a track's runs, newest first."""
    require_track(service(request).ledger, track)
    return _listed(request, RunSearch(track=track), after, of_track=track)


def _listed(
    request: Request,
    wanted: RunSearch,
    after: int,
    of_track: str = "",
    *,
    columns: Sequence[str] = (),
    x: str = "",
    y: str = "",
) -> HTMLResponse:
    ledger = service(request).ledger
    count = count_runs(ledger, wanted)
    runs = read_runs(ledger, wanted, after, _SHOWN)
    tasks, keys = known_values(ledger, tables.series.c.task), known_meta(ledger)
    return page(
        request,
        "runs.html.j2",
        wanted=wanted,
        of_track=of_track,
        runs=runs,
        table=run_table(ledger, runs, columns),
        choices=["tags", "note", *(f"meta:{key}" for key in keys), *(f"task:{name}" for name in tasks)],
        further=[*MEASURES],
        keys=keys,
        tasks=tasks,
        tags=known_tags(ledger),
        x=x,
        y=y,
        chart=_chart(ledger, wanted, x, y) if x and y else None,
        csv=f"/runs.csv?{request.url.query}",
        count=count,
        start=after,
        newer=page_address(request, after=max(0, after - _SHOWN)) if after else None,
        older=page_address(request, after=after + _SHOWN) if after + _SHOWN < count else None,
        tracks=known_values(ledger, tables.track.c.name),
        suites=known_values(ledger, tables.run.c.suite),
    )


def _chart(ledger: Ledger, wanted: RunSearch, x: str, y: str) -> Markup:
    """Return the chart of a task's score against a value of the user's own, over all runs of a search."""
    runs = read_runs(ledger, wanted, 0, _MOST_CHARTED)
    found = run_table(ledger, runs, [f"meta:{x}", f"task:{y}"])
    dots = [
        Dot(run.model, float(value), score, f"/runs/{run.uid}")
        for run in runs
        for value, score in [found.values[run.uid]]
        if isinstance(value, float) and isinstance(score, float)
    ]
    return scatter(x, y, dots)


@dataclass(frozen=True, slots=True)
class TaskScore:
    """The score of one task of a run, as the ledger has it. Fractions of 1, None if not known."""

    task: str
    n: int
    k: int
    gating: bool
    value: float | None
    ci_low: float | None
    ci_high: float | None
    rerun_low: float | None
    rerun_high: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    truncated: float | None
    loops: float | None
    empty: float | None
    tokens: float | None


def task_scores(ledger: Ledger, uid: str) -> list[TaskScore]:
    """Return the scores of a finished run by task. The list is empty for other runs."""
    score, series, key, problems = tables.score, tables.series, tables.task_key, tables.problem_set
    columns = (score.c[name] for name in TaskScore.__dataclass_fields__ if name not in ("task", "n"))
    query = (
        select(series.c.task, problems.c.n, *columns)
        .join(series, series.c.id == score.c.series_id)
        .join(key, key.c.id == score.c.key_id)
        .join(problems, problems.c.id == key.c.problem_set_id)
        .join(tables.run, tables.run.c.id == score.c.run_id)
        .where(tables.run.c.uid == uid)
        .order_by(score.c.gating.desc(), series.c.task)
    )
    return [TaskScore(**row._mapping) for row in ledger.rows(query)]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """What a run is compared with: uids, None if there is none."""

    before: str | None
    after: str | None
    base: str | None


def neighbours(ledger: Ledger, run: ListedRun) -> Neighbours:
    """Return the points before and after a run in its track, and the track's base."""
    if run.track is None:
        return Neighbours(None, None, None)
    own, point = tables.track, tables.run
    (row,) = ledger.rows(select(own.c.id, own.c.base_uid).where(own.c.name == run.track))
    is_point = (point.c.track_id == row.id) & (point.c.role == "point") & (point.c.state == "finished")
    query = select(point.c.uid).where(is_point).order_by(point.c.position, point.c.uid)
    uids = [found.uid for found in ledger.rows(query)]
    known = select(point.c.uid).where(point.c.uid == row.base_uid, point.c.uid != run.uid)
    base = next((found.uid for found in ledger.rows(known)), None)
    if run.uid not in uids:
        return Neighbours(None, None, base)
    at = uids.index(run.uid)
    return Neighbours(uids[at - 1] if at else None, uids[at + 1] if at + 1 < len(uids) else None, base)


def job_of_run(queue: Queue, run: ListedRun) -> int | None:
    """Return the number of the newest job that draws into a folder of a run, or None."""
    job = queue_tables.job
    folders = [str(folder) for path in run.paths for folder in (Path(path), Path(path).parent)]
    query = (
        select(job.c.id, job.c.spec, job.c.label).where(job.c.run_dir.in_(folders)).order_by(job.c.id.desc())
    )
    found = queue.rows(query)
    own = [row.id for row in found if row.label == run.label]
    return next(iter([*own, *(row.id for row in found)]), None)


@router.get("/runs/{uid}")
def run_page(request: Request, uid: Name) -> HTMLResponse:
    """Return the page of a run: its place, its scores, and the ways to its samples and its report."""
    own = service(request)
    run = read_run(own.ledger, uid)
    folder = folder_of(run)
    return page(
        request,
        "run.html.j2",
        run=run,
        folder=folder,
        failed=_failed(own.ledger, uid),
        scores=task_scores(own.ledger, uid),
        unrated=unrated_tasks(run),
        near=neighbours(own.ledger, run),
        job=job_of_run(own.queue, run),
        has_report=report_of(run) is not None,
        changes=[(change, state_words(change)) for change in _changes_of(own.ledger, run)],
    )


def _failed(ledger: Ledger, uid: str) -> list[str]:
    """Return why a run may not be used. An empty list means that it may."""
    (row,) = ledger.rows(select(tables.run.c.failed).where(tables.run.c.uid == uid))
    return [str(line) for line in json.loads(row.failed)]


def _changes_of(ledger: Ledger, run: ListedRun) -> list[Any]:
    """Return the changes that begin with a run or were found at it."""
    change = tables.change
    named = (change.c.first_uid == run.uid) | (change.c.found_uid == run.uid)
    return list(ledger.rows(select(change).where(change.c.track == run.track, named).order_by(change.c.id)))


@router.get("/runs/{uid}/report")
def report_page(request: Request, uid: Name) -> HTMLResponse:
    """Return the page around the report of a run."""
    ledger = service(request).ledger
    run = read_run(ledger, uid)
    return page(request, "run_report.html.j2", run=run, folder=folder_of(run), found=report_of(run))


@router.get("/runs/{uid}/report.html")
def stored_report(request: Request, uid: Name) -> Response:
    """Return the report of a run as it was written, without the rights of this service.

    A browser shows it only in our frame, so that it never fills a window under our address.
    """
    if request.headers.get("sec-fetch-dest") == "document":
        return RedirectResponse(f"/runs/{quote(uid, safe='')}/report", 303)
    ledger = service(request).ledger
    path = report_of(read_run(ledger, uid))
    if path is None:
        folder = run_folder(ledger, uid)
        raise GoneError(f"run {uid} has no report; make one with: genbench report {folder}")
    text = path.read_text(encoding="utf-8", errors="replace")
    return HTMLResponse(text, headers={"Content-Security-Policy": report_policy()})


_MOST_SAMPLES = 50
_SEARCH_S = 0.12
"""Seconds that a page looks for samples. The rest is a link away."""


@dataclass(frozen=True, slots=True)
class RunSample:
    """A sample that was found, and its run."""

    run: ListedRun
    sample: FoundSample


@dataclass(frozen=True, slots=True)
class SamplePage:
    """Samples of several runs. `after` is where the search goes on, empty at its end."""

    items: list[RunSample]
    runs: int
    """Runs that were looked through."""
    kept: int
    """Those of them whose verdicts are there."""
    after: str


def search_samples(
    ledger: Ledger, runs: RunSearch, task: str, wanted: SampleSearch, after: str = ""
) -> SamplePage:
    """Return samples of the runs that are looked for, newest runs first, for a fraction of a second.

    Args:
        task: only this task. Empty means all.
        after: `after` of the page before.

    Raises:
        InputError: `after` is none.
    """
    until = time.monotonic() + _SEARCH_S
    at, first_task, start = _place(after)
    items: list[RunSample] = []
    looked = kept = 0
    while found := read_runs(ledger, runs, at, _SHOWN):
        for run in found:
            folder = folder_of(run)
            tasks = [] if folder is None else _tasks_of(folder, task)
            for number, name in list(enumerate(tasks))[first_task:]:
                assert folder is not None
                left = _MOST_SAMPLES - len(items)
                part = find_samples(RunFolder(folder), name, wanted, start=start, most=left, until=until)
                hides = _is_sensitive(folder, name)
                items += [
                    RunSample(run, replace(sample, extracted=None) if hides else sample)
                    for sample in part.items
                ]
                start = 0
                if part.after is not None:
                    return SamplePage(items, looked + 1, kept + 1, f"{at}.{number}.{part.after}")
            first_task, looked, kept, at = 0, looked + 1, kept + bool(tasks), at + 1
            if time.monotonic() > until or len(items) >= _MOST_SAMPLES:
                return SamplePage(items, looked, kept, f"{at}.0.0" if count_runs(ledger, runs) > at else "")
    return SamplePage(items, looked, kept, "")


def _is_sensitive(folder: Path, task: str) -> bool:
    """Return whether the texts of a task may do harm."""
    described = StoredRun(folder).manifest.tasks.get(task)
    return described is not None and described.sensitive


def _place(after: str) -> tuple[int, int, int]:
    """Return the run, the task and the byte at which a search goes on."""
    if not after:
        return 0, 0, 0
    parts = after.split(".")
    if len(parts) != 3 or not all(part.isdecimal() and len(part) < 16 for part in parts):
        raise InputError(f"after '{after[:50]}': wanted what the page before links")
    return int(parts[0]), int(parts[1]), int(parts[2])


def _tasks_of(folder: Path, task: str) -> list[str]:
    """Return the tasks of a run that are asked for and have verdicts, in alphabetical order."""
    found = sorted(path.parent.name for path in folder.glob("*/verdicts.jsonl"))
    return [name for name in found if task in ("", name)]


@router.get("/samples")
def samples_page(  # noqa: PLR0917 - FastAPI passes them by name
    request: Request,
    run: Text = "",
    model: Text = "",
    track: Text = "",
    suite: Text = "",
    since: Date = "",
    until: Date = "",
    task: Text = "",
    problem: Annotated[str, Query(max_length=1000)] = "",
    status: Text = "",
    text: Text = "",
    after: Annotated[str, Query(max_length=60)] = "",
) -> HTMLResponse:
    """Return the page on which samples of all runs are looked for."""
    ledger = service(request).ledger
    runs = RunSearch("", model, track, suite, since, until, run)
    wanted = SampleSearch(problem, status, text)
    found = search_samples(ledger, runs, task, wanted, after)
    return page(
        request,
        "samples.html.j2",
        runs=runs,
        task=task,
        wanted=wanted,
        found=found,
        statuses=STATUSES,
        more=page_address(request, after=found.after) if found.after else None,
        count=count_runs(ledger, runs),
        tracks=known_values(ledger, tables.track.c.name),
        tasks=known_values(ledger, tables.series.c.task),
    )


@dataclass(frozen=True, slots=True)
class Side:
    """A run on the page of a problem, with what is kept of the problem's samples."""

    run: ListedRun
    rows: list[SampleRow]
    scores: list[ProblemRow]
    """Scores without texts, if only verdicts are kept."""
    missing: str
    """Why there is neither."""
    is_sensitive: bool = False
    """Whether the texts may do harm, so that they are shown when someone opens them."""


@router.get("/runs/{uid}/samples")
def problem_page(  # noqa: PLR0917 - FastAPI passes them by name
    request: Request,
    uid: Name,
    task: Text,
    problem: Annotated[str, Query(max_length=1000)],
    other: Annotated[str, Query(max_length=100)] = "",
    sample: Start = 0,
) -> HTMLResponse:
    """Return the page of one problem: its samples in one run, or in two runs side by side.

    If they have many turns together, as rollouts have, only `sample` is on the page.
    """
    ledger = service(request).ledger
    sides = [_side(read_run(ledger, name), task, problem) for name in (other, uid) if name]
    rows = [row for side in sides for row in side.rows]
    indices = sorted({row.sample_index for row in rows})
    chosen = None
    if len(rows) > _TURNS and len(indices) > 1:
        chosen = sample if sample in indices else indices[0]
        sides = [
            replace(side, rows=[row for row in side.rows if row.sample_index == chosen]) for side in sides
        ]

    def sample_address(index: int) -> str:
        return page_address(request, sample=index)

    return page(
        request,
        "problem.html.j2",
        run=sides[-1].run,
        sides=sides,
        task=task,
        problem=problem,
        is_sensitive=any(side.is_sensitive for side in sides),
        prompt=next((row.prompt for row in rows if row.prompt and not row.sent), None),
        reference=next((row.reference for row in rows if row.reference), None),
        chosen=chosen,
        indices=indices,
        sample_address=sample_address,
        steps=_steps(request, sides[-1].run, task, problem, chosen, indices),
    )


def _steps(  # noqa: PLR0917  all of them say where the page is
    request: Request, run: ListedRun, task: str, problem: str, chosen: int | None, indices: list[int]
) -> list[tuple[str, str, str]]:
    """Return the links to the problems and samples before and after: words, key and address."""
    found = []
    folder = folder_of(run)
    if folder is not None:
        known = StoredRun(folder).task(task).problem_ids
        at = known.index(problem) if problem in known else -1
        for label, key, place in (("← problem", "p", at - 1), ("problem →", "n", at + 1)):
            if at >= 0 and 0 <= place < len(known):
                found.append((label, key, page_address(request, problem=known[place], sample=None)))
    if chosen is not None:
        at = indices.index(chosen)
        for label, key, place in (("← sample", "h", at - 1), ("sample →", "l", at + 1)):
            if 0 <= place < len(indices):
                found.append((label, key, page_address(request, sample=indices[place])))
    return found


def _side(run: ListedRun, task: str, problem: str) -> Side:
    """Return what is kept of a problem's samples in a run.

    Raises:
        NotFoundError: the run has no such task or problem.
    """
    folder = folder_of(run)
    if folder is None:
        return Side(run, [], [], "The folder of this run is not here. Its scores are in the ledger.")
    known = StoredRun(folder).manifest.tasks
    if task not in known:
        raise NotFoundError(f"run {run.uid} has no task '{task[:50]}'{nearest(task, known)}")
    with refused_as(NotFoundError):
        if RunFolder(folder).file(task, "completions").is_file():
            return Side(run, sample_rows(folder, task, problem), [], "", known[task].sensitive)
        if not (folder / task / "verdicts.jsonl").is_file():
            return Side(run, [], [], "The samples of this run are not kept. Its scores are in the ledger.")
        scores = [row for row in task_rows(folder, task) if row.problem_id == problem]
    missing = "" if scores else "This run has no such problem."
    return Side(run, [], scores, missing, known[task].sensitive)
