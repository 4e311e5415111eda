"""Pages of the team: the overview, tracks, runs, the queue, jobs, watches and the log-in.

They need no JavaScript and load nothing from elsewhere. The overview has for each track one sentence, open
changes, missing nights and the queue.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, Response

from genbench.errors import GenbenchError
from genbench.nights.ledger.listing import ListedTrack, list_ledger
from genbench.nights.pages.page import TrackLinks, trend_values
from genbench.nights.pages.text import sparkline
from genbench.nights.trend.record import Trend, TrendChange, TrendTask
from genbench.nights.trend.sentence import change_words
from genbench.reports.browse import newest_samples
from genbench.store.stored_run import StoredRun
from genbench.suite.block import headlines
from genbench.team.queue.jobs import count_jobs, get_job, job_events, list_jobs, list_workers, log_lines
from genbench.team.queue.messages import Message, list_messages
from genbench.team.queue.records import LIVE, Job
from genbench.team.queue.schedules import list_schedules
from genbench.team.service.api.jobs import Number
from genbench.team.service.context import Service, service
from genbench.team.service.queries import (
    MOST_POINTS,
    Name,
    RunSearch,
    count_runs,
    point_choices,
    read_runs,
    report_of,
    require_track,
    runs_below,
    unrated_tasks,
)
from genbench.team.service.responses import (
    NotFoundError,
    compressed_script,
    page,
    page_scripts,
    refused_as,
    style_sheet,
)
from genbench.team.watch.watches import list_watches
from genbench.types import Completion

_POINTS = 30
_JOBS = 100
"""Jobs of one page of the queue."""
_TASKS = 12
"""Tasks of a track that are shown. The page of the track has all."""


@dataclass(frozen=True, slots=True)
class TaskLine:
    """One task of a track: its newest values, and a line of how it went."""

    task: TrendTask
    spark: str


@dataclass(frozen=True, slots=True)
class TrackBlock:
    """One track: its sentence, what needs a decision, and its first tasks."""

    listed: ListedTrack
    trend: Trend
    opened: tuple[tuple[TrendChange, str], ...]
    """Open changes with their words. Drops of gating tasks come first."""
    tasks: tuple[TaskLine, ...]

    @property
    def is_quiet(self) -> bool:
        """Whether nothing needs a decision."""
        return not self.opened and not self.trend.missing


@dataclass(frozen=True, slots=True)
class Overview:
    """The first page."""

    tracks: tuple[TrackBlock, ...]
    counts: dict[str, int]
    failed: tuple[Job, ...]
    running: tuple[Job, ...]
    messages: tuple[Message, ...]


def overview(own: Service) -> Overview:
    """Return what the first page shows. Tracks with open drops come first."""
    blocks = [_block(own, listed) for listed in list_ledger(own.ledger).tracks]
    return Overview(
        tracks=tuple(sorted(blocks, key=_urgency)),
        counts=count_jobs(own.queue),
        failed=tuple(list_jobs(own.queue, states=("failed",), limit=5)),
        running=tuple(list_jobs(own.queue, states=("running",), limit=20)),
        messages=tuple(list_messages(own.queue, limit=5)),
    )


def _urgency(block: TrackBlock) -> tuple[int, str]:
    drops = sum(change.gating and change.direction == "drop" for change, _ in block.opened)
    return (-drops, block.listed.name)


def _block(own: Service, listed: ListedTrack) -> TrackBlock:
    trend = own.trends.trend(own.ledger, listed.name, _POINTS)
    opened = [change for change in trend.changes if change.state == "open"]
    opened.sort(key=lambda change: (not change.gating, change.direction != "drop", -abs(change.z)))
    lines = [TaskLine(task, _spark(task)) for task in trend.tasks[:_TASKS]]
    return TrackBlock(listed, trend, tuple((item, change_words(item)) for item in opened), tuple(lines))


def _spark(task: TrendTask) -> str:
    points = task.points
    known = any(value is not None for value in points.difference)
    epochs = points.epoch
    breaks = [row > 0 and epochs[row] != epochs[row - 1] for row in range(len(epochs))]
    return sparkline(points.difference if known else points.value, breaks, _POINTS)


router = APIRouter()
_CHARTED, _NEWEST = 60, 14
Points = Annotated[int, Query(ge=2, le=MOST_POINTS)]


@router.get("/")
def home(request: Request) -> HTMLResponse:
    """Return the first page: what happened, whether it is real, and what to do."""
    return page(request, "overview.html.j2", page=overview(service(request)))


@router.get("/glossary")
def glossary(request: Request) -> HTMLResponse:
    """Return the page with the words of all pages."""
    return page(request, "glossary.html.j2")


@router.get("/style.css")
def style(request: Request) -> Response:
    """Return the style sheet of all pages."""
    return PlainTextResponse(style_sheet(request), media_type="text/css")


@router.get("/scripts/{name}")
def script(request: Request, name: Name) -> Response:
    """Return a script of the pages. Its address has its digest, so browsers keep it."""
    known = page_scripts()
    if name not in known:
        raise NotFoundError(f"there is no script '{name[:50]}'")
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    body = known[name].body
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["Content-Encoding"] = compressed_script(name), "gzip"
    return Response(body, media_type="text/javascript", headers=headers)


@router.get("/tracks/{track}")
def trackpage(request: Request, track: Name, points: Points = _CHARTED) -> HTMLResponse:
    """Return the page of a track: its sentence, its changes, its tasks with charts, and its newest runs."""
    own = service(request)
    require_track(own.ledger, track)
    trend = own.trends.trend(own.ledger, track, points)
    shown = max((len(task.points.uid) for task in trend.tasks), default=0)
    runs = read_runs(own.ledger, RunSearch(track=track), 0, _NEWEST)
    tonight = [run for run in runs if run.role == "point"]
    return page(
        request,
        "track.html.j2",
        **trend_values(trend, TrackLinks(track)),
        runs=runs,
        unrated=unrated_tasks(tonight[0]) if tonight else [],
        count=count_runs(own.ledger, RunSearch(track=track)),
        shown=shown,
        choices=point_choices(trend.runs, points),
    )


@router.get("/queue")
def queuepage(request: Request, before: Annotated[Number | None, Query()] = None) -> HTMLResponse:
    """Return the page of the queue: jobs, workers, schedules and messages."""
    own = service(request)
    queue = own.queue
    jobs = list_jobs(queue, before=before, limit=_JOBS + 1)
    return page(
        request,
        "queue.html.j2",
        suites=sorted(own.suites),
        jobs=jobs[:_JOBS],
        before=before,
        older=jobs[_JOBS - 1].id if len(jobs) > _JOBS else None,
        counts=count_jobs(queue),
        workers=list_workers(queue),
        schedules=list_schedules(queue),
        messages=list_messages(queue, limit=20),
    )


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far one model of a job is, as its process says."""

    model: str
    state: str
    done: int
    total: int
    tokens_per_s: float | None
    left_s: float | None
    tasks: tuple[tuple[str, int, int], ...]
    """Name, samples drawn and samples in all of each task."""
    newest: list[Completion]


def job_progress(job: Job) -> list[JobProgress]:
    """Return how far a job is, by model. Only the process's own counts and the newest samples are read."""
    found = []
    for path in sorted(Path(job.run_dir).glob("*/manifest.json")):
        with suppress(GenbenchError):
            found.append(_progress_of(StoredRun(path.parent)))
    return found


def _progress_of(run: StoredRun) -> JobProgress:
    tasks = headlines(run.manifest.tasks)
    live = run.folder.live()
    drawn = live["tasks"] if live else {}
    totals = {name: record.n * record.k for name, record in tasks.items()}
    is_over = live is None and run.folder.results_path.is_file()
    hidden = {name for name, task in tasks.items() if task.sensitive}
    counts = tuple(
        (name, totals[name] if is_over else int(drawn.get(name, 0)), totals[name]) for name in tasks
    )
    return JobProgress(
        model=run.manifest.model.name,
        state=live["state"] if live else "finished" if is_over else "stopped",
        done=sum(done for _, done, _ in counts),
        total=sum(totals.values()),
        tokens_per_s=live["tokens_per_s"] if live else None,
        left_s=live["left_s"] if live else None,
        tasks=counts,
        newest=[] if is_over else newest_samples(run.folder, [name for name in tasks if name not in hidden]),
    )


@router.get("/jobs/{number}")
def jobpage(request: Request, number: Number) -> HTMLResponse:
    """Return the page of a job: its runs, events and the end of its log."""
    own = service(request)
    with refused_as(NotFoundError):
        job = get_job(own.queue, number)
    runs = runs_below(own.ledger, job.run_dir, None if job.spec.checkpoint is None else job.label)
    return page(
        request,
        "job.html.j2",
        job=job,
        runs=runs,
        with_report={run.uid for run in runs if report_of(run) is not None},
        progress=job_progress(job) if job.state in LIVE else [],
        events=job_events(own.queue, number),
        log=log_lines(job, 200),
    )


@router.get("/watches")
def watches_page(request: Request) -> HTMLResponse:
    """Return the page of watches: each checkpoint with its state, and why."""
    return page(request, "watches.html.j2", watches=list_watches(service(request).queue, checkpoints=100))


@router.get("/login")
def login_page(request: Request) -> HTMLResponse:
    """Return the page on which somebody shows a token."""
    return page(request, "login.html.j2")
