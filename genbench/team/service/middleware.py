"""The checks of every request: the Host header, the size of the body, the caller and the rate.

A caller is known by a token, by the session of a browser, or by a proxy that knows its users. Answers have
entity tags, so a client that has the same answer already gets none.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import re
import time
from collections import OrderedDict, deque
from urllib.parse import urlsplit

from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from genbench.errors import DatabaseGoneError
from genbench.team.service.bundle import MOST_BYTES
from genbench.team.service.context import Service
from genbench.team.service.responses import gone_problem, page_policy, problem
from genbench.team.service.tokens import (
    Caller,
    caller_named,
    caller_of,
    has_tokens,
    token_digest,
    token_digests,
)

SAFE = frozenset({"GET", "HEAD"})
FORMS = "/forms/"
"""Where forms are sent to. Nothing else may be written without a token in the request itself."""
USER_HEADER = "x-forwarded-user"


def authenticate(service: Service, scope: Scope, headers: Headers) -> Caller | None:
    """Return who makes a request, or None if it needs a token.

    Sessions and proxies let a browser act for its user without the user's doing. So they may only read, and
    send forms from our own pages.
    """
    shown = _shown_token(scope, headers)
    if shown is not None:
        return caller_of(service.queue, shown)
    reads = scope["method"] in SAFE
    if reads or (scope["path"].startswith(FORMS) and is_own_page(headers)):
        found = _of_proxy(service, scope, headers) or _of_session(service, headers)
        if found is not None:
            return found
    # Behind a proxy, requests of strangers come from this machine too.
    if reads and not service.proxies and not has_tokens(service.queue):
        return Caller("anyone on this machine", "read")
    return None


def _shown_token(scope: Scope, headers: Headers) -> str | None:
    """Return the token in a request, or None if it has none that counts."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    return _password(value) if kind.lower() == "basic" and scope["method"] in SAFE else None


def is_own_page(headers: Headers) -> bool:
    """Return whether a browser says that one of our own pages sent the request."""
    origin, host = headers.get("origin", ""), headers.get("host", "")
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != host.lower():
        return False
    return headers.get("sec-fetch-site", "same-origin") == "same-origin"


def _of_proxy(service: Service, scope: Scope, headers: Headers) -> Caller | None:
    client = (scope.get("client") or ("",))[0]
    user = headers.get(USER_HEADER, "")
    if client not in service.proxies or not user or len(user) > 100 or not user.isprintable():
        return None
    return Caller(user, service.proxy_scope)


def _of_session(service: Service, headers: Headers) -> Caller | None:
    name = service.sessions.name_of(headers.get("cookie", ""))
    return None if name is None else caller_named(service.queue, name)


def _password(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode("utf-8", "replace").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


MOST_BODY = 256 << 10
"""The largest body of a request, in bytes. A bundle of a run may be larger."""
PUSH = "/api/v1/runs/push"
LOGIN_FORM = f"{FORMS}login"
_OPEN = frozenset({"/api/v1/health", "/login", "/style.css"})
_OF_REVIEWERS = re.compile(
    r"/api/v1/health|/login|/style\.css|/scripts/review\.js|/forms/(login|logout)"
    r"|/review|/review/[^/]+(/next|/items/[^/]+)?|/forms/review/[^/]+/(vote|undo)"
)
"""All that a token of scope `reviewer` reaches. Everything else is refused before any route is looked for."""
_BODY_S = 30.0
"""Seconds in which a body must have arrived."""
_BODY_WORDS = {
    413: "the body is larger than {} bytes",
    408: f"the body did not arrive within {_BODY_S:g} seconds",
}
_CLIENTS = 1000
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    # With no-referrer, Chromium sends `Origin: null` with our own forms, like those of other pages.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """An ASGI middleware that refuses what must not reach the application.

    Reading is open as long as no token was made, because the service then listens on this machine only.
    Writing needs a bearer token, which browsers never send by themselves, or a form of our own pages.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()
        self._known = _KnownTokens(service)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, and pass it on or answer it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})  # before it is accepted: the answer is 403
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        try:
            refused = await self._refuse(scope)
        except DatabaseGoneError as error:
            # Nobody can be recognized. That the service itself lives can still be asked.
            refused = None if scope["path"].endswith("/health") else gone_problem(error)
            scope.setdefault("state", {})["caller"] = None
        if refused is None and scope["method"] not in SAFE:
            read = await _read_body(receive, _most_body(scope))
            if isinstance(read, int):
                refused = problem(read, _BODY_WORDS[read].format(_most_body(scope)))
            else:
                receive = _replayed(read, receive)
        await (refused or self._app)(scope, receive, send)

    async def _refuse(self, scope: Scope) -> ASGIApp | None:  # noqa: PLR0911 - a reason each
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in self._service.hosts:
            return problem(400, f"Host '{host[:100]}' is not served here; see serve --trusted-host")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > _most_body(scope):
            return problem(413, _BODY_WORDS[413].format(_most_body(scope)))
        # An address of which too many requests had no token asks the database nothing more in this second.
        # Others behind the same address have tokens or sessions that are known.
        address = f" {(scope.get('client') or ('',))[0]}"
        if self._is_too_fast(address, counts=False) and not await self._is_known(scope, headers):
            return _too_fast()
        caller = await run_in_threadpool(authenticate, self._service, scope, headers)
        if self._is_too_fast(caller.name if caller and caller.scope else address):
            return _too_fast()
        if caller is None and not _is_open(scope, headers):
            return _unknown(scope, headers)
        scope.setdefault("state", {})["caller"] = caller
        if caller is not None and caller.scope == "reviewer" and not _OF_REVIEWERS.fullmatch(scope["path"]):
            refused = f"'{caller.name}' has a token of scope reviewer, which opens /review only"
            return problem(403, refused)
        return None

    async def _is_known(self, scope: Scope, headers: Headers) -> bool:
        """Return whether a request has a token that was made, a session, or a user of a proxy."""
        shown = _shown_token(scope, headers)
        if shown is not None:
            return await self._known.has(shown)
        service = self._service
        return (
            service.sessions.name_of(headers.get("cookie", "")) is not None
            or _of_proxy(service, scope, headers) is not None
        )

    def _is_too_fast(self, client: str, *, counts: bool = True) -> bool:
        now = time.monotonic()
        times = self._seen.setdefault(client, deque())
        self._seen.move_to_end(client)
        while len(self._seen) > _CLIENTS:
            self._seen.popitem(last=False)
        while times and now - times[0] > 1.0:
            times.popleft()
        if len(times) >= self._service.most_per_second:
            return True
        if counts:
            times.append(now)
        return False


class _KnownTokens:
    """The digests of all tokens, read once in a second at most."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._digests: frozenset[str] = frozenset()
        self._until = 0.0

    async def has(self, token: str) -> bool:
        """Return whether a token is known. It may be revoked, and one of this second may be missing."""
        if time.monotonic() > self._until:
            self._until = time.monotonic() + 1.0
            self._digests = await run_in_threadpool(token_digests, self._service.queue)
        return token_digest(token) in self._digests


def _too_fast() -> ASGIApp:
    return problem(429, "too many requests in a second; wait a little", {"Retry-After": "1"})


def _most_body(scope: Scope) -> int:
    """Return the largest body of a request to this path, in bytes."""
    return MOST_BYTES if scope["path"] == PUSH else MOST_BODY


def _name(host: str) -> str:
    """Return a Host header without its port."""
    try:
        parts = urlsplit(f"//{host}")
        name = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return ""
    return f"[{name}]" if ":" in name else name


def _is_open(scope: Scope, headers: Headers) -> bool:
    """Return whether a request needs no caller: health, and showing a token to begin a session."""
    path = scope["path"]
    return path in _OPEN or (path == LOGIN_FORM and is_own_page(headers))


def _unknown(scope: Scope, headers: Headers) -> ASGIApp:
    """Return the answer to somebody without a token: a browser that reads gets the page to show one."""
    if scope["method"] in SAFE and "text/html" in headers.get("accept", ""):
        return RedirectResponse("/login", 303)
    if scope["path"].startswith(FORMS):
        return problem(403, "forms are sent from our own pages by somebody who has a session; see /login")
    how = "send a token: Authorization: Bearer TOKEN (genbench serve token add makes one)"
    return problem(401, how, {"WWW-Authenticate": 'Bearer realm="genbench"'})


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", page_policy())
        await send(message)

    return sent


async def _read_body(receive: Receive, most: int) -> bytes | int:
    """Return the body of a request, or the status that refuses it: 413 too large, 408 too slow or cut off."""
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_S):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return 408
                body += message.get("body", b"")
                if len(body) > most:
                    return 413
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError:
        return 408


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that gives a body that was read already, and then what else comes."""
    is_given = False

    async def received() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return received


_PREFIX = "/api/"


class EntityTags:
    """An ASGI middleware that gives JSON answers to GET an ETag, and answers 304 to those who have it.

    Other answers pass as they come, such as the stream of a job's events.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(_PREFIX):
            await self._app(scope, receive, send)
            return
        known = Headers(scope=scope).get("if-none-match", "")
        await self._app(scope, receive, _Tagging(send, known).send)


class _Tagging:
    """One answer: its start is kept until its body is complete, if it is JSON."""

    def __init__(self, send: Send, known: str) -> None:
        self._send, self._known = send, known
        self._start: Message | None = None
        self._parts: list[bytes] = []

    async def send(self, message: Message) -> None:
        """Pass on one part of the answer, or keep it."""
        if message["type"] == "http.response.start" and _is_tagged(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._parts.append(message.get("body", b""))
            if not message.get("more_body"):
                await self._finish(self._start, b"".join(self._parts))

    async def _finish(self, start: Message, body: bytes) -> None:
        tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = MutableHeaders(raw=list(start["headers"]))
        headers["ETag"] = tag
        headers["Cache-Control"] = "private, no-cache"
        if tag in {item.strip().removeprefix("W/") for item in self._known.split(",")}:
            del headers["content-length"]
            start, body = {**start, "status": 304}, b""
        await self._send({**start, "headers": headers.raw})
        await self._send({"type": "http.response.body", "body": body})


def _is_tagged(start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] == 200 and kind.startswith("application/json")
