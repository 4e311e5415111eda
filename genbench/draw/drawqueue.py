"""The queue of draws that several engines share."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from genbench.draw.queue import Draw


class DrawQueue:
    """A queue of draws. It is over when none waits and none is being drawn, since those may come back."""

    def __init__(self, draws: Iterable[Draw]) -> None:
        self._waiting = deque(draws)
        self._taken = 0
        self._listeners: set[asyncio.Event] = set()
        self.over = asyncio.Event()
        self._settle()

    @property
    def size(self) -> int:
        """Return how many draws wait or are being drawn."""
        return len(self._waiting) + self._taken

    @property
    def waiting(self) -> int:
        """Return how many draws wait."""
        return len(self._waiting)

    def listen(self, changed: asyncio.Event) -> None:
        """Set `changed` whenever a draw comes back and when the queue is over."""
        self._listeners.add(changed)

    def ignore(self, changed: asyncio.Event) -> None:
        """Stop setting an event."""
        self._listeners.discard(changed)

    def take(self) -> Draw | None:
        """Return the next draw, or None if no draw waits now."""
        if not self._waiting:
            return None
        self._taken += 1
        return self._waiting.popleft()

    def done(self) -> None:
        """Record that a draw that was taken is finished."""
        self._taken -= 1
        self._settle()

    def put_back(self, draw: Draw, *, first: bool = False) -> None:
        """Return a draw that was taken to the end of the queue, or to its front."""
        self._taken -= 1
        if first:
            self._waiting.appendleft(draw)
        else:
            self._waiting.append(draw)
        self._wake()

    def _settle(self) -> None:
        if not self._waiting and not self._taken:
            self.over.set()
            self._wake()

    def _wake(self) -> None:
        for changed in self._listeners:
            changed.set()
