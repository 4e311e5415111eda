"""The HTTP server of the gateway. It is loaded only by runs with agents: its packages are an extra."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from genbench.agents.gateway.apis import APIS, Api
from genbench.agents.gateway.chat import ChatError, ChatReply, ChatRequest
from genbench.errors import nearest

if TYPE_CHECKING:
    from genbench.agents.gateway.gateway import Gateway
    from genbench.agents.gateway.rollout import Rollout

_LARGEST = 64 << 20
"""Bytes of a request."""
_KEEP_ALIVE_S = 3600
"""Seconds that a connection stays open. One that is closed while a tool works is an error of some clients."""
_PEER_ROUTE = "chat/completions"
_PEER_S = 600.0
"""Seconds until a server of another model is given up."""
_END_S = 5.0
"""Seconds that open requests have at the end."""


def application(gateway: Gateway) -> Starlette:
    """Return the application that serves the rollouts of a gateway."""

    def route(api: Api) -> Callable[[Request], Awaitable[Response]]:
        async def draw(request: Request) -> Response:
            try:
                rollout = gateway.rollout(_address(request), _key(request))
                gateway.served(_address(request))
                asked = await _body(request)
                reply, wanted = await rollout.reply(asked, api.read)
            except ChatError as error:
                return _refusal(error, api)
            if wanted.stream:
                return StreamingResponse(_events(api, reply, wanted, asked), media_type="text/event-stream")
            return JSONResponse(api.body(reply, asked))

        return draw

    async def models(request: Request) -> Response:
        try:
            gateway.rollout(_address(request), _key(request))
            gateway.served(_address(request))
        except ChatError as error:
            return _refusal(error, APIS["/chat/completions"])
        return JSONResponse({"object": "list", "data": [gateway.model_card]})

    async def clock(request: Request) -> Response:
        try:
            rollout = gateway.rollout(_address(request), _key(request))
        except ChatError as error:
            return _refusal(error, APIS["/chat/completions"])
        return JSONResponse(rollout.times)

    async def peer(request: Request) -> Response:
        try:
            rollout = gateway.rollout(_address(request), _key(request))
            return await _peer(rollout, request)
        except ChatError as error:
            return _refusal(error, APIS["/chat/completions"])

    async def other(request: Request) -> Response:
        said = f"{request.url.path}: the gateway has {', '.join(APIS)}, /models and /clock"
        api = APIS["/messages" if "/v1/messages" in request.url.path else "/chat/completions"]
        return _refusal(ChatError(said, status=404), api)

    root = "/r/{task}/{problem}/{sample}/v1"
    return Starlette(
        routes=[
            Route("/healthz", lambda request: Response("ok")),
            *(Route(f"{root}{path}", route(api), methods=["POST"]) for path, api in APIS.items()),
            Route(f"{root}/models", models),
            Route(f"{root}/clock", clock),
            Route("/r/{task}/{problem}/{sample}/peers/{peer}/v1/{rest:path}", peer, methods=["POST"]),
            Route("/{rest:path}", other, methods=["GET", "POST"]),
        ]
    )


def _address(request: Request) -> str:
    """Return the address of the rollout, without the route."""
    parts = request.path_params
    return f"/r/{quote(parts['task'], safe='')}/{parts['problem']}/{parts['sample']}"


def _key(request: Request) -> str:
    """Return the key of a request. Clients of Anthropic's API have a header of their own for it."""
    bearer = str(request.headers.get("authorization", "")).removeprefix("Bearer ").strip()
    return bearer or str(request.headers.get("x-api-key", "")).strip()


async def _bytes(request: Request) -> bytes:
    """Return the body of a request, which may come in chunks without a length."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST:
            raise ChatError(f"the request has more than {_LARGEST} bytes", status=413)
    return bytes(body)


async def _body(request: Request) -> Any:
    try:
        return json.loads(await _bytes(request))
    except (ValueError, RecursionError):
        raise ChatError("the body is not JSON") from None


async def _peer(rollout: Rollout, request: Request) -> Response:
    """Return the reply of another model that takes part, such as a simulated user, as its server gives it.

    A harness reaches nothing but the gateway, which adds the keys of these servers. The key of the rollout
    opens them, so that they end with it.

    Raises:
        ChatError: the suite names no such model, the route is another one, or its server cannot be reached.
    """
    name, route = request.path_params["peer"], request.path_params["rest"]
    peer = rollout.plan.peers.get(name)
    if peer is None:
        known = nearest(name, rollout.plan.peers) if rollout.plan.peers else "; the suite names none"
        raise ChatError(f"options.peers has no '{name}'{known}", status=404)
    if route != _PEER_ROUTE:
        raise ChatError(f"{route}: other models are asked by /{_PEER_ROUTE}", status=404)
    headers = {"Content-Type": "application/json"}
    if peer.key is not None:
        headers["Authorization"] = f"Bearer {os.environ.get(peer.key, '')}"
    body = await _bytes(request)
    with rollout.asking_a_peer():
        try:
            async with httpx.AsyncClient(timeout=_PEER_S) as client:
                reply = await client.post(
                    f"{peer.base_url.rstrip('/')}/{route}", content=body, headers=headers
                )
        except httpx.HTTPError as error:
            why = f"{type(error).__name__}: {error}"
            raise ChatError(f"peers.{name}: {peer.base_url} gives no reply ({why})", status=502) from None
    kind = reply.headers.get("content-type", "application/json")
    return Response(reply.content, status_code=reply.status_code, media_type=kind)


def _refusal(error: ChatError, api: Api) -> Response:
    more = {"Retry-After": "1"} if error.status == 503 else {}
    return JSONResponse(api.error(error), status_code=error.status, headers=more)


async def _events(api: Api, reply: ChatReply, wanted: ChatRequest, asked: Any) -> AsyncIterator[str]:
    for name, part in api.events(reply, wanted, asked):
        head = f"event: {name}\n" if name else ""
        yield f"{head}data: {json.dumps(part)}\n\n"
    if api.end:
        yield api.end


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
