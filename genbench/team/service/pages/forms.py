"""Forms of the pages, with which people act in a browser. A refusal has the sentence of the command line."""

from __future__ import annotations

from typing import Literal
from urllib.parse import parse_qsl, quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from genbench.errors import InputError
from genbench.nights.ledger.changes import (
    annotate,
    annotation_kind,
    close_change,
    pin_base,
    position_of,
    settled_state,
)
from genbench.team.queue.jobs import cancel_job, retry_job
from genbench.team.service.api.jobs import JobRequest, Number, enqueue
from genbench.team.service.context import caller, require, service
from genbench.team.service.queries import Name
from genbench.team.service.tokens import COOKIE, HOURS, Scope, caller_of

router = APIRouter(prefix="/forms")
_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 30


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        HTTPException: 415, it is not a form; 400, it has too many fields.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _FORM:
        raise HTTPException(415, f"wanted a form ({_FORM})")
    text = (await request.body()).decode("utf-8", "replace")
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError as error:
        raise HTTPException(400, f"the form cannot be read: {error}") from error


async def checked_form(request: Request, scope: Scope) -> tuple[str, dict[str, str]]:
    """Return who sends a form, and its fields.

    Raises:
        HTTPException: 403, the form is not from a page that was shown to them, or they lack the scope.
    """
    fields = await read_form(request)
    who = require(request, scope)
    if not service(request).sessions.is_form_token(who, fields.get("form_token", "")):
        raise HTTPException(403, "the form is too old; open its page again")
    return who, fields


def _back(path: str) -> RedirectResponse:
    return RedirectResponse(path, 303)


@router.post("/login")
async def post_login(request: Request) -> Response:
    """Begin the session of somebody who shows a token."""
    own, fields = service(request), await read_form(request)
    found = await run_in_threadpool(caller_of, own.queue, fields.get("token", "").strip())
    if found is None:
        raise HTTPException(403, "this token is unknown, revoked or expired")
    answer = _back("/review" if found.scope == "reviewer" else "/")
    cookie = own.sessions.open(found.name)
    answer.set_cookie(
        COOKIE, cookie, max_age=HOURS * 3600, secure=True, httponly=True, samesite="strict", path="/"
    )
    return answer


@router.post("/logout")
async def post_logout(request: Request) -> Response:
    """End the session of this browser."""
    await checked_form(request, "reviewer" if caller(request).scope == "reviewer" else "read")
    service(request).sessions.close(request.headers.get("cookie", ""))
    answer = _back("/login")
    answer.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")
    return answer


@router.post("/jobs")
async def post_job(request: Request) -> Response:
    """Put a job into the queue."""
    who, fields = await checked_form(request, "submit")
    body = _job_request(fields)
    job, _ = await run_in_threadpool(enqueue, service(request), body, who)
    return _back(f"/jobs/{job.id}")


def _job_request(fields: dict[str, str]) -> JobRequest:
    """Return the request of a form.

    Raises:
        InputError: the priority is not a number.
    """
    priority, model = fields.get("priority") or "5", fields.get("model", "").strip()
    if not priority.isdecimal() or int(priority) > 9:
        raise InputError(f"priority '{priority[:20]}': wanted 0 to 9")
    return JobRequest.model_validate(
        {
            "suite": fields.get("suite", "")[:100],
            "models": {model[:100]: fields.get("path", "").strip()[:4096] or None} if model else {},
            "track": fields.get("track", "").strip()[:100] or None,
            "night": fields.get("night", "").strip()[:10] or None,
            "priority": int(priority),
        }
    )


@router.post("/jobs/{number}/{what}")
async def post_job_action(request: Request, number: Number, what: Name) -> Response:
    """Stop a job, or queue it again."""
    who, _ = await checked_form(request, "submit")
    act = {"cancel": cancel_job, "retry": retry_job}.get(what)
    if act is None:
        raise HTTPException(404, f"nothing is called '{what[:20]}'; there are cancel and retry")
    await run_in_threadpool(act, service(request).queue, number, by=who)
    return _back(f"/jobs/{number}")


@router.post("/tracks/{track}/notes")
async def post_note(request: Request, track: Name) -> Response:
    """Attach a remark to a night or step."""
    who, fields = await checked_form(request, "submit")
    position = position_of(fields.get("at", ""))
    kind = annotation_kind(fields.get("kind", "note"))
    text = fields.get("text", "")[:4000]
    await run_in_threadpool(annotate, service(request).ledger, track, position, kind, text, by=who)
    return _back(f"/tracks/{quote(track, safe='')}")


@router.post("/tracks/{track}/base")
async def post_base(request: Request, track: Name) -> Response:
    """Make a run the base of a track."""
    who, fields = await checked_form(request, "admin")
    uid, reason = fields.get("uid", "")[:100], fields.get("reason", "")[:4000]
    await run_in_threadpool(pin_base, service(request).ledger, track, uid, reason, by=who)
    return _back(f"/tracks/{quote(track, safe='')}")


@router.post("/tracks/{track}/changes/{change}")
async def post_change(request: Request, track: Name, change: Name) -> Response:
    """Close a change by what people found out about it."""
    who, fields = await checked_form(request, "submit")
    note = fields.get("note", "").strip()[:4000]
    if not note:
        raise InputError("say why in the note")
    is_real = settled_state(fields.get("state", "")) == "explained"
    state: Literal["explained", "dismissed"] = "explained" if is_real else "dismissed"
    await run_in_threadpool(close_change, service(request).ledger, track, change, state, by=who, note=note)
    return _back(f"/tracks/{quote(track, safe='')}/changes/{quote(change, safe='')}")
