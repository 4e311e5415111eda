"""The page of watched training runs, and the one that begins a session."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from genbench.service.access import service
from genbench.service.templating import page
from genbench.watch.entries import list_watches

router = APIRouter()


@router.get("/watches")
def watches_page(request: Request) -> HTMLResponse:
    """Return the page of watches: each checkpoint with its state, and why."""
    return page(request, "watches.html.j2", watches=list_watches(service(request).queue, checkpoints=100))


@router.get("/login")
def login_page(request: Request) -> HTMLResponse:
    """Return the page on which somebody shows a token."""
    return page(request, "login.html.j2")
