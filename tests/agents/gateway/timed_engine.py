"""An engine with few places that notes the order of what it is asked, and the most at the same time."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from genbench.types import Completion, Request
from tests.agents.gateway import scripted_engine


class Engine(scripted_engine.Engine):
    """See the top. `order` has (task, turn) of each request, `most` the requests at the same time."""

    order: ClassVar[list[tuple[str, int]]] = []
    busy: ClassVar[int] = 0
    most: ClassVar[int] = 0

    async def generate(self, request: Request, attempt: int) -> Completion:
        kind = type(self)
        kind.order.append((request.sample.task, request.turn))
        kind.busy += 1
        kind.most = max(kind.most, kind.busy)
        try:
            await asyncio.sleep(0.01)
            return await super().generate(request, attempt)
        finally:
            kind.busy -= 1
