"""What a worker does besides running jobs: schedules."""

from __future__ import annotations

import time
from collections.abc import Callable

from genbench.errors import GenbenchError
from genbench.queue.database import Queue
from genbench.queue.schedules import run_schedules

_EVERY_S = 20.0


class Chores:
    """The regular work of a queue. Every worker does it, and the database sees to it that it is done once.

    Args:
        say: called with a line for the operator's log.
        every_s: seconds between two rounds.
    """

    def __init__(self, queue: Queue, *, say: Callable[[str], None], every_s: float = _EVERY_S) -> None:
        self._queue, self._say, self._every_s = queue, say, every_s
        self._last: float | None = None

    def run(self) -> None:
        """Do what is due. Called often, it does nothing in between."""
        now = time.monotonic()
        if self._last is not None and now - self._last < self._every_s:
            return
        self._last = now
        try:
            for line in run_schedules(self._queue):
                self._say(line)
        except GenbenchError as error:
            self._say(f"schedules: {error}")
