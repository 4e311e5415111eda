"""Many sandboxes at once: a thread and a cage each; judgements come as they fall."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from genbench.sandbox.box import Sandbox
from genbench.sandbox.opening import TierWish, open_cage
from genbench.sandbox.programs import Check, Judgement, Limits, Program

_WAITING = 2
"""Programs that wait per worker: enough that none idles, few enough that big inputs do not pile up."""


@dataclass(frozen=True, slots=True)
class Work:
    """One program to judge and whom to tell: `done` is called in a worker's thread."""

    program: Program
    checks: Sequence[Check]
    limits: Limits
    done: Callable[[Judgement | Exception], None]


class Pool:
    """Workers that share a queue.

    Args:
        workers: None takes the cores.

    Raises:
        UnavailableError: there is no sandbox on this machine.
    """

    def __init__(
        self, tier: TierWish = None, workers: int | None = None, *, unsafe_local_exec: bool = False
    ) -> None:
        self.workers = workers or len(os.sched_getaffinity(0))
        self.cage, first = open_cage(tier, unsafe_local_exec=unsafe_local_exec)
        first.close()  # it would die with this thread, which need not stay
        self._queue: queue.Queue[Work | None] = queue.Queue(_WAITING * self.workers)
        self._threads = [threading.Thread(target=self._serve) for _ in range(self.workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, work: Work) -> None:
        """Queue a program. Wait if too many wait already."""
        self._queue.put(work)

    def _serve(self) -> None:
        with Sandbox(self.cage) as box:
            while (work := self._queue.get()) is not None:
                try:
                    answer: Judgement | Exception = box.judge(work.program, work.checks, work.limits)
                except (
                    Exception
                ) as error:  # told, not lost: a thread that ended would leave its queue waiting
                    answer = error
                work.done(answer)

    def close(self) -> None:
        """Wait for what is queued, then end every cage."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
