"""The heartbeat of a run: what it is doing now, in a file for those who look."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Self

from genbench.draw.progress import ProgressLine
from genbench.errors import RunFolderError
from genbench.store.continuation import now
from genbench.store.folder import RunFolder

_EVERY_S = 2.0


class Heartbeat:
    """Writer of live.json. The file is removed at a clean end, and is left after a kill.

    Args:
        attempt: the attempt's number.
        on_disk: how many samples of each task were complete at the start.
    """

    def __init__(
        self, folder: RunFolder, progress: ProgressLine, attempt: int, on_disk: Mapping[str, int]
    ) -> None:
        self._folder, self._progress, self._attempt, self._on_disk = folder, progress, attempt, on_disk
        self._started = time.monotonic()
        self._beating: asyncio.Task[None] | None = None

    def record(self) -> dict[str, Any]:
        """Return the counts so far. `elapsed_s` is by a monotonic clock. `at` is the time of day."""
        progress = self._progress
        rate, left = progress.tokens_per_s, progress.left_s
        return {
            "attempt": self._attempt,
            "state": progress.state,
            "at": now(),
            "elapsed_s": round(time.monotonic() - self._started, 1),
            "drawn": progress.drawn,
            "tokens": progress.tokens,
            "tokens_per_s": None if rate is None else round(rate, 1),
            "left_s": None if left is None else round(left, 1),
            "tasks": {name: count + progress.drawn_of[name] for name, count in self._on_disk.items()},
        }

    async def _beat(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_EVERY_S)
            self._progress.tick()
            try:
                await loop.run_in_executor(None, self._folder.write_live, self.record())
            except RunFolderError:
                return  # the disk is full, so appending samples fails too, which stops the run

    def tell(self, state: str) -> None:
        """Write at once that the next step of the run begins."""
        self._progress.step(state)
        self._folder.write_live(self.record())

    async def __aenter__(self) -> Self:
        self._beating = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)
        self._folder.end_live()
