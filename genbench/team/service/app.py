"""The application: its routes, its errors, the description of the API, and the server below it.

The pages are not a part of the description of the API.
"""

from __future__ import annotations

import asyncio
import json
import resource
from collections import OrderedDict
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn.protocols.http.auto import AutoHTTPProtocol

import genbench
from genbench.team.service import responses
from genbench.team.service.added_pages import added_pages
from genbench.team.service.api import health, jobs, ledger, tracks, watches
from genbench.team.service.api import runs as api_runs
from genbench.team.service.context import Service
from genbench.team.service.middleware import EntityTags, Guard
from genbench.team.service.pages import evidence, forms, overview, runs
from genbench.team.service.responses import Problem, page_templates

_API = (health, jobs, ledger, api_runs, tracks, watches)
"""The parts of the API, each with its routes."""
_PAGES = (overview, runs, evidence, forms)
_MEDIA = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "refused, with the reason", "model": Problem, "content": _MEDIA},
    "5XX": {"description": "failed, with the reason", "model": Problem, "content": _MEDIA},
}


def make_app(own: Service) -> ASGIApp:
    """Return the application of a service, behind its guard."""
    return Guard(EntityTags(make_api(own)), own)


def make_api(own: Service | None) -> FastAPI:
    """Return the application without its guard. Without a service it only describes itself."""
    app = FastAPI(
        title="genbench",
        version=genbench.__version__,
        description="Tracks, runs, changes and jobs. Times are local with offset; fractions are of 1.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        responses=_ERRORS,
    )
    app.state.service, app.state.templates = own, page_templates()
    responses.install(app)
    for part in _API:
        app.include_router(part.router)
    for part in _PAGES:
        app.include_router(part.router, include_in_schema=False)
    for pages in added_pages():
        pages.add(app)
    return app


_HEADER_S = 10.0
"""Seconds in which the head of a request must have arrived."""


class WaitingConnections:
    """Connections that have not sent the whole head of a request, oldest first.

    They cost a descriptor each, and a client that never ends its heads could take all. So the oldest one is
    closed if there are too many, and each after 10 seconds.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._timers: OrderedDict[asyncio.Transport, asyncio.TimerHandle] = OrderedDict()

    def add(self, transport: asyncio.Transport) -> None:
        """Let a connection wait, and close the oldest one if there are too many."""
        if transport in self._timers:
            return
        self._timers[transport] = asyncio.get_running_loop().call_later(_HEADER_S, self._close, transport)
        while len(self._timers) > self._most:
            self._close(next(iter(self._timers)))

    def remove(self, transport: asyncio.Transport) -> None:
        """Let a connection wait no longer: its head is whole, or it was lost."""
        timer = self._timers.pop(transport, None)
        if timer is not None:
            timer.cancel()

    def _close(self, transport: asyncio.Transport) -> None:
        self.remove(transport)
        transport.abort()


def server_config(application: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> uvicorn.Config:
    """Return the settings of the server of an application.

    A quarter of the process's descriptors may belong to connections that have sent no whole request.
    """
    most = min(512, max(8, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4))
    waiting = WaitingConnections(most)

    class Connection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
        """A connection that waits for the head of its next request from its begin and after each answer."""

        def connection_made(self, transport: asyncio.Transport) -> None:
            super().connection_made(transport)
            waiting.add(transport)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._note()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._note()

        def connection_lost(self, exc: Exception | None) -> None:
            waiting.remove(self.transport)
            super().connection_lost(exc)

        def _note(self) -> None:
            if self.transport.is_closing() or (self.cycle is not None and not self.cycle.response_complete):
                waiting.remove(self.transport)
            else:
                waiting.add(self.transport)

    return uvicorn.Config(
        application,
        host=host,
        port=port,
        http=Connection,
        # asyncio accepts up to so many connections before it looks at the first of them.
        backlog=most,
        # Pages that follow a job keep their connection open.
        timeout_graceful_shutdown=5,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
    )


OPENAPI_FILE = Path("docs") / "openapi.json"


def openapi_text() -> str:
    """Return the committed OpenAPI document of the API. `python -m genbench.team.service.app` writes it."""
    return json.dumps(make_api(None).openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    OPENAPI_FILE.write_text(openapi_text(), encoding="utf-8")
    print(f"wrote {OPENAPI_FILE}")
