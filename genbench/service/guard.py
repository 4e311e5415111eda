"""What every request passes: the Host header, the size of the body, the token, the rate, and headers."""

from __future__ import annotations

import base64
import binascii
import time
from collections import OrderedDict, deque
from urllib.parse import urlsplit

from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from genbench.service.problems import problem
from genbench.service.state import Service
from genbench.service.tokens import Caller, caller_of, has_tokens

MOST_BODY = 256 << 10
"""The largest body of a request, in bytes."""
_OPEN = frozenset({"/api/v1/health"})
_SAFE = frozenset({"GET", "HEAD"})
_CLIENTS = 1000
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""The content security policy of every response that has no own one: nothing runs, nothing is loaded."""
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Guard:
    """An ASGI middleware that refuses what must not reach the application.

    Reading is open as long as no token was made, because the service then listens on this machine only.
    Writing always needs a bearer token, which browsers never send by themselves, so that no other page can
    make a browser write. For reading in a browser the token may also be the password of basic authentication.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request, and pass it on or answer it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        refused = await self._refuse(scope)
        if refused is not None:
            await refused(scope, receive, send)
            return
        await self._app(scope, _limited(receive), send)

    async def _refuse(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if _name(host) not in self._service.hosts:
            return problem(400, f"Host '{host[:100]}' is not served here; see serve --trusted-host")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BODY:
            return problem(413, f"the body is larger than {MOST_BODY} bytes")
        caller = await run_in_threadpool(self._caller, headers, scope["method"])
        if caller is None and scope["path"] not in _OPEN:
            how = "send a token: Authorization: Bearer TOKEN (genbench token add makes one)"
            return problem(401, how, {"WWW-Authenticate": 'Basic realm="genbench", charset="UTF-8"'})
        client = scope.get("client") or ("", 0)
        if self._is_too_fast(caller.name if caller and caller.scope else str(client[0])):
            return problem(429, "too many requests in a second; wait a little", {"Retry-After": "1"})
        scope.setdefault("state", {})["caller"] = caller
        return None

    def _caller(self, headers: Headers, method: str) -> Caller | None:
        """Return who makes a request, or None if nobody may make it without a token."""
        kind, _, value = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return caller_of(self._service.queue, value.strip())
        if kind.lower() == "basic" and method in _SAFE:
            return caller_of(self._service.queue, _password(value))
        if method in _SAFE and not has_tokens(self._service.queue):
            return Caller("anyone on this machine", "read")
        return None

    def _is_too_fast(self, client: str) -> bool:
        now = time.monotonic()
        times = self._seen.setdefault(client, deque())
        self._seen.move_to_end(client)
        while len(self._seen) > _CLIENTS:
            self._seen.popitem(last=False)
        while times and now - times[0] > 1.0:
            times.popleft()
        if len(times) >= self._service.most_per_second:
            return True
        times.append(now)
        return False


def _name(host: str) -> str:
    """Return a Host header without its port."""
    try:
        parts = urlsplit(f"//{host}")
        name = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return ""
    return f"[{name}]" if ":" in name else name


def _password(value: str) -> str:
    try:
        return base64.b64decode(value, validate=True).decode("utf-8", "replace").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", POLICY)
        await send(message)

    return sent


def _limited(receive: Receive) -> Receive:
    """Return a receiver that ends a body which is longer than it said."""
    seen = 0

    async def received() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        return {"type": "http.disconnect"} if seen > MOST_BODY else message

    return received
