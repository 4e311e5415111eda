"""The part of the API about jobs."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import insert, select

from genbench.errors import InputError
from genbench.runs.options import request_keys
from genbench.store.clock import wall_seconds
from genbench.team.queue import tables
from genbench.team.queue.jobs import (
    cancel_job,
    get_job,
    insert_job,
    job_events,
    job_of,
    list_jobs,
    log_lines,
    require_job,
    retry_job,
    set_priority,
)
from genbench.team.queue.records import LIVE, Job, JobDetail, JobEvent, JobState
from genbench.team.queue.spec import JobSpec, PlacedSpec, checked_spec, with_run_options
from genbench.team.service.context import Service, caller, require, service
from genbench.team.service.responses import ConflictError, ForbiddenError, NotFoundError, refused_as
from genbench.team.service.submitted_suites import MOST_CHARS, store_suite

router = APIRouter(prefix="/api/v1/jobs", tags=["jobs"])
_STREAM_S = 300.0
_POLL_S = 1.0
_LARGEST = (1 << 31) - 1
Number = Annotated[int, Field(ge=1, le=_LARGEST)]


@with_run_options(request_keys(), sequence=list)
class _RequestedRun(BaseModel):
    model_config = ConfigDict(extra="forbid")

    suite: str = Field(max_length=100, description="name of a suite of this service, or of `suite_text`")
    suite_text: str | None = Field(
        default=None,
        max_length=MOST_CHARS,
        description="a suite of the client's own, if the service takes some",
    )
    models: dict[str, str | None] = Field(
        default={},
        max_length=50,
        description="model of the suite -> ORG/NAME or a folder below the service's roots; null: the suite's",
    )


class JobRequest(_RequestedRun):
    """A job that a client asks for. Suites are those that the service offers."""

    # Options that RunOptions declares with a key for requests are fields too, between these and those above.
    priority: int = Field(default=5, ge=0, le=9, description="higher ones start first")


class JobPage(BaseModel):
    """A page of jobs, newest first."""

    items: list[Job] = Field(description="jobs")
    next: int | None = Field(description="value of `after` for the next page; null at the end")


class PriorityRequest(BaseModel):
    """A new priority."""

    model_config = ConfigDict(extra="forbid")

    priority: int = Field(ge=0, le=9, description="higher ones start first")


@router.get("")
def get_jobs(
    request: Request,
    state: Annotated[list[JobState] | None, Query(description="only these states")] = None,
    track: Annotated[str | None, Query(max_length=100, description="only this track")] = None,
    limit: Annotated[int, Query(ge=1, le=200, description="jobs of a page")] = 50,
    after: Annotated[Number | None, Query(description="`next` of the page before")] = None,
) -> JobPage:
    """List jobs, newest first."""
    found = list_jobs(service(request).queue, states=state or (), track=track, before=after, limit=limit + 1)
    return JobPage(items=found[:limit], next=found[limit - 1].id if len(found) > limit else None)


@router.post("", status_code=201)
def post_job(
    request: Request,
    response: Response,
    body: JobRequest,
    idempotency_key: Annotated[str | None, Header(max_length=200)] = None,
) -> Job:
    """Put a job into the queue: 201 for a new one, 200 if the same work is there already."""
    who = require(request, "submit")
    job, is_new = enqueue(service(request), body, who, idempotency_key)
    response.status_code = 201 if is_new else 200
    return job


def job_spec(own: Service, body: JobRequest) -> JobSpec:
    """Return what a client asks for, with the paths of this service.

    Raises:
        InputError: the service does not offer the suite or model, or the client's suite is refused.
        ForbiddenError: the service takes no suites of clients.
    """
    if body.suite_text is not None and not own.allow_suites:
        offered = ", ".join(sorted(own.suites)) or "none"
        raise ForbiddenError(
            f"this service takes no suites of clients (see serve --allow-suites); it offers: {offered}"
        )
    text = body.suite_text
    return JobSpec(
        suite=str(own.suite(body.suite) if text is None else store_suite(own, body.suite, text)),
        models={name: None if path is None else own.model(path) for name, path in body.models.items()},
        **{key.name: getattr(body, key.name) for key in request_keys().values()},
    )


def _placed(own: Service, body: JobRequest) -> PlacedSpec:
    """Return the checked job. Messages about a client's own suite name its file as the client knows it."""
    spec = job_spec(own, body)
    try:
        return checked_spec(spec)
    except InputError as error:
        if body.suite_text is None:
            raise
        raise InputError(str(error).replace(f"{Path(spec.suite).parent}/", "")) from error


def enqueue(own: Service, body: JobRequest, who: str, key: str | None = None) -> tuple[Job, bool]:
    """Put a job into the queue. Return it, and whether it is new.

    Args:
        key: the Idempotency-Key of the request. One that came before gives the same job again.

    Raises:
        InputError: the service does not offer the suite or model, or an option is wrong.
        QueueFullError: too many jobs wait.
        ConflictError: the key came with another body before.
    """
    placed = _placed(own, body)
    digest = hashlib.sha256(body.model_dump_json().encode()).hexdigest()
    with own.queue.write() as connection:
        number, is_new = _remembered(connection, who, key, digest), False
        if number is None:
            runs = own.runs.resolve()
            number, is_new = insert_job(connection, placed, runs, by=who, priority=body.priority)
            if key is not None:
                values = {"owner": who, "key": key, "body": digest, "job_id": number, "at": wall_seconds()}
                connection.execute(insert(tables.idempotency).values(values))
        return job_of(require_job(connection, number)), is_new


def _remembered(connection: Any, who: str, key: str | None, digest: str) -> int | None:
    """Return the job that belongs to an Idempotency-Key, or None if it is new.

    Raises:
        ConflictError: the key came with another body before.
    """
    if key is None:
        return None
    table = tables.idempotency
    row = connection.execute(select(table).where(table.c.owner == who, table.c.key == key)).first()
    if row is None:
        return None
    if row.body != digest:
        raise ConflictError(f"Idempotency-Key '{key[:50]}' came with another body before; take a new key")
    return int(row.job_id)


@router.get("/{number}")
def get_one(request: Request, number: Number) -> Job:
    """Return one job."""
    return _found(request, number)


@router.get("/{number}/detail")
def get_detail(request: Request, number: Number) -> JobDetail:
    """Return one job with its events and the end of its log, as `genbench queue list ID --json`."""
    job = _found(request, number)
    events = tuple(job_events(service(request).queue, number))
    return JobDetail(format=1, job=job, created=False, events=events, log=log_lines(job, 20))


@router.patch("/{number}")
def patch_one(request: Request, number: Number, body: PriorityRequest) -> Job:
    """Change the priority of a job."""
    who = require(request, "submit")
    _found(request, number)
    return set_priority(service(request).queue, number, body.priority, by=who)


@router.post("/{number}/cancel")
def post_cancel(request: Request, number: Number) -> Job:
    """Stop a job cleanly."""
    who = require(request, "submit")
    _found(request, number)
    with refused_as(ConflictError):
        return cancel_job(service(request).queue, number, by=who)


@router.post("/{number}/retry")
def post_retry(request: Request, number: Number) -> Job:
    """Queue a failed or cancelled job again."""
    who = require(request, "submit")
    _found(request, number)
    with refused_as(ConflictError):
        return retry_job(service(request).queue, number, by=who)


@router.get("/{number}/log", response_class=PlainTextResponse)
def get_log(request: Request, number: Number) -> PlainTextResponse:
    """Return the end of a job's log as text."""
    return PlainTextResponse("\n".join(log_lines(_found(request, number), 500)))


@router.get("/{number}/events", response_class=StreamingResponse)
async def get_events(
    request: Request,
    number: Number,
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> StreamingResponse:
    """Stream what happens to a job as server-sent events. A request continues after its Last-Event-ID."""
    await run_in_threadpool(_found, request, number)
    last = int(last_event_id) if last_event_id and last_event_id.isdecimal() else 0
    events = _stream(service(request), number, min(last, _LARGEST))
    return StreamingResponse(events, media_type="text/event-stream")


async def _stream(own: Service, number: int, last: int) -> AsyncIterator[str]:
    """Yield events until the job is over, or for some minutes."""
    until = time.monotonic() + _STREAM_S
    while time.monotonic() < until:
        # The state is read first, so that no event of an ended job is missed.
        job = await run_in_threadpool(get_job, own.queue, number)
        for event in await run_in_threadpool(job_events, own.queue, number, last):
            last = event.id
            yield _event_text(event)
        if job.state not in LIVE:
            return
        await asyncio.sleep(_POLL_S)


def _event_text(event: JobEvent) -> str:
    return f"id: {event.id}\nevent: {event.what.replace(' ', '-')}\ndata: {json.dumps(event.to_json())}\n\n"


def _found(request: Request, number: int) -> Job:
    caller(request)
    with refused_as(NotFoundError):
        return get_job(service(request).queue, number)
