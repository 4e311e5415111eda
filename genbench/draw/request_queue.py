"""The queue of draws that several engines share."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Iterable

from genbench.draw.draw_order import Draw


def one(draw: Draw) -> float:
    """Return the weight of a draw if nothing is known of its length."""
    return 1.0


class DrawQueue:
    """A queue of draws. It is over when none waits and none is being drawn, since those may come back.

    Args:
        weigh: returns how much work a draw is, compared with others.
    """

    def __init__(self, draws: Iterable[Draw], weigh: Callable[[Draw], float] = one) -> None:
        self._waiting = deque(draws)
        self._taken = 0
        self.handed_out = 0
        """How often a draw was taken."""
        self._weigh = weigh
        self.weight = math.fsum(map(weigh, self._waiting))
        """The work of all draws that wait or are being drawn."""
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

    def take(self, at: int = 0) -> Draw | None:
        """Return a draw, or None if no draw waits now.

        Args:
            at: its place among those that wait, from 0. A place behind the last means the last.
        """
        if not self._waiting:
            return None
        self._taken += 1
        self.handed_out += 1
        if at <= 0:
            return self._waiting.popleft()
        at = min(at, len(self._waiting) - 1)
        draw = self._waiting[at]
        del self._waiting[at]
        return draw

    def done(self, draw: Draw) -> None:
        """Record that a draw that was taken is finished."""
        self._taken -= 1
        self.weight -= self._weigh(draw)
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
