"""Entity tags of the API's answers: a client that has the same answer already gets none."""

from __future__ import annotations

import hashlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
