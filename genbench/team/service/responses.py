"""Answers that are made in one place: pages from templates, and errors in the form of RFC 9457.

The detail of an error is the message of the command line.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Self
from urllib.parse import quote, urlencode

import jinja2
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from genbench.errors import DatabaseGoneError, GenbenchError, InputError, NotComparableError
from genbench.nights.ledger.listing import has_track
from genbench.reports.page.templates import page_environment, template_source
from genbench.safetext.printable import printable
from genbench.team.queue.jobs import QueueFullError
from genbench.team.service.added_pages import added_pages
from genbench.team.service.context import service
from genbench.team.service.tokens import Caller


@cache
def page_templates() -> jinja2.Environment:
    """Return the templates of the pages. Each is compiled once in a process."""
    reports = page_environment("genbench.nights")
    assert reports.loader is not None
    packages = ["genbench.team.service", *(pages.package for pages in added_pages())]
    return reports.overlay(loader=jinja2.ChoiceLoader([*map(jinja2.PackageLoader, packages), reports.loader]))


def page(request: Request, name: str, **values: Any) -> HTMLResponse:
    """Return the page of a template."""
    templates: jinja2.Environment = request.app.state.templates
    found: Caller | None = request.state.caller
    own = service(request)
    known = {
        "scripts": page_scripts(),
        "glossary": "/glossary",
        "has_track": cache(lambda track: has_track(own.ledger, track)),
        "user": found.name if found else None,
        "may": lambda scope: found is not None and found.may(scope),
        "form_token": own.sessions.form_token(found.name) if found else "",
    }
    return HTMLResponse(templates.get_template(name).render(**known, **values))


@dataclass(frozen=True, slots=True)
class Script:
    """A script that pages may load: its text, and the digest by which the policy allows it."""

    body: bytes
    integrity: str
    styles: tuple[str, ...]
    """Ids of the style elements that it makes unless there is an element of that id."""

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Return the script of a text.

        Plotly 7 makes a style element for maps, which no chart here has and which the policy refuses.
        """
        styles = tuple(found.decode() for found in re.findall(rb'getElementById\("([0-9a-f]{64})"\)', body))
        return cls(body, f"sha256-{base64.b64encode(hashlib.sha256(body).digest()).decode()}", styles)


@cache
def page_scripts() -> dict[str, Script]:
    """Return the scripts of pages in the order of their names: our own, and that of the package plotly."""
    found = {
        "plotly.js": files("plotly") / "package_data" / "plotly.min.js",
        "service.js": files("genbench.team.service") / "templates" / "service.js",
    }
    for pages in added_pages():
        found |= {name: files(pages.package) / "templates" / name for name in pages.scripts}
    return {name: Script.of(found[name].read_bytes()) for name in sorted(found)}


@cache
def compressed_script(name: str) -> bytes:
    """Return a script compressed by gzip. That of plotly has 1.5 MB instead of 4.8 MB."""
    return gzip.compress(page_scripts()[name].body, compresslevel=6, mtime=0)


_EMPTY_STYLE = "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
"""The digest of an empty text. Plotly makes an empty style element, and adds its rules by script."""


@cache
def page_policy() -> str:
    """Return the content security policy of pages: only our scripts run, and nothing comes from elsewhere."""
    scripts = " ".join(f"'{script.integrity}'" for script in page_scripts().values())
    return (
        f"default-src 'none'; script-src {scripts}; connect-src 'self'; style-src 'self' '{_EMPTY_STYLE}'; "
        "img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )


def page_address(request: Request, **changes: object) -> str:
    """Return the path of the page that is asked for, with its query changed. None removes a key."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in changes]
    asked: list[tuple[str, object]] = [*kept, *changes.items()]
    query = urlencode([(name, value) for name, value in asked if value not in (None, "", 0)])
    path = quote(request.url.path)
    return f"{path}?{query}" if query else path


def style_sheet(request: Request) -> str:
    """Return the style sheet of all pages."""
    templates: jinja2.Environment = request.app.state.templates
    names = ("report.css", "trend.css", "service.css")
    return "".join(template_source(templates, name) for name in names)


MEDIA = "application/problem+json"
_RETRY_S = 60


class Problem(BaseModel):
    """What went wrong with a request (RFC 9457)."""

    type: str = Field(description="always about:blank: `status` says the kind")
    title: str = Field(description="the name of the status")
    status: int = Field(description="the status of the response")
    detail: str = Field(description="what is wrong and what to do, as the command line says it")


class NotFoundError(InputError):
    """The thing that a path names is not there."""


class ForbiddenError(InputError):
    """The service does not let clients do this."""


class GoneError(InputError):
    """The thing was there, and its files were deleted."""


class ConflictError(InputError):
    """The request contradicts an earlier one, or the state of what it changes."""


@contextmanager
def refused_as(kind: type[InputError]) -> Iterator[None]:
    """Raise an InputError as another kind of error, which has another status.

    That the database is gone says nothing about the request, and stays as it is.
    """
    try:
        yield
    except DatabaseGoneError:
        raise
    except InputError as error:
        raise kind(str(error)) from error


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return the response for an error."""
    title = HTTPStatus(status).phrase
    body = Problem(type="about:blank", title=title, status=status, detail=printable(detail))
    return JSONResponse(body.model_dump(), status, headers, media_type=MEDIA)


def gone_problem(error: DatabaseGoneError) -> JSONResponse:
    """Return the response while the database cannot be reached. Standard error says why."""
    print(f"genbench: {error}", file=sys.stderr, flush=True)
    return problem(503, _GONE, {"Retry-After": str(_RETRY_S)})


def install(app: FastAPI) -> None:
    """Make an application answer every error as a problem."""
    app.add_exception_handler(GenbenchError, _on_genbench)
    app.add_exception_handler(RequestValidationError, _on_validation)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(Exception, _on_defect)


def _on_genbench(request: Request, error: Exception) -> Response:
    status = genbench_status(error)
    if isinstance(error, DatabaseGoneError):
        return gone_problem(error)
    headers = {"Retry-After": str(_RETRY_S)} if status == 429 else None
    return _answer(request, status, str(error), headers)


_GONE = "the service cannot reach its database; nothing was lost or changed, so try again"


_STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (NotFoundError, 404),
    (ForbiddenError, 403),
    (GoneError, 410),
    (ConflictError, 409),
    (NotComparableError, 409),
    (QueueFullError, 429),
    (DatabaseGoneError, 503),
    (InputError, 422),
)
"""The status of each kind of error. The first kind that fits counts."""


def genbench_status(error: Exception) -> int:
    """Return the status for an error of genbench."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def _on_validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first: Any = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    status = 400 if first["type"] in ("json_invalid",) else 422
    return _answer(request, status, f"{where}: {first['msg']}")


def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(request, error.status_code, str(error.detail), dict(error.headers or {}))


def _on_defect(request: Request, error: Exception) -> Response:
    """Answer an error that nobody foresaw, or a full disk. The server then logs the traceback."""
    cause = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return _answer(request, 500, f"the service failed ({cause}); its log says where")


def _answer(request: Request, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return the response for an error: a page for a browser, and a problem for a program."""
    if "text/html" not in request.headers.get("accept", "") or request.url.path.startswith("/api/"):
        return problem(status, detail, headers)
    found = page(request, "error.html.j2", title=HTTPStatus(status).phrase, detail=detail)
    found.status_code = status
    found.headers.update(headers or {})
    return found
