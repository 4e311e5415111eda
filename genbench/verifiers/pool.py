"""A pool of killable verifier processes: a hang or a crash costs one sample."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

from genbench.errors import ConfigError
from genbench.types import Case, Finding
from genbench.verifiers.process import LoadRefusedError, VerifierSpec, WorkerDiedError, WorkerProcess
from genbench.verifiers.wire import case_to_record

_BATCH = 16
"""Cases in one worker's pipe: enough to hide the round trip, few enough to share the last ones out."""
_CRASHES = 3
"""Deaths of workers, not by their time limit, that make a case a verifier_error. Two are too few: a random
kill (of a machine out of memory) must not count against a case."""
_LOAD_FAILURES = 5
"""Workers in a row that may die while they load a verifier, or fail to load what earlier workers loaded."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A loaded verifier.

    `unavailable` says by problem id why a reference cannot be used on this machine, `notes` how the
    verifier's tools differ from those of the official code.
    """

    version: str
    unavailable: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Job:
    spec: VerifierSpec
    body: bytes
    done: asyncio.Future[Finding]
    crashes: int = 0


class VerifierPool:
    """Worker processes that share one queue of cases.

    Args:
        workers: the number of processes. None: the cores less one, which the engine's host process needs.
        nice: how much the workers' niceness is raised.
        load_timeout_s: seconds after which a verifier that is not loaded counts as hung.
    """

    def __init__(self, workers: int | None = None, nice: int = 10, load_timeout_s: float = 900.0) -> None:
        cores = len(os.sched_getaffinity(0))
        self.workers = workers or max(1, cores - 1)
        self.nice = nice
        self.load_timeout_s = load_timeout_s
        self._queue: deque[_Job] = deque()
        self._wake = asyncio.Condition()
        self._keys: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._live: set[WorkerProcess] = set()
        self._spare: list[WorkerProcess] = []
        self._taken: list[_Job] = []
        self._failure: Exception | None = None
        self._versions: dict[int, str] = {}
        self._load_failures = 0
        self.replaced = 0

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._run()) for _ in range(self.workers)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for worker in (*self._live, *self._spare):
            await worker.close()

    async def open(self, spec: VerifierSpec, references: Iterable[tuple[str, Any]] = ()) -> Opened:
        """Load the verifier in a worker and try it on the references, before anything is drawn.

        The worker is kept for the first cases. If it is killed meanwhile, another one is tried.

        Args:
            references: (problem id, reference) pairs, for verifiers that have `check(reference)`. They are
                iterated once for each worker that is tried, so a generator will not do.

        Raises:
            ConfigError: it cannot be loaded, or cannot read a reference. Says why.
        """
        deaths: list[WorkerDiedError] = []
        while len(deaths) < _LOAD_FAILURES:
            worker = self._spare.pop() if self._spare else await WorkerProcess.start(self.nice)
            try:
                async with self._load_limit(spec):
                    version = await self._load(worker, spec)
                    unavailable = await worker.check(self._key(spec), references)
            except WorkerDiedError as death:
                await worker.close()
                deaths.append(death)
            except BaseException:
                await worker.close()
                raise
            else:
                self._spare.append(worker)
                return Opened(version, unavailable, worker.notes[self._key(spec)])
        raise ConfigError(
            f"the process of verifier '{spec.name}' ended while it was loaded ({deaths[-1]}), "
            f"{_LOAD_FAILURES} times in a row; try `python -m genbench.verifiers.worker < /dev/null` to see "
            "why"
        )

    async def verify(self, spec: VerifierSpec, case: Case) -> Finding:
        """Return the finding on one case. A hang becomes `timeout`, a crash `verifier_error`."""
        if self._failure is not None:
            raise self._failure
        self._key(spec)
        body = json.dumps(case_to_record(case), separators=(",", ":")).encode()
        job = _Job(spec, body, asyncio.get_running_loop().create_future())
        async with self._wake:
            self._queue.append(job)
            self._wake.notify()
        return await job.done

    @asynccontextmanager
    async def _load_limit(self, spec: VerifierSpec) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(self.load_timeout_s):
                yield
        except TimeoutError:
            raise ConfigError(
                f"verifier '{spec.name}' was not loaded after {self.load_timeout_s:g} s and was given up; "
                "what it loads hangs, or raise verify.load_timeout_s"
            ) from None

    def _key(self, spec: VerifierSpec) -> int:
        return self._keys.setdefault(spec.key, len(self._keys))

    async def _load(self, worker: WorkerProcess, spec: VerifierSpec) -> str:
        """Return the version, which must be the same in all workers: one digest identifies all verdicts."""
        key = self._key(spec)
        version = await worker.load(key, spec)
        first = self._versions.setdefault(key, version)
        if version != first:
            raise LoadRefusedError(
                f"verifier '{spec.name}' was '{first}' at first, and is '{version}' now; it was edited while "
                "the run used it: run the same command again"
            )
        return version

    async def _run(self) -> None:
        try:
            await self._work()
        except Exception as error:  # a defect of ours: everybody who waits must get it
            self._failure = error
            for job in (*self._taken, *self._queue):
                if not job.done.done():
                    job.done.set_exception(error)
            raise

    async def _work(self) -> None:
        worker: WorkerProcess | None = None
        while True:
            batch = await self._take()
            if worker is None:
                worker = self._spare.pop() if self._spare else await WorkerProcess.start(self.nice)
                self._live.add(worker)
            left = await self._serve(worker, batch)
            if worker.dead:
                self._live.discard(worker)
                await worker.close()
                self.replaced += 1
                worker = None
            if left:
                async with self._wake:
                    self._queue.extendleft(reversed(left))
                    self._wake.notify_all()

    async def _take(self) -> list[_Job]:
        async with self._wake:
            await self._wake.wait_for(lambda: bool(self._queue))
            size = min(_BATCH, len(self._queue) // self.workers + 1, len(self._queue))
            batch = [self._queue.popleft() for _ in range(size)]
            self._taken = [job for job in self._taken if not job.done.done()] + batch
            return batch

    async def _serve(self, worker: WorkerProcess, batch: list[_Job]) -> list[_Job]:
        """Verify the batch in order. Return what the worker's death left undone."""
        jobs = deque(batch)
        try:
            for job in batch:
                async with self._load_limit(job.spec):
                    await self._load(worker, job.spec)
        except (WorkerDiedError, ConfigError) as failure:
            return self._not_loaded(worker, batch, failure)
        self._load_failures = 0
        try:
            worker.send([(self._key(job.spec), job.body) for job in batch])
            while jobs:
                finding = await worker.receive()
                _resolve(jobs.popleft(), finding)
        except WorkerDiedError as death:
            return _after_death(list(jobs), death)
        return []

    def _not_loaded(
        self, worker: WorkerProcess, batch: list[_Job], failure: WorkerDiedError | ConfigError
    ) -> list[_Job]:
        """Return what is left for another worker: the whole batch, since an earlier worker loaded all of it.

        Nothing is left after a load that hung, which would take its time again, or after too many
        failures in a row.
        """
        worker.dead = True  # a late reply to the load must not be read as a finding
        self._load_failures += 1
        may_pass = isinstance(failure, WorkerDiedError | LoadRefusedError)
        if may_pass and self._load_failures <= _LOAD_FAILURES:
            return batch
        if isinstance(failure, WorkerDiedError):
            return _after_death(batch, failure)
        for job in batch:
            _resolve(job, Finding(0.0, "verifier_error", detail={"why": str(failure)}))
        return []


def _after_death(jobs: list[_Job], death: WorkerDiedError) -> list[_Job]:
    """Return the jobs to do again. The first was being verified when the worker died, so it goes last."""
    if not jobs:
        return []
    head, rest = jobs[0], jobs[1:]
    if death.timed_out:
        _resolve(head, Finding(0.0, "timeout", detail={"why": "the verifier ran into its time limit"}))
        return rest
    head.crashes += 1
    if head.crashes < _CRASHES:
        return [*rest, head]
    _resolve(head, Finding(0.0, "verifier_error", detail={"why": f"the verifier's process died: {death}"}))
    return rest


def _resolve(job: _Job, finding: Finding) -> None:
    if not job.done.done():
        job.done.set_result(finding)
