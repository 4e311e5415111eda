"""Requests of a harness to other models that take part in a rollout, such as a simulated user.

A harness reaches nothing but the gateway, which passes these requests on to the servers that the suite names,
and adds their keys. The key of the rollout opens them, so that they end with it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import httpx
from starlette.requests import Request
from starlette.responses import Response

from genbench.errors import nearest
from genbench.gateway.chat import ChatError

if TYPE_CHECKING:
    from genbench.gateway.rollout import Rollout

_WAIT_S = 600.0
"""Seconds until a server of another model is given up."""
_ROUTES = ("chat/completions",)


async def pass_on(rollout: Rollout, name: str, route: str, request: Request) -> Response:
    """Return the reply of another model, as its server has given it.

    Raises:
        ChatError: the suite names no such model, the route is another one, or its server cannot be reached.
    """
    peer = rollout.plan.peers.get(name)
    if peer is None:
        known = nearest(name, rollout.plan.peers) if rollout.plan.peers else "; the suite names none"
        raise ChatError(f"options.peers has no '{name}'{known}", status=404)
    if route not in _ROUTES:
        raise ChatError(f"{route}: other models are asked by /chat/completions", status=404)
    headers = {"Content-Type": "application/json"}
    if peer.key is not None:
        headers["Authorization"] = f"Bearer {os.environ.get(peer.key, '')}"
    body = await request.body()
    with rollout.asking_a_peer():
        try:
            async with httpx.AsyncClient(timeout=_WAIT_S) as client:
                reply = await client.post(
                    f"{peer.base_url.rstrip('/')}/{route}", content=body, headers=headers
                )
        except httpx.HTTPError as error:
            why = f"{type(error).__name__}: {error}"
            raise ChatError(f"peers.{name}: {peer.base_url} gives no reply ({why})", status=502) from None
    kind = reply.headers.get("content-type", "application/json")
    return Response(reply.content, status_code=reply.status_code, media_type=kind)
