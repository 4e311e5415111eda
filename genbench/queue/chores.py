"""What a worker does besides running jobs: schedules, messages about changes, and sending of messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from genbench.errors import GenbenchError
from genbench.ledger.database import open_ledger
from genbench.queue.commits import KIND, tell_status
from genbench.queue.database import Queue
from genbench.queue.delivery import Channel, deliver
from genbench.queue.news import tell_changes
from genbench.queue.records import Job
from genbench.queue.schedules import run_schedules

_EVERY_S = 20.0


class Chores:
    """The regular work of a queue. Every worker does it, and the database sees to it that it is done once.

    Args:
        ledger: the ledger of the queue, as in `open_ledger`.
        channels: how messages are sent. Without any they are only shown.
        say: called with a line for the operator's log.
        every_s: seconds between two rounds.
    """

    def __init__(
        self,
        queue: Queue,
        *,
        say: Callable[[str], None],
        ledger: str | None = None,
        channels: Sequence[Channel] = (),
        every_s: float = _EVERY_S,
    ) -> None:
        self._queue, self._say, self._every_s = queue, say, every_s
        self._ledger, self._channels = ledger, tuple(channels)
        self._last: float | None = None

    def run(self) -> None:
        """Do what is due. Called often, it does nothing in between."""
        now = time.monotonic()
        if self._last is not None and now - self._last < self._every_s:
            return
        self._last = now
        self._told(lambda: run_schedules(self._queue))
        if self._channels:
            self._told(lambda: deliver(self._queue, self._channels))

    def finished(self, job: Job) -> None:
        """Write messages about a finished job: changes of its track, and its commit's status."""
        if job.track:
            self._told(lambda: self._news(job.track))
        if job.track and any(KIND in channel.kinds for channel in self._channels):
            self._told(lambda: self._status(job))

    def _news(self, track: str) -> list[str]:
        with open_ledger(self._ledger, create=False) as ledger:
            return [f"{track}: a message about changes"] if tell_changes(ledger, self._queue, track) else []

    def _status(self, job: Job) -> list[str]:
        with open_ledger(self._ledger, create=False) as ledger:
            return [f"{job.track}: a commit's status"] if tell_status(ledger, self._queue, job) else []

    def _told(self, work: Callable[[], list[str]]) -> None:
        try:
            for line in work():
                self._say(line)
        except GenbenchError as error:
            self._say(f"worker: {error}")
