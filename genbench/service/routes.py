"""All routes of the service: the API, and the pages, which are no part of its description."""

from __future__ import annotations

from fastapi import FastAPI

from genbench.service import (
    api_jobs,
    api_ledger,
    api_push,
    api_runs,
    api_tracks,
    api_watches,
    forms,
    pages,
    pages_tracks,
    pages_watches,
)

_API = (
    api_jobs.router,
    api_push.router,
    api_ledger.router,
    api_runs.router,
    api_tracks.router,
    api_watches.router,
)
_PAGES = (pages.router, pages_tracks.router, pages_watches.router, forms.router)


def include_routes(app: FastAPI) -> None:
    """Add the routes to an application."""
    for router in _API:
        app.include_router(router)
    for router in _PAGES:
        app.include_router(router, include_in_schema=False)
