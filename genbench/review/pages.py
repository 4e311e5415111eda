"""Pages on which people review: plans, the queue of one, an item, and what the labels say.

Until a person has labelled an item, no page with it names a model, a run or a verdict, and no address does.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool

from genbench.analysis.corrected import FOLDER
from genbench.errors import GenbenchError, InputError
from genbench.nights.ledger import tables
from genbench.review.export import KINDS, export_labels
from genbench.review.items import ReviewTexts, ShownItem
from genbench.review.questions import question_of
from genbench.review.reviews import PLAN, ReviewFolder, review_order
from genbench.review.summary import add_vote, review_summary, review_text, withdraw_vote
from genbench.team.service.added_pages import AddedPages
from genbench.team.service.context import Service, require, service
from genbench.team.service.pages.forms import checked_form
from genbench.team.service.queries import Name
from genbench.team.service.responses import NotFoundError, page

router = APIRouter()
_DEPTHS = ("", "*/", "*/*/")
"""Where plans are below the folder of runs: of the folder itself, of a track, and of a night."""
Item = Annotated[str, Query(max_length=40)]


@dataclass(frozen=True, slots=True)
class OpenedPlans:
    """What is kept of the plans that were asked for."""

    folders: dict[str, FilePath] = field(default_factory=dict)
    """Their folders by digest."""
    texts: ReviewTexts = field(default_factory=ReviewTexts)


def _add(app: FastAPI) -> None:
    app.state.reviews = OpenedPlans()
    app.include_router(router, include_in_schema=False)


PAGES = AddedPages(_add, package="genbench.review", scripts=("review.js",))


def _opened(request: Request) -> OpenedPlans:
    found = request.app.state.reviews
    assert isinstance(found, OpenedPlans)
    return found


def review_plans(own: Service) -> Iterator[ReviewFolder]:
    """Yield the plans next to runs of the ledger and below the folder of runs. Damaged ones are left out."""
    places = {path for depth in _DEPTHS for path in own.runs.glob(f"{depth}{FOLDER}/*/{PLAN}")}
    known = own.ledger.rows(select(tables.location.c.path).where(tables.location.c.present))
    for folder in {FilePath(row.path).parent / FOLDER for row in known}:
        places |= set(folder.glob(f"*/{PLAN}"))
    seen = set[str]()
    for path in sorted(path.resolve() for path in places):
        try:
            found = ReviewFolder.open(path.parent)
        except GenbenchError:
            continue
        if found.plan.plan not in seen:
            seen.add(found.plan.plan)
            yield found


def _found(request: Request, plan: str) -> ReviewFolder:
    """Return the folder of a plan.

    Raises:
        NotFoundError: there is none of this digest.
    """
    folders = _opened(request).folders
    known = folders.get(plan)
    if known is not None and (known / PLAN).is_file():
        found = ReviewFolder.open(known)
        if found.plan.plan == plan:
            return found
    for place in review_plans(service(request)):
        if place.plan.plan == plan:
            folders[plan] = place.path
            return place
    raise NotFoundError(f"there is no review plan '{plan[:40]}'; genbench label RUN --task TASK makes one")


@dataclass(frozen=True, slots=True)
class PlanLine:
    """A plan in the list. `waiting` are items for who asks."""

    plan: str
    task: str
    kind: str
    items: int
    done: int
    waiting: int


@router.get("/review")
def plans_page(request: Request) -> HTMLResponse:
    """Return the list of plans, with what waits for the person who asks."""
    own, who = service(request), request.state.caller.name
    lines = [
        PlanLine(
            plan=place.plan.plan,
            task=place.plan.task,
            kind=question_of(place.plan).listed,
            items=len(place.plan.items),
            done=sum(bool(place.in_force.get(item.item)) for item in place.plan.items),
            waiting=len(place.waiting(who) or place.returning(who)),
        )
        for place in review_plans(own)
    ]
    return page(request, "review_plans.html.j2", lines=lines)


@router.get("/review/{plan}")
def queue_page(request: Request, plan: Name) -> HTMLResponse:
    """Return the queue of a plan: what waits for the person who asks, and what they said."""
    who = require(request, "reviewer")
    place = _found(request, plan)
    mine = [
        (item.item, place.in_force[item.item][who])
        for item in place.plan.items
        if who in place.in_force.get(item.item, {})
    ]
    return page(
        request,
        "review_queue.html.j2",
        plan=place.plan,
        waiting=place.waiting(who) or place.returning(who),
        mine=mine,
        last=place.last_item(who),
        form=secrets.token_hex(8),
    )


@router.get("/review/{plan}/next")
def next_item(request: Request, plan: Name, after: Item = "") -> Response:
    """Go to the next item that waits, after one that is skipped. The first follows the last."""
    who = require(request, "reviewer")
    place = _found(request, plan)
    return RedirectResponse(_next(place, who, after), 303)


def _next(place: ReviewFolder, who: str, after: str) -> str:
    """Return the address of the next item of a person, or of the queue if nothing waits."""
    waiting, back, start = place.waiting(who), place.returning(who), f"/review/{place.plan.plan}"
    if not waiting and not back:
        return start
    place_of = review_order(who, after) if after else ""
    later = [item for item in waiting or back if review_order(who, item) > place_of]
    return f"{start}/items/{(later or waiting or back)[0]}{'' if waiting else '?again=1'}"


@router.get("/review/{plan}/items/{item}")
def item_page(request: Request, plan: Name, item: Name, again: bool = False) -> HTMLResponse:
    """Return an item. What the machine says of it is shown to who has labelled it.

    An item that came back looks as it did the first time.
    """
    who = require(request, "reviewer")
    place = _found(request, plan)
    shown = _shown(request, place, item)
    back = place.returning(who)
    again = again and item in back
    said = None if again else place.in_force.get(item, {}).get(who)
    settles = said is None and place.may_settle(item, who)
    return page(
        request,
        "review_item.html.j2",
        plan=place.plan,
        item=shown,
        names=question_of(place.plan).names,
        said=said,
        others=sorted(place.independent(item).values()) if settles else [],
        verdicts=shown.verdicts if said is not None else (),
        left=len(place.waiting(who)) or len(back),
        last=place.last_item(who),
        again=again,
        form=secrets.token_hex(8),
    )


def _shown(request: Request, place: ReviewFolder, item: str) -> ShownItem:
    """Return an item with its texts.

    Raises:
        NotFoundError: the plan has no such item.
    """
    found = _opened(request).texts.of(place.plan).get(item)
    if found is None:
        raise NotFoundError(f"this plan has no item '{item[:40]}'")
    return found


@router.post("/forms/review/{plan}/vote")
async def post_vote(request: Request, plan: Name) -> Response:
    """Store a label, once for each form, and go to the next item."""
    who, fields = await checked_form(request, "reviewer")
    return RedirectResponse(await run_in_threadpool(_vote, request, plan, who, fields), 303)


def _vote(request: Request, plan: str, who: str, fields: dict[str, str]) -> str:
    place, item = _found(request, plan), fields.get("item", "")[:40]
    if _shown(request, place, item).is_void:
        raise InputError("this answer was drawn again since the plan was made, so it cannot be reviewed")
    add_vote(
        place.path,
        item,
        who,
        fields.get("label", "")[:200],
        fields.get("form", "")[:40],
        comment=fields.get("comment", "").strip()[:4000],
        seconds=_seconds(fields.get("seconds", "")),
        again=fields.get("again") == "1",
    )
    return _next(ReviewFolder.open(place.path), who, item)


def _seconds(text: str) -> float | None:
    """Return the time that a page's script measured, or None without scripts."""
    whole, _, part = text.partition(".")
    is_number = whole.isdecimal() and len(whole) < 7 and (not part or part.isdecimal()) and text.isascii()
    return float(text) if is_number else None


@router.post("/forms/review/{plan}/undo")
async def post_undo(request: Request, plan: Name) -> Response:
    """Take back the label of an item, and show the item again."""
    who, fields = await checked_form(request, "reviewer")
    place, item = _found(request, plan), fields.get("item", "")[:40]
    again = "?again=1" if who in place.again.get(item, {}) else ""
    await run_in_threadpool(withdraw_vote, place.path, item, who, fields.get("form", "")[:40])
    return RedirectResponse(f"/review/{place.plan.plan}/items/{quote(item, safe='')}{again}", 303)


@router.get("/review/{plan}/labels.{kind}")
def labels_file(request: Request, plan: Name, kind: Name) -> Response:
    """Return the labels in force as a file: csv, jsonl, or json for Label Studio."""
    require(request, "read")
    place = _found(request, plan)
    if kind not in KINDS:
        raise NotFoundError(
            f"there is no file labels.{kind[:20]}; there are labels.{', labels.'.join(KINDS)}"
        )
    headers = {"Content-Disposition": f'attachment; filename="labels.{kind}"'}
    return Response(export_labels(place.path, kind), media_type="text/plain; charset=utf-8", headers=headers)


@router.get("/review/{plan}/summary")
def summary_page(request: Request, plan: Name) -> HTMLResponse:
    """Return what the labels of a plan say: scores, agreement, people, preferences."""
    require(request, "read")
    place = _found(request, plan)
    record = review_summary(place.path)
    return page(
        request,
        "review_summary.html.j2",
        plan=place.plan,
        record=record,
        lines=review_text(record).splitlines(),
    )
