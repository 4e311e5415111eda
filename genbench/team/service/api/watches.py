"""The part of the API about watched training runs."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from genbench.team.service.context import service
from genbench.team.service.queries import Name
from genbench.team.service.responses import NotFoundError, refused_as
from genbench.team.watch.watches import Watch, get_watch, list_watches

router = APIRouter(prefix="/api/v1/watches", tags=["watches"])
_SHOWN = 200


class WatchPage(BaseModel):
    """All watches."""

    items: list[Watch] = Field(description="watches by name, each with its newest checkpoints")


@router.get("")
def get_watches(request: Request) -> WatchPage:
    """List watched training runs, with what became of each checkpoint."""
    return WatchPage(items=list_watches(service(request).queue, checkpoints=_SHOWN))


@router.get("/{name}")
def get_one(request: Request, name: Name) -> Watch:
    """Return one watch with its checkpoints."""
    with refused_as(NotFoundError):
        return get_watch(service(request).queue, name, checkpoints=_SHOWN)
