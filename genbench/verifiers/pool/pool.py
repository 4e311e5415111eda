"""A pool of killable verifier processes: a hang or a crash costs one sample.

Cases wait for a worker, workers take turns, and an answer is blamed for the deaths of processes only if
nothing else explains them.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Self

from genbench.errors import ConfigError
from genbench.types import Case, Finding, Status
from genbench.verifiers.pool.process import LoadRefusedError, VerifierSpec, WorkerDiedError, WorkerProcess
from genbench.verifiers.pool.worker import case_to_record, compact, without_answers

_OWN_DEATHS = 2
"""Deaths alone that show it if nobody else causes such deaths: a crash, or a process that says nothing."""
_KILLS = 3
"""Deaths alone that show it if somebody else can cause such deaths: a signal, an exit code."""
_LONGER = 2.0
"""How much longer an empty answer's process must live: what kills by age is not on time to the second."""
_UNCLEAR = 2
"""Deaths alone, each followed by that of an empty answer's process, that show that it is not to blame."""


@dataclass(slots=True)
class Evidence:
    """What was seen of a case whose worker died, in workers that it had to itself.

    After each death the same case is verified with an empty answer, for as long a time. What kills from
    outside kills both. What only the answer kills is the answer's own failure: no text of a model may exclude
    its own sample.
    """

    answer_only: int = 0
    both: int = 0

    def weigh(self, death: WorkerDiedError, *, is_fine_without_answer: bool) -> Finding | None:
        """Add a death of a worker alone. Return the finding, or None if the case must be verified again."""
        if not is_fine_without_answer:
            self.both += 1
            if self.both < _UNCLEAR:
                return None
            return Finding(
                0.0,
                "verifier_error",
                detail={"why": f"the verifier's process died: {death}; with an empty answer it also died"},
            )
        self.answer_only += 1
        if self.answer_only < (_OWN_DEATHS if death.is_own else _KILLS):
            return None
        status, what = _own_failure(death)
        why = f"the answer makes the verifier's process {what}, and an empty answer does not: {death}"
        return Finding(0.0, status, detail={"why": why})


def _own_failure(death: WorkerDiedError) -> tuple[Status, str]:
    """Return the status of an answer that its process does not survive, and what it makes the process do."""
    if death.is_silent:
        return "timeout", "say nothing"
    if death.is_fault:
        return "memory", "crash"
    return "runtime_error", "end"


MOST_S = 30.0
"""How long one worker may hold all others back, its wait for their end included."""
PAUSE = 3.0
"""For how many times as long the others then go on undisturbed: they wait a quarter of the time at most."""


class Turns:
    """A lock that many take together, or one alone.

    It exists in one process only, and the owner of a turn is never a worker process. So one that dies, hangs
    or is stopped keeps nobody out.

    Args:
        most_s: how long one may hold the others back. Half of that it waits for those inside to leave, then
            it goes on next to them.
    """

    def __init__(self, most_s: float = MOST_S) -> None:
        self._most_s = most_s
        self._inside = 0
        self._due = 0.0
        self._one = asyncio.Lock()
        self._is_empty, self._is_open = asyncio.Event(), asyncio.Event()
        self._is_empty.set()
        self._is_open.set()

    def is_due(self) -> bool:
        """Whether the others have had their time since the last turn alone."""
        return asyncio.get_running_loop().time() >= self._due

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """Wait until nobody holds the others back. Others may come in meanwhile."""
        while not self._is_open.is_set():  # it may be closed again before we run
            await self._is_open.wait()
        self._inside += 1
        self._is_empty.clear()
        try:
            yield
        finally:
            self._inside -= 1
            if not self._inside:
                self._is_empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Hold the others back and wait until those inside are out. Both have a limit."""
        async with self._one:
            loop = asyncio.get_running_loop()
            begin = loop.time()
            self._is_open.clear()
            timer = loop.call_later(self._most_s, self._is_open.set)
            try:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._most_s / 2):
                        await self._is_empty.wait()
                yield
            finally:
                timer.cancel()
                self._is_open.set()
                held_s = min(self._most_s, loop.time() - begin)
                self._due = loop.time() + PAUSE * held_s


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
        try:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        finally:  # no process is left if this is cancelled too
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
            f"{_LOAD_FAILURES} times in a row; "
            "try `python -m genbench.verifiers.pool.worker < /dev/null` to see why"
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
        body = compact(case_to_record(case)).encode()
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
            begin = monotonic()
            left = await self._prepare(worker, [job])
            if left is not None:
                return left
            async with self._turns.alone():
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
            alive_s: seconds that the process of the answer lived, from its start. An answer that takes long
                is killed from outside more often than an empty one, which takes no time. So this process
                must live longer than that one.
        """
        empty = Job(job.spec, without_answers(job.body), asyncio.get_running_loop().create_future())
        async with self._worker_alone() as worker:
            end = monotonic() + min(_LONGER * alive_s, MOST_S)
            if await self._prepare(worker, [empty]) is not None:
                return False
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
                if not worker.has(self._key(job.spec)):
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
