"""The HTTP server of the gateway. It is loaded only by runs with agents: its packages are an extra."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from genbench.gateway.chat import ChatError, ChatReply
from genbench.gateway.peers import pass_on

if TYPE_CHECKING:
    from genbench.gateway.gateway import Gateway

_LARGEST = 64 << 20
"""Bytes of a request."""
_KEEP_ALIVE_S = 3600
"""Seconds that a connection stays open. One that is closed while a tool works is an error of some clients."""
_END_S = 5.0
"""Seconds that open requests have at the end."""


def application(gateway: Gateway) -> Starlette:
    """Return the application that serves the rollouts of a gateway."""

    async def chat(request: Request) -> Response:
        try:
            rollout = gateway.rollout(_address(request), _key(request))
            gateway.served(_address(request))
            reply, wanted = await rollout.reply(await _body(request))
        except ChatError as error:
            return _refusal(error)
        if wanted.stream:
            return StreamingResponse(_events(reply, wanted.wants_usage), media_type="text/event-stream")
        return JSONResponse(reply.body)

    async def models(request: Request) -> Response:
        try:
            gateway.rollout(_address(request), _key(request))
            gateway.served(_address(request))
        except ChatError as error:
            return _refusal(error)
        return JSONResponse({"object": "list", "data": [gateway.model_card]})

    async def peer(request: Request) -> Response:
        try:
            rollout = gateway.rollout(_address(request), _key(request))
            return await pass_on(rollout, request.path_params["peer"], request.path_params["rest"], request)
        except ChatError as error:
            return _refusal(error)

    async def other(request: Request) -> Response:
        said = f"{request.url.path}: the gateway has /chat/completions and /models"
        return _refusal(ChatError(said, status=404))

    root = "/r/{task}/{problem}/{sample}/v1"
    return Starlette(
        routes=[
            Route("/healthz", lambda request: Response("ok")),
            Route(f"{root}/chat/completions", chat, methods=["POST"]),
            Route(f"{root}/models", models),
            Route("/r/{task}/{problem}/{sample}/peers/{peer}/v1/{rest:path}", peer, methods=["POST"]),
            Route("/{rest:path}", other, methods=["GET", "POST"]),
        ]
    )


def _address(request: Request) -> str:
    """Return the address of the rollout, without the route."""
    parts = request.path_params
    return f"/r/{quote(parts['task'], safe='')}/{parts['problem']}/{parts['sample']}"


def _key(request: Request) -> str:
    return str(request.headers.get("authorization", "")).removeprefix("Bearer ").strip()


async def _body(request: Request) -> Any:
    if int(request.headers.get("content-length") or 0) > _LARGEST:
        raise ChatError(f"the request has more than {_LARGEST} bytes", status=413)
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise ChatError("the body is no JSON") from None


def _refusal(error: ChatError) -> Response:
    more = {"Retry-After": "1"} if error.status == 503 else {}
    return JSONResponse(error.body, status_code=error.status, headers=more)


async def _events(reply: ChatReply, with_usage: bool) -> AsyncIterator[str]:
    for chunk in reply.chunks(with_usage=with_usage):
        yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"


class _Server(uvicorn.Server):
    """A server that leaves the signals to the run."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(gateway: Gateway, socket: Path) -> AsyncIterator[None]:
    """Serve the rollouts of a gateway on a socket of the file system, until the context ends."""
    config = uvicorn.Config(
        application(gateway),
        uds=str(socket),
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_keep_alive=_KEEP_ALIVE_S,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        if task.done():
            await task
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        with suppress(TimeoutError):
            await asyncio.wait_for(task, _END_S)
