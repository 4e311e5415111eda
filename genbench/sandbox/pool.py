"""A pool of sandboxes, each with its own thread and cage. Grades are returned as they are made."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from genbench.sandbox.box import Sandbox
from genbench.sandbox.opening import TierWish, open_cage
from genbench.sandbox.programs import Check, Grade, Limits, Program

_WAITING = 2
"""Programs that wait per worker. They are enough that no worker idles, and few enough that big inputs do
not pile up."""


@dataclass(frozen=True, slots=True)
class Work:
    """One program to run, and the callback `done`, which is called in a worker's thread."""

    program: Program
    checks: Sequence[Check]
    limits: Limits
    done: Callable[[Grade | Exception], None]


class Pool:
    """Workers that share a queue.

    Args:
        workers: how many workers. None means one per core.

    Raises:
        UnavailableError: there is no sandbox on this machine.
    """

    def __init__(
        self, tier: TierWish = None, workers: int | None = None, *, unsafe_local_exec: bool = False
    ) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self.cage, first = open_cage(tier, unsafe_local_exec=unsafe_local_exec)
        first.close()  # a cage would die with this thread, which may end
        self._queue: queue.Queue[Work | None] = queue.Queue(_WAITING * self.workers)
        self._threads = [threading.Thread(target=self._serve) for _ in range(self.workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work) -> None:
        """Add a program to the queue. Wait if too many wait already."""
        self._queue.put(work)

    def _serve(self) -> None:
        with Sandbox(self.cage) as box:
            while (work := self._queue.get()) is not None:
                try:
                    answer: Grade | Exception = box.grade(work.program, work.checks, work.limits)
                except (
                    Exception
                ) as error:  # the caller gets the error: a thread that ended would leave its queue waiting
                    answer = error
                work.done(answer)

    def close(self) -> None:
        """Wait for the queued programs, then end every cage."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
