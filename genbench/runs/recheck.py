"""The check of a comparison that stored verdicts are those that today's verifiers give."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from genbench.analysis.recheck_record import RecheckedTask
from genbench.analysis.sides import Side
from genbench.errors import GenbenchError, InputError
from genbench.runs.loop import run_coroutine
from genbench.runs.recheck_task import JUDGED, StoredAnswers
from genbench.runs.rereadable import obstacle
from genbench.runs.trust import Kind
from genbench.store.ownseal import is_sealed
from genbench.verifiers.pool import VerifierPool

SAMPLES = 50
"""Answers of each task and side that are verified again."""
LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """The check that stored verdicts are those that today's verifiers give.

    A task is left out if a judge graded it, if its data would come from the network, if its verifier is
    another version now, or if the run folder asks for something that the user has not allowed. Programs of
    models run in the sandbox, as in a run.

    Args:
        samples: answers of each task and side. They are always the same ones.
        limit_s: seconds after which nothing more is verified. No task is opened after them.
        data_dir: the mirror of the data, if its location has changed since the runs.
        trusted: what the stored suites may do (see trust).
    """

    samples: int = SAMPLES
    limit_s: float = LIMIT_S
    data_dir: Path | None = None
    trusted: Collection[Kind] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise InputError(f"{self.samples} answers to verify again: wanted 1 or more")

    def __call__(self, base: Side, tuned: Side) -> list[RecheckedTask]:
        """Return what was found in each task that both sides have."""
        if base.manifest is None and tuned.manifest is None:
            return []
        return run_coroutine(self._check(base, tuned))

    async def _check(self, base: Side, tuned: Side) -> list[RecheckedTask]:
        end = time.monotonic() + self.limit_s
        found = []
        async with VerifierPool(nice=0) as pool:
            for name in [name for name in base.tasks if name in tuned.tasks]:
                found += [await self._of_task(pool, task, end) for task in _stored(name, base, tuned)]
        return found

    async def _of_task(self, pool: VerifierPool, stored: StoredAnswers, end: float) -> RecheckedTask:
        why = self._obstacle(stored)
        if why is None and time.monotonic() >= end:
            why = f"{self.limit_s:g} s were over"
        if why is not None:
            return stored.skipped(why)
        try:
            programs = "code" in self.trusted or is_sealed(stored.folder, stored.manifest)
            return await stored.verified(pool, self.data_dir, end, programs=programs)
        except GenbenchError as error:
            return stored.skipped(str(error).split("\n", maxsplit=1)[0])

    def _obstacle(self, stored: StoredAnswers) -> str | None:
        """Return why the task cannot be verified here, or None. Nothing outside the folder is opened."""
        if stored.manifest.tasks[stored.name].judge is not None:
            return JUDGED
        if not stored.side.kept:
            return "it has no completions on disk"
        return obstacle(stored.folder, stored.manifest, stored.name, self.data_dir, self.trusted)


def _stored(name: str, base: Side, tuned: Side) -> Iterator[StoredAnswers]:
    """Yield a task's stored answers of each side that is a run."""
    if base.manifest is not None:
        yield StoredAnswers("base", base.path, base.manifest, base.tasks[name])
    if tuned.manifest is not None:
        yield StoredAnswers("tuned", tuned.path, tuned.manifest, tuned.tasks[name])
