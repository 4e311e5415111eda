"""A pool of killable verifier processes: a hang or a crash costs one sample."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, Self

from genbench.errors import ConfigError
from genbench.types import Case, Finding
from genbench.verifiers.process import LoadRefusedError, VerifierSpec, WorkerDiedError, WorkerProcess
from genbench.verifiers.turns import MOST_S, Turns
from genbench.verifiers.waiting import Job, WaitingCases
from genbench.verifiers.wire import case_to_record, without_answers

_DEATHS = 3
"""Deaths of workers that loaded a verifier, after which a case is not verified again."""
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
        self._turns = Turns()
        self._waiting = WaitingCases(self.workers, self._turns.is_due)
        self._keys: dict[str, int] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._live: set[WorkerProcess] = set()
        self._spare: list[WorkerProcess] = []
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
        """Return the finding on one case. A hang becomes `timeout`.

        A case whose worker dies is verified again alone, with less memory. If its workers die there too, and
        those of an empty answer do not, it is the answer's own failure: `memory`, `timeout` or
        `runtime_error` (see evidence.py). Otherwise it is `verifier_error`.
        """
        if self._failure is not None:
            raise self._failure
        self._key(spec)
        body = json.dumps(case_to_record(case), separators=(",", ":")).encode()
        job = Job(spec, body, asyncio.get_running_loop().create_future())
        await self._waiting.put(job)
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
            for job in self._waiting.undone():
                job.done.set_exception(error)
            raise

    async def _work(self) -> None:
        worker: WorkerProcess | None = None
        while True:
            batch = await self._waiting.take()
            is_repeated = batch[0].deaths > 0
            if is_repeated:
                left = await self._repeat(batch[0])
            else:
                async with self._turns.together():
                    if worker is None:
                        worker = self._spare.pop() if self._spare else await WorkerProcess.start(self.nice)
                        self._live.add(worker)
                    left = await self._serve(worker, batch)
                if worker.dead:
                    await self._retire(worker)
                    worker = None
            await self._waiting.give_back(left, was_repeated=is_repeated)

    async def _retire(self, worker: WorkerProcess) -> None:
        self._live.discard(worker)
        self.replaced += worker.dead
        await worker.close()

    @asynccontextmanager
    async def _worker_alone(self) -> AsyncIterator[WorkerProcess]:
        """Start a worker for one case, with half of the free memory, and end it afterwards."""
        worker = await WorkerProcess.start(self.nice, alone=True)
        self._live.add(worker)
        try:
            yield worker
        finally:
            await self._retire(worker)

    async def _repeat(self, job: Job) -> list[Job]:
        """Verify a case whose worker died, alone for a bounded time. Return it if it must be done again.

        Several answers that need much memory, each within its limit, can together make the kernel kill a
        worker. So the case gets a worker of its own, whose limit is half of the memory that is free.
        """
        async with self._worker_alone() as worker:
            left = await self._prepare(worker, [job])
            if left is not None:
                return left
            async with self._turns.alone():
                begin = monotonic()
                death = await self._verify(worker, deque([job]))
                alive_s = monotonic() - begin
        if death is None:
            return []
        if death.timed_out:
            return _after_death([job], death)
        job.deaths += 1
        is_fine = await self._is_fine_without_answer(job, 0.0 if death.is_own else alive_s)
        finding = job.evidence.weigh(death, is_fine_without_answer=is_fine)
        if finding is None:
            return [job]
        job.resolve(finding)
        return []

    async def _is_fine_without_answer(self, job: Job, alive_s: float) -> bool:
        """Return whether the case can be verified with an empty answer, so that its own one is to blame.

        Args:
            alive_s: seconds for which the process must live. An answer that takes long is killed from outside
                more often than an empty one, which takes no time.
        """
        empty = Job(job.spec, without_answers(job.body), asyncio.get_running_loop().create_future())
        async with self._worker_alone() as worker:
            if await self._prepare(worker, [empty]) is not None:
                return False
            end = monotonic() + min(alive_s, MOST_S)
            if await self._verify(worker, deque([empty])) is not None:
                return False
            await asyncio.sleep(max(0.0, end - monotonic()))
            return worker.is_running

    async def _serve(self, worker: WorkerProcess, batch: list[Job]) -> list[Job]:
        """Verify the batch in order. Return what the worker's death left undone."""
        left = await self._prepare(worker, batch)
        if left is not None:
            return left
        jobs = deque(batch)
        death = await self._verify(worker, jobs)
        return [] if death is None else _after_death(list(jobs), death)

    async def _prepare(self, worker: WorkerProcess, batch: list[Job]) -> list[Job] | None:
        """Load the verifiers of a batch. If that fails, return what is left for another worker."""
        try:
            for job in batch:
                async with self._load_limit(job.spec):
                    await self._load(worker, job.spec)
        except (WorkerDiedError, ConfigError) as failure:
            return self._not_loaded(worker, batch, failure)
        self._load_failures = 0
        return None

    async def _verify(self, worker: WorkerProcess, jobs: deque[Job]) -> WorkerDiedError | None:
        """Verify cases and remove each that has a finding. Return the worker's death, if it died."""
        try:
            worker.send([(self._key(job.spec), job.body) for job in jobs])
            while jobs:
                finding = await worker.receive()
                jobs.popleft().resolve(finding)
        except WorkerDiedError as death:
            return death
        return None

    def _not_loaded(
        self, worker: WorkerProcess, batch: list[Job], failure: WorkerDiedError | ConfigError
    ) -> list[Job]:
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
            job.resolve(Finding(0.0, "verifier_error", detail={"why": str(failure)}))
        return []


def _after_death(jobs: list[Job], death: WorkerDiedError) -> list[Job]:
    """Return the jobs to do again. The first was being verified when the worker died."""
    if not jobs:
        return []
    head, rest = jobs[0], jobs[1:]
    if death.timed_out:
        head.resolve(Finding(0.0, "timeout", detail={"why": "the verifier ran into its time limit"}))
        return rest
    head.deaths += 1
    if head.deaths < _DEATHS:
        return [*rest, head]
    head.resolve(Finding(0.0, "verifier_error", detail={"why": f"the verifier's process died: {death}"}))
    return rest
