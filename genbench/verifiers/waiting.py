"""The cases of a pool that wait for a worker."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from genbench.types import Finding
from genbench.verifiers.evidence import Evidence
from genbench.verifiers.process import VerifierSpec

_BATCH = 16
"""Cases in one worker's pipe: enough to hide the round trip, few enough to share the last ones out."""


@dataclass(slots=True)
class Job:
    """A case as it is sent to workers, and who waits for its finding.

    `deaths` counts dead workers. `evidence` is about those that it had to itself.
    """

    spec: VerifierSpec
    body: bytes
    done: asyncio.Future[Finding]
    deaths: int = 0
    evidence: Evidence = field(default_factory=Evidence)

    def resolve(self, finding: Finding) -> None:
        """Give the finding to who waits for it, unless nobody does any more."""
        if not self.done.done():
            self.done.set_result(finding)


class WaitingCases:
    """Cases in the order of their arrival. Those whose worker died are taken one at a time.

    Args:
        workers: how many share the cases.
        is_due: whether such a case may go before the others. If there are no others, it goes in any case.
    """

    def __init__(self, workers: int, is_due: Callable[[], bool]) -> None:
        self._workers, self._is_due = workers, is_due
        self._fresh: deque[Job] = deque()
        self._repeated: deque[Job] = deque()
        self._is_repeating = False
        self._taken: list[Job] = []
        self._changed = asyncio.Condition()

    async def put(self, job: Job) -> None:
        """Add a new case."""
        async with self._changed:
            self._fresh.append(job)
            self._changed.notify()

    async def take(self) -> list[Job]:
        """Wait for cases, and return a batch of new ones, or a single one whose worker died."""
        async with self._changed:
            await self._changed.wait_for(lambda: bool(self._fresh) or self._may_repeat())
            if self._may_repeat():
                self._is_repeating = True
                batch = [self._repeated.popleft()]
            else:
                size = min(_BATCH, len(self._fresh) // self._workers + 1, len(self._fresh))
                batch = [self._fresh.popleft() for _ in range(size)]
            self._taken = [job for job in self._taken if not job.done.done()] + batch
            return batch

    async def give_back(self, left: list[Job], *, was_repeated: bool) -> None:
        """Say that a batch is done, but for what is left of it. New cases go before later ones again.

        Args:
            was_repeated: the batch was a single case whose worker had died before.
        """
        async with self._changed:
            if was_repeated:
                self._is_repeating = False
            self._fresh.extendleft(job for job in reversed(left) if not job.deaths)
            self._repeated.extend(job for job in left if job.deaths)
            self._changed.notify_all()

    def undone(self) -> list[Job]:
        """Return all cases without a finding, those that workers have taken included."""
        known = {id(job): job for job in (*self._taken, *self._fresh, *self._repeated)}
        return [job for job in known.values() if not job.done.done()]

    def _may_repeat(self) -> bool:
        if self._is_repeating or not self._repeated:
            return False
        return not self._fresh or self._is_due()
