"""The application: routes, errors, health and metrics.

The pages are no part of the description of the API.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from pydantic import BaseModel, Field
from starlette.types import ASGIApp

import genbench
from genbench.queue.jobs import count_jobs, list_workers
from genbench.service import responses
from genbench.service.api import jobs, runs, tracks, watches
from genbench.service.context import Service, service
from genbench.service.middleware import EntityTags, Guard
from genbench.service.pages import evidence, forms, overview
from genbench.service.responses import Problem, page_templates

_API = (
    jobs.router,
    runs.push_router,
    tracks.ledger_router,
    runs.router,
    tracks.router,
    watches.router,
)
_PAGES = (overview.router, evidence.router, overview.watches_router, forms.router)


def include_routes(app: FastAPI) -> None:
    """Add the routes to an application."""
    for router in _API:
        app.include_router(router)
    for router in _PAGES:
        app.include_router(router, include_in_schema=False)


_WORKER_S = 120.0
_LEAST_FREE = 0.05
_MEDIA = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "refused, with the reason", "model": Problem, "content": _MEDIA},
    "5XX": {"description": "failed, with the reason", "model": Problem, "content": _MEDIA},
}


class Health(BaseModel):
    """Whether the service answers."""

    status: str = Field(description="always ok")
    version: str = Field(description="version of genbench")


class Ready(BaseModel):
    """Whether runs can be drawn."""

    ready: bool = Field(description="whether all of the following hold")
    workers: int = Field(description="workers that were seen in the last two minutes")
    disk_free: float = Field(description="free share of the disk of run folders")


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
    include_routes(app)
    app.add_api_route("/api/v1/health", _health, methods=["GET"], tags=["service"])
    app.add_api_route("/api/v1/ready", _ready, methods=["GET"], tags=["service"])
    app.add_api_route(
        "/api/v1/metrics", _metrics, methods=["GET"], tags=["service"], response_class=PlainTextResponse
    )
    return app


def _health() -> Health:
    """Return that the service answers."""
    return Health(status="ok", version=genbench.__version__)


def _ready(request: Request) -> Ready:
    """Return whether runs can be drawn: a worker is alive, and the disk has space."""
    own = service(request)
    workers = sum(worker.seen_s < _WORKER_S for worker in list_workers(own.queue))
    free = _free(own)
    return Ready(ready=workers > 0 and free >= _LEAST_FREE, workers=workers, disk_free=round(free, 3))


def _free(own: Service) -> float:
    folder = own.runs.resolve()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    return usage.free / usage.total


def _metrics(request: Request) -> PlainTextResponse:
    """Return numbers for Prometheus."""
    own, registry = service(request), CollectorRegistry()
    jobs = Gauge("genbench_jobs", "Jobs by state", ["state"], registry=registry)
    for state, count in count_jobs(own.queue).items():
        jobs.labels(state).set(count)
    workers = Gauge("genbench_workers", "Workers seen in two minutes", registry=registry)
    workers.set(sum(worker.seen_s < _WORKER_S for worker in list_workers(own.queue)))
    disk = Gauge("genbench_disk_free_ratio", "Free share of the disk of run folders", registry=registry)
    disk.set(_free(own))
    return PlainTextResponse(generate_latest(registry).decode())


OPENAPI_FILE = Path("docs") / "openapi.json"


def openapi_text() -> str:
    """Return the committed OpenAPI document of the API. `python -m genbench.service.app` writes it."""
    return json.dumps(make_api(None).openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    OPENAPI_FILE.write_text(openapi_text(), encoding="utf-8")
    print(f"wrote {OPENAPI_FILE}")
