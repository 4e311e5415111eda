"""The run of one model through one suite: open the folder, draw, verify, write results.

A run may take several attempts. Each draws missing samples, verifies those without a verdict, and is
recorded.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from genbench.analysis.results.build import build_results
from genbench.analysis.results.record import Results
from genbench.draw.draw_order import Draw, has_missing, missing_draws
from genbench.draw.progress import ProgressLine
from genbench.engines.placement import EngineKeeper
from genbench.errors import RunFolderError
from genbench.runs.execution.adaptive import AdaptiveRounds, check_against_base
from genbench.runs.execution.context import RunContext
from genbench.runs.execution.drawing import Drawing
from genbench.runs.execution.interim_estimates import progress_line
from genbench.runs.execution.job import Job
from genbench.runs.execution.prompt_records import SpooledPrompts, prompt_records
from genbench.runs.execution.reuse import take_over, taken_words
from genbench.runs.execution.run_manifest import RunManifest, check_end, ended_attempt, open_manifest
from genbench.runs.execution.scoring import Scorer, Verify, all_readers, catch_up, readers_of
from genbench.runs.execution.verifier_setup import (
    load_verifiers,
    publish,
    renew_stale,
    verifier_pool,
    verifier_specs,
    verify_with,
)
from genbench.runs.signals import StopSwitch
from genbench.store.continuation import now
from genbench.store.folder import RunFolder
from genbench.store.manifest import TakenRecord
from genbench.store.sample_index import DrawnSamples
from genbench.store.stored_run import StoredTask
from genbench.tasks.loaded_task import VerifiedTask
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """The state before the first sample is drawn.

    It has the verifiers by task, the missing samples, and what was copied from earlier runs.
    `needed` is the tokens of the longest request, or None if it is unknown: the turns of a conversation grow.
    """

    verified: dict[str, VerifiedTask]
    draws: list[Draw]
    taken: list[TakenRecord]
    needed: int | None


async def open_run(
    context: RunContext, pool: VerifierPool, specs: Mapping[str, VerifierSpec], asked: SpooledPrompts
) -> OpenedRun:
    """Load the verifiers of a run in worker processes. Meanwhile render its prompts here.

    A new folder first takes over what did not change since an earlier run.

    Args:
        asked: gets the records of all tasks.

    Raises:
        PromptError: a prompt cannot be made.
        VerifierError: a verifier cannot be loaded.
        NotComparableError: an adaptive run would not be comparable with its base.
    """
    job = context.job
    taken = take_over(job, context.folder)
    say = ProgressLine(job.model.name, 0, 0, job.quiet).say
    for line in (*job.notes, *taken_words(taken, {task.name: task.samples for task in job.tasks})):
        say(line)
    drawn = {task.name: context.folder.drawn(task.name) for task in job.tasks}
    loading = asyncio.create_task(load_verifiers(pool, specs, job.tasks, context.judges))
    try:
        await asyncio.sleep(0)
        needed: set[int | None] = set()
        for task in job.tasks:
            records, asks = prompt_records(job, task)
            asked.add(task.name, (records, asks))
            needed |= set(map(_needed, records))
        await asyncio.to_thread(_load_engine, context, drawn)
        verified = await loading
    finally:
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
    check_against_base(job, verified, asked)
    draws = missing_draws([item.task for item in verified.values()], drawn, job.lengths)
    longest = max((tokens for tokens in needed if tokens is not None), default=None)
    return OpenedRun(verified, draws, taken, None if None in needed else longest)


def _needed(record: Mapping[str, Any]) -> int | None:
    """Return the tokens of a problem's only request. None: it is unknown, or there are several requests."""
    if record["turns"] > 1 or record["prompt_tokens"] is None:
        return None
    return int(record["prompt_tokens"]) + int(record["max_tokens"])


def _load_engine(context: RunContext, drawn: Mapping[str, DrawnSamples]) -> None:
    """Import the engine's code if there is something to draw. No engine is started."""
    job = context.job
    if has_missing(job.tasks, drawn):
        job.model.settings.load()


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


class Attempt:
    """One execution of a command in a run folder.

    Args:
        manifest: the manifest of the folder. The attempt's record is added to it.
        readers: the readers of the tasks.
        tasks: the tasks, with the problems that their verifiers can verify here.
        draws: the samples that are missing. The rounds of an adaptive run draw a part of them.
        started: when the command began, by time.monotonic().
    """

    def __init__(
        self,
        context: RunContext,
        manifest: RunManifest,
        readers: Mapping[str, StoredTask],
        tasks: Mapping[str, VerifiedTask],
        draws: Sequence[Draw],
        *,
        started: float,
    ) -> None:
        self._context, self._manifest, self._draws = context, manifest, draws
        self._tasks = [item.task for item in tasks.values()]
        self._readers, self._started = readers, started
        self._drawing = Drawing(context)
        job, self._total = context.job, sum(task.samples for task in self._tasks)
        rounds = None if job.adaptive is None else AdaptiveRounds(context, manifest, tasks)
        self._rounds = rounds
        stored = self._total - len(draws)
        # How much an adaptive run will draw is not known. Each round adds to the total.
        total = self._total if rounds is None else stored
        self._progress = progress_line(job, self._tasks, total, stored)

    async def run(self, verified: Mapping[str, VerifiedTask], verify: Verify) -> None:
        """Draw and verify.

        Args:
            verified: the tasks that are verified now. Others wait until all models are closed.

        Raises:
            EngineError: the engine could not be started, or died for good.
            DegenerateOutputError: the first completions are degenerate, and the command asks to stop then.
            InterruptedRunError: the run was stopped.
        """
        job, folder, switch = self._context.job, self._context.folder, self._context.switch
        number = self._manifest.begin_attempt(job, self._total - len(self._draws))
        split = job.model.reasoning.split
        scorer = Scorer(folder, verified, verify, split, self._progress.verdict, stored=self._readers)
        try:
            async with Heartbeat(folder, self._progress, number, self._on_disk()) as heartbeat:
                more = None if self._rounds is None else partial(self._next_round, self._rounds, scorer)
                draws = self._draws if more is None else await more()
                if draws:
                    heartbeat.tell(job.model.settings.opening)
                    await self._drawing.run(draws, scorer, self._progress, number, more)
                else:
                    count = f"all {self._total}" if more is None else "the"
                    self._progress.say(f"{job.model.name}: {count} samples are on disk, nothing is drawn")
                if switch.reason is None:
                    heartbeat.tell("verifying")
                    await catch_up(scorer, switch)
        finally:
            await scorer.cancel()
            folder.sync()
            self._progress.close()
            self._end()
        check_end(job, folder, self._drawing.alarm, switch.reason)

    async def _next_round(self, rounds: AdaptiveRounds, scorer: Scorer) -> Sequence[Draw]:
        """Return what an adaptive run draws next."""
        draws = await rounds.next(partial(catch_up, scorer, self._context.switch))
        self._progress.total += len(draws)
        for line in rounds.said():
            self._progress.say(f"{self._context.job.model.name}: {line}")
        return draws

    def _on_disk(self) -> dict[str, int]:
        """Return the samples of each task that are on disk."""
        waiting = Counter(draw.task.name for draw in self._draws)
        return {task.name: task.samples - waiting[task.name] for task in self._tasks}

    def _end(self) -> None:
        """Record how the attempt ended and which judges answered.

        A server reports its version only when asked.
        """
        judges, drawing = self._context.judges, self._drawing
        answered = {task.name: judges.record(task.name) for task in self._tasks if task.name in judges}
        seconds, stopped_by = time.monotonic() - self._started, self._context.switch.reason
        facts = ended_attempt(self._context.folder, self._progress, stopped_by, drawing.seconds, seconds)
        self._manifest.end_attempt(
            answered, {**facts, "gpu_busy": drawing.gpu_busy, "engines": drawing.engines}
        )


async def run_job(
    job: Job, switch: StopSwitch, keeper: EngineKeeper, ran_dry: Callable[[], None] = lambda: None
) -> Results:
    """Run a job to its end and return its results, which are also written to results.json.

    Args:
        ran_dry: called when no sample waits for an engine any more.

    Raises:
        RunFolderError: the folder has another run, or another process is writing it.
        EngineError: the engine could not be started, or died for good.
        InterruptedRunError: the run was stopped by a signal. The folder can be continued.
    """
    with RunFolder.writer(job.path) as folder:
        return await _run(RunContext.begin(job, folder, switch, keeper, ran_dry))


async def _run(context: RunContext) -> Results:
    started = time.monotonic()
    job, folder, judges = context.job, context.folder, context.judges
    specs = verifier_specs(job.tasks, judges)
    async with verifier_pool(job.suite.config.verify) as pool, judges:
        with context.packed_asks() as asked:
            opened = await open_run(context, pool, specs, asked)
            context = context.narrowed(opened.needed) if opened.draws else context
            manifest = open_manifest(context.job, folder, opened.verified, judges, asked)
        manifest.note_taken(opened.taken)
        now = {name: item for name, item in opened.verified.items() if name not in judges.deferred}
        renew_stale(folder, now)
        tasks = [item.task for item in opened.verified.values()]
        if opened.draws:
            await judges.reach()
        readers = readers_of(folder, tasks) if job.adaptive is None else all_readers(folder, tasks)
        attempt = Attempt(context, manifest, readers, opened.verified, opened.draws, started=started)
        await attempt.run(now, verify_with(pool, specs, judges, folder))
        opened.draws.clear()  # those of a million samples take 70 MiB, which the results need
        publish(folder, now)
    if job.adaptive is not None:
        readers = readers_of(folder, tasks, manifest.current.adaptive)
    return build_results(opened.verified, readers, manifest.current, job.suite.config).write(folder)
