"""Whether a server refuses every request, or only some."""

from __future__ import annotations

import asyncio

from genbench.errors import EngineError

_MANY = 4
"""If so many first requests are all refused, the server is to blame."""


class RefusalDetector:
    """Tells a server that refuses every request from one that refuses a single request.

    Until one request has succeeded, refused requests wait. If all requests in flight are refused, the
    server is to blame if they are many, and the requests are if they are few.
    """

    def __init__(self) -> None:
        self._in_flight = 0
        self._refused = 0
        self._known = asyncio.Event()
        self._hopeless = False

    def enter(self) -> None:
        """Count a request that is sent."""
        self._in_flight += 1

    def leave(self) -> None:
        """Count a request that has ended, however it did."""
        self._in_flight -= 1
        self._settle()

    def succeed(self) -> None:
        """Record that the server has answered a request."""
        self._known.set()

    async def refused(self, why: str) -> None:
        """Return if only the request is to blame.

        Raises:
            EngineError: the server refuses every request. `why` is its text.
        """
        self._refused += 1
        self._settle()
        try:
            await self._known.wait()
        finally:
            self._refused -= 1
        if self._hopeless:
            raise EngineError(why)

    def _settle(self) -> None:
        if not self._known.is_set() and self._refused and self._refused >= self._in_flight:
            self._hopeless = self._refused >= _MANY
            self._known.set()
