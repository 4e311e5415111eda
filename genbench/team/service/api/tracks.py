"""The part of the API about remarks and bases of tracks, workers and schedules."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from genbench.nights.ledger.changes import annotate, pin_base, position_of
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.notes import AnnotationKind, AnnotationNote
from genbench.team.queue.jobs import list_workers
from genbench.team.queue.records import Schedule, Worker
from genbench.team.queue.schedules import add_schedule, list_schedules, remove_schedule
from genbench.team.service.api.jobs import JobRequest, job_spec
from genbench.team.service.context import require, service
from genbench.team.service.queries import (
    Name,
    require_track,
)
from genbench.team.service.responses import NotFoundError, refused_as

router = APIRouter(prefix="/api/v1", tags=["tracks"])


class Remark(BaseModel):
    """A remark on a night or step of a track."""

    id: str = Field(description="name of the remark")
    position: int = Field(description="days since 1970-01-01, or a training step")
    kind: AnnotationKind = Field(description="what it is about")
    text: str = Field(description="the remark")
    by: str = Field(description="its author")
    made: str = Field(validation_alias="at", description="local time with offset")


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
    return Remark.model_validate(item, from_attributes=True)


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
    with refused_as(NotFoundError):
        remove_schedule(service(request).queue, name)
