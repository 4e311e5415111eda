"""The part of the API about what the ledger has: tracks, their changes, runs and messages."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from genbench.nights.ledger.changes import close_change
from genbench.nights.ledger.history import task_series
from genbench.nights.ledger.listing import ListedRun, ListedTrack, list_ledger
from genbench.nights.trend.compose import SHOWN, compose, read_track
from genbench.nights.trend.record import Trend, TrendChange
from genbench.store.json_files import read_json
from genbench.team.queue.messages import Message, list_messages
from genbench.team.service.context import require, service
from genbench.team.service.queries import (
    Name,
    RunJson,
    RunSearch,
    found_change,
    read_runs,
    require_change,
    require_track,
    run_folder,
)
from genbench.team.service.responses import ConflictError, NotFoundError, refused_as

router = APIRouter(prefix="/api/v1", tags=["ledger"])
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


@router.get("/tracks")
def get_tracks(request: Request) -> TrackPage:
    """List tracks."""
    return TrackPage(items=list(list_ledger(service(request).ledger).tracks))


@router.get("/tracks/{track}/trend")
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


@router.get("/tracks/{track}/series/{task}")
def get_series(request: Request, track: Name, task: Name) -> Series:
    """Return one task of a track, over all its runs."""
    with refused_as(NotFoundError):
        found = task_series(service(request).ledger, track, task)
    names = (
        *("value", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference", "difference_low"),
        *("difference_high", "truncated", "loops", "empty", "tokens", "cost"),
    )
    columns = {name: [None if math.isnan(x) else float(x) for x in getattr(found, name)] for name in names}
    return Series(
        task=task,
        uid=list(found.uids),
        position=[int(place) for place in found.positions],
        key=list(found.keys),
        columns=columns,
    )


@router.get("/tracks/{track}/changes")
def get_changes(request: Request, track: Name) -> list[TrendChange]:
    """Return the changes of a track, open ones first."""
    own = service(request)
    require_track(own.ledger, track)
    return list(compose(read_track(own.ledger, track, 2), points=2).changes)


@router.patch("/tracks/{track}/changes/{change}")
def patch_change(request: Request, track: Name, change: Name, body: SettleRequest) -> TrendChange:
    """Close an open change by what people found out about it."""
    who = require(request, "submit")
    own = service(request)
    require_change(own.ledger, track, change)
    with refused_as(ConflictError):
        close_change(own.ledger, track, change, body.state, by=who, note=body.note)
    record = compose(read_track(own.ledger, track, 2), points=2)
    return found_change(record.changes, change)


@router.get("/runs")
def get_runs(  # noqa: PLR0917 - FastAPI passes them by name
    request: Request,
    text: Annotated[str, Query(max_length=200, description="words of names, reasons and remarks")] = "",
    model: Annotated[str, Query(max_length=100, description="a part of the model's name")] = "",
    track: Annotated[str | None, Query(max_length=100, description="only this track")] = None,
    suite: Annotated[str, Query(max_length=100, description="only this suite")] = "",
    since: Annotated[str, Query(max_length=10, description="made on this date or later")] = "",
    until: Annotated[str, Query(max_length=10, description="made on this date or before")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="runs of a page")] = 50,
    after: Annotated[int, Query(ge=0, le=1 << 31, description="`next` of the page before")] = 0,
) -> RunPage:
    """List runs, newest first."""
    own = service(request)
    if track is not None:
        require_track(own.ledger, track)
    wanted = RunSearch(text, model, track or "", suite, since, until)
    found = read_runs(own.ledger, wanted, after, limit + 1)
    return RunPage(items=found[:limit], next=after + limit if len(found) > limit else None)


@router.get("/runs/{uid}/results", response_class=RunJson)
def get_results(request: Request, uid: Name) -> dict[str, Any]:
    """Return results.json of a run. 410 if its folder is gone."""
    path = run_folder(service(request).ledger, uid) / "results.json"
    found = read_json(path, _RESULTS_BYTES)
    if found is None:
        raise NotFoundError(f"run {uid} has no results yet")
    return found


@router.get("/messages")
def get_messages(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=200, description="messages of a page")] = 50,
    after: Annotated[int | None, Query(ge=1, le=1 << 31, description="`next` of the page before")] = None,
) -> MessagePage:
    """List messages: missing nights and failed jobs, newest first."""
    found = list_messages(service(request).queue, before=after, limit=limit + 1)
    return MessagePage(items=found[:limit], next=found[limit - 1].id if len(found) > limit else None)
