"""The part of the API about the service itself: health, readiness, and numbers for Prometheus."""

from __future__ import annotations

import shutil

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from pydantic import BaseModel, Field

import genbench
from genbench.team.queue.jobs import count_jobs, list_workers
from genbench.team.service.context import Service, service

# The names of these routes are in the identifiers of operations in docs/openapi.json, so they stay.
router = APIRouter(prefix="/api/v1", tags=["service"])
_WORKER_S = 120.0
_LEAST_FREE = 0.05


class Health(BaseModel):
    """Whether the service answers."""

    status: str = Field(description="always ok")
    version: str = Field(description="version of genbench")


class Ready(BaseModel):
    """Whether runs can be drawn."""

    ready: bool = Field(description="whether all of the following hold")
    workers: int = Field(description="workers that were seen in the last two minutes")
    disk_free: float = Field(description="free share of the disk of run folders")


@router.get("/health", name="_health")
def get_health() -> Health:
    """Return that the service answers."""
    return Health(status="ok", version=genbench.__version__)


@router.get("/ready", name="_ready")
def get_ready(request: Request) -> Ready:
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


@router.get("/metrics", name="_metrics", response_class=PlainTextResponse)
def get_metrics(request: Request) -> PlainTextResponse:
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
