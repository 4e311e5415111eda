"""The part of the API about tracks, their runs and changes, remarks, bases and schedules."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from genbench.errors import InputError
from genbench.ledger.changes import annotate, close_change, pin_base, position_of
from genbench.ledger.history import task_series, track_history
from genbench.ledger.listing import ListedRun, ListedTrack
from genbench.ledger.notes import AnnotationKind, AnnotationNote
from genbench.queue.jobs import list_workers
from genbench.queue.messages import Message, list_messages
from genbench.queue.records import Schedule, Worker
from genbench.queue.schedules import add_schedule, list_schedules, remove_schedule
from genbench.service.api.jobs import JobRequest, job_spec
from genbench.service.context import require, service
from genbench.service.queries import (
    Name,
    RunJson,
    read_runs,
    read_tracks,
    require_change,
    require_track,
    run_folder,
)
from genbench.service.responses import ConflictError, NotFoundError
from genbench.store.json_files import read_json
from genbench.trend.compose import SHOWN, compose, read_track
from genbench.trend.record import Trend, TrendChange

ledger_router = APIRouter(prefix="/api/v1", tags=["ledger"])
_RESULTS_BYTES = 128 << 20


class TrackPage(BaseModel):
    """All tracks."""

    items: list[ListedTrack] = Field(description="tracks by name")


class RunPage(BaseModel):
    """A page of runs, newest first."""

    items: list[ListedRun] = Field(description="runs")
    next: int | None = Field(description="value of `after` for the next page; null at the end")


class MessagePage(BaseModel):
    """A page of messages, newest first."""

    items: list[Message] = Field(description="messages")
    next: int | None = Field(description="value of `after` for the next page; null at the end")


class Series(BaseModel):
    """One task of a track as columns, old to new. Fractions of 1; null if not known."""

    task: str = Field(description="the task")
    uid: list[str] = Field(description="runs")
    position: list[int] = Field(description="days since 1970-01-01, or training steps")
    key: list[str] = Field(description="digest of terms and data; scores of two keys are not compared")
    columns: dict[str, list[float | None]] = Field(description="value, bounds, difference, tokens …")


class SettleRequest(BaseModel):
    """What people found out about a change."""

    model_config = ConfigDict(extra="forbid")

    state: Literal["explained", "dismissed"] = Field(
        description="explained: real and wanted; dismissed: not real"
    )
    note: str = Field(min_length=1, max_length=4000, description="why")


@ledger_router.get("/tracks")
def get_tracks(request: Request) -> TrackPage:
    """List tracks."""
    return TrackPage(items=read_tracks(service(request).ledger))


@ledger_router.get("/tracks/{track}/trend")
def get_trend(
    request: Request,
    track: Name,
    points: Annotated[int, Query(ge=2, le=2000, description="newest runs of each task")] = SHOWN,
    since: Annotated[str | None, Query(max_length=20, description="night or step")] = None,
) -> Trend:
    """Return what a track shows, as `genbench trend --json`."""
    own = service(request)
    require_track(own.ledger, track)
    return compose(read_track(own.ledger, track, points), since=since, points=points)


@ledger_router.get("/tracks/{track}/series/{task}")
def get_series(request: Request, track: Name, task: Name) -> Series:
    """Return one task of a track, over all its runs."""
    try:
        found = task_series(service(request).ledger, track, task)
    except InputError as error:
        raise NotFoundError(str(error)) from error
    names = (
        *("value", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference", "difference_low"),
        *("difference_high", "truncated", "tokens", "cost"),
    )
    columns = {name: [None if math.isnan(x) else float(x) for x in getattr(found, name)] for name in names}
    return Series(
        task=task,
        uid=list(found.uids),
        position=[int(place) for place in found.positions],
        key=list(found.keys),
        columns=columns,
    )


@ledger_router.get("/tracks/{track}/changes")
def get_changes(request: Request, track: Name) -> list[TrendChange]:
    """Return the changes of a track, open ones first."""
    own = service(request)
    require_track(own.ledger, track)
    return list(compose(read_track(own.ledger, track, 2), points=2).changes)


@ledger_router.patch("/tracks/{track}/changes/{change}")
def patch_change(request: Request, track: Name, change: Name, body: SettleRequest) -> TrendChange:
    """Close an open change by what people found out about it."""
    who = require(request, "submit")
    own = service(request)
    require_change(own.ledger, track, change)
    try:
        close_change(own.ledger, track, change, body.state, by=who, note=body.note)
    except InputError as error:
        raise ConflictError(str(error)) from error
    record = compose(read_track(own.ledger, track, 2), points=2)
    return next(item for item in record.changes if item.id == change)


@ledger_router.get("/runs")
def get_runs(
    request: Request,
    track: Annotated[str | None, Query(max_length=100, description="only this track")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="runs of a page")] = 50,
    after: Annotated[int, Query(ge=0, le=1 << 31, description="`next` of the page before")] = 0,
) -> RunPage:
    """List runs, newest first."""
    own = service(request)
    if track is not None:
        require_track(own.ledger, track)
    found = read_runs(own.ledger, track, after, limit + 1)
    return RunPage(items=found[:limit], next=after + limit if len(found) > limit else None)


@ledger_router.get("/runs/{uid}/results", response_class=RunJson)
def get_results(request: Request, uid: Name) -> dict[str, Any]:
    """Return results.json of a run. 410 if its folder is gone."""
    path = run_folder(service(request).ledger, uid) / "results.json"
    found = read_json(path, _RESULTS_BYTES)
    if found is None:
        raise NotFoundError(f"run {uid} has no results yet")
    return found


@ledger_router.get("/messages")
def get_messages(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200, description="messages of a page")] = 50,
    after: Annotated[int | None, Query(ge=1, le=1 << 31, description="`next` of the page before")] = None,
) -> MessagePage:
    """List messages: missing nights and failed jobs, newest first."""
    found = list_messages(service(request).queue, before=after, limit=limit + 1)
    return MessagePage(items=found[:limit], next=found[limit - 1].id if len(found) > limit else None)


router = APIRouter(prefix="/api/v1", tags=["tracks"])


class Remark(BaseModel):
    """A remark on a night or step of a track."""

    id: str = Field(description="name of the remark")
    position: int = Field(description="days since 1970-01-01, or a training step")
    kind: AnnotationKind = Field(description="what it is about")
    text: str = Field(description="the remark")
    by: str = Field(description="its author")
    made: str = Field(description="local time with offset")


class RemarkRequest(BaseModel):
    """A new remark."""

    model_config = ConfigDict(extra="forbid")

    at: str = Field(max_length=20, description="a night like 2026-11-22, or a step")
    kind: AnnotationKind = Field(default="note", description="what it is about")
    text: str = Field(min_length=1, max_length=4000, description="the remark")


class BaseRequest(BaseModel):
    """A new base of a track."""

    model_config = ConfigDict(extra="forbid")

    uid: str = Field(min_length=1, max_length=100, description="the run")
    reason: str = Field(min_length=1, max_length=4000, description="why")


class ScheduleRequest(BaseModel):
    """A job that is submitted by the clock."""

    model_config = ConfigDict(extra="forbid")

    cron: str = Field(max_length=100, description="minute, hour, day, month, weekday")
    zone: str = Field(default="UTC", max_length=100, description="time zone, such as Europe/Berlin")
    job: JobRequest = Field(description="what is submitted; its night is that of each firing")
    deadline_hours: float = Field(default=24.0, gt=0, le=744, description="hours until a night is missing")


@router.get("/tracks/{track}/annotations")
def get_remarks(request: Request, track: Name) -> list[Remark]:
    """Return the remarks on a track, old to new."""
    own = service(request)
    require_track(own.ledger, track)
    found = track_history(own.ledger, track, tasks=(), last=1).annotations
    return [_remark(item) for item in found]


@router.post("/tracks/{track}/annotations", status_code=201)
def post_remark(request: Request, track: Name, body: RemarkRequest) -> Remark:
    """Attach a remark to a night or step. The same remark is kept once."""
    who = require(request, "submit")
    own = service(request)
    require_track(own.ledger, track)
    return _remark(annotate(own.ledger, track, position_of(body.at), body.kind, body.text, by=who))


def _remark(item: AnnotationNote) -> Remark:
    return Remark(
        id=item.id, position=item.position, kind=item.kind, text=item.text, by=item.by, made=item.at
    )


@router.put("/tracks/{track}/base", status_code=204)
def put_base(request: Request, track: Name, body: BaseRequest) -> None:
    """Make a run the base of a track. It is annotated with the reason."""
    who = require(request, "admin")
    own = service(request)
    require_track(own.ledger, track)
    pin_base(own.ledger, track, body.uid, body.reason, by=who)


@router.get("/workers")
def get_workers(request: Request) -> list[Worker]:
    """List workers that have not stopped."""
    return list_workers(service(request).queue)


@router.get("/schedules")
def get_schedules(request: Request) -> list[Schedule]:
    """List schedules by name."""
    return list_schedules(service(request).queue)


@router.put("/schedules/{name}")
def put_schedule(request: Request, name: Name, body: ScheduleRequest) -> Schedule:
    """Make a schedule, or replace the one of that name."""
    who = require(request, "admin")
    own = service(request)
    return add_schedule(
        own.queue,
        name,
        body.cron,
        body.zone,
        job_spec(own, body.job),
        runs=own.runs,
        by=who,
        priority=body.job.priority,
        deadline_hours=body.deadline_hours,
    )


@router.delete("/schedules/{name}", status_code=204)
def delete_schedule(request: Request, name: Name) -> None:
    """Remove a schedule. Its jobs and runs stay."""
    require(request, "admin")
    try:
        remove_schedule(service(request).queue, name)
    except InputError as error:
        raise NotFoundError(str(error)) from error
