"""The application: its routes, its errors, and the description of the API.

The pages are no part of the description of the API.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.types import ASGIApp

import genbench
from genbench.service import responses
from genbench.service.api import health, jobs, ledger, tracks, watches
from genbench.service.api import runs as api_runs
from genbench.service.context import Service
from genbench.service.middleware import EntityTags, Guard
from genbench.service.pages import evidence, forms, overview, runs
from genbench.service.responses import Problem, page_templates

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
    return app


OPENAPI_FILE = Path("docs") / "openapi.json"


def openapi_text() -> str:
    """Return the committed OpenAPI document of the API. `python -m genbench.service.app` writes it."""
    return json.dumps(make_api(None).openapi(), indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    OPENAPI_FILE.write_text(openapi_text(), encoding="utf-8")
    print(f"wrote {OPENAPI_FILE}")
