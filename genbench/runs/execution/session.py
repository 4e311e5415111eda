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
from typing import Any

from genbench.analysis.results.build import build_results
from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import state_of
from genbench.draw.draw_queue import Draw, has_missing, missing_draws
from genbench.draw.progress import ProgressLine, Together
from genbench.engines.placement import EngineKeeper
from genbench.errors import GenbenchError
from genbench.judges.session import JudgeSession
from genbench.runs.event_loop import StopSwitch
from genbench.runs.execution.adaptive import AdaptiveRounds, check_against_base
from genbench.runs.execution.drawing import Drawing
from genbench.runs.execution.heartbeat import Heartbeat
from genbench.runs.execution.interim import progress_line
from genbench.runs.execution.job import Job, RunContext
from genbench.runs.execution.prompt_records import SpooledPrompts, prompt_records, too_long_words
from genbench.runs.execution.reuse import take_over, taken_words
from genbench.runs.execution.run_manifest import RunManifest, check_end, ended_attempt, open_manifest
from genbench.runs.execution.scoring import (
    Scorer,
    Verify,
    all_readers,
    catch_up,
    load_verifiers,
    publish,
    readers_of,
    renew_stale,
    verifier_specs,
    verify_with,
)
from genbench.store.folder import RunFolder
from genbench.store.manifest import TakenRecord
from genbench.store.sample_index import DrawnSamples
from genbench.store.seal import Seal, is_edited
from genbench.store.state import RunState
from genbench.store.stored_run import StoredTask
from genbench.store.sums import clusters_of, repeated_words
from genbench.tasks.loaded_task import VerifiedTask
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec


@dataclass(frozen=True, slots=True)
class OpenedRun:
    """The state before the first sample is drawn.

    It has the verifiers by task, the missing samples, and what was copied from earlier runs.
    `needed` is the tokens of the longest request, or None if it is unknown: the turns of a conversation grow.
    `edited` names files of completions that were changed by hand since the last attempt ended.
    """

    verified: dict[str, VerifiedTask]
    draws: list[Draw]
    taken: list[TakenRecord]
    needed: int | None
    edited: list[str]


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
    say = ProgressLine(job.model.name, 0, 0, job.options.quiet).say
    for line in (*job.notes, *taken_words(taken, {task.name: task.samples for task in job.tasks})):
        say(line)
    drawn, edited = _drawn(context.folder, [task.name for task in job.tasks if task.is_drawn])
    loading = asyncio.create_task(load_verifiers(pool, specs, job.tasks, context.judges))
    try:
        await asyncio.sleep(0)
        needed: set[int | None] = set()
        for task in job.tasks:
            records, asks = prompt_records(job.model, task)
            asked.add(task.name, (records, asks))
            repeated = repeated_words(clusters_of(records))
            for line in filter(
                None, (too_long_words(task, records), repeated and f"{task.name}: {repeated}")
            ):
                say(f"warning: {line}")
            needed |= set(map(_needed, records))
        await asyncio.to_thread(_load_engine, context, drawn)
        verified = await loading
    finally:
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
    if job.adaptive is not None:
        check_against_base(job, verified, asked)
    draws = missing_draws([item.task for item in verified.values()], drawn, job.lengths)
    if job.samples is not None:
        draws = [draw for draw in draws if draw.sample in job.samples]
    longest = max((tokens for tokens in needed if tokens is not None), default=None)
    return OpenedRun(verified, draws, taken, None if None in needed else longest, edited)


def _drawn(folder: RunFolder, tasks: Sequence[str]) -> tuple[dict[str, DrawnSamples], list[str]]:
    """Return what of each task is on disk, and the files that were edited since the last attempt ended."""
    manifest = folder.manifest()
    sealed = {} if manifest is None else manifest.drawn
    seals = {name: Seal() for name in sealed if name in tasks}
    drawn = {name: folder.drawn(name, seals.get(name)) for name in tasks}
    edited = [name for name in tasks if name in seals and is_edited(seals[name].record, sealed[name])]
    return drawn, [f"{name}/completions.jsonl" for name in edited]


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
        job = context.job
        self._total = sum(task.samples for task in self._tasks if task.is_drawn)
        if job.samples is not None:
            self._total = len(job.samples)
        rounds = None if job.adaptive is None else AdaptiveRounds(context, manifest, tasks)
        self._rounds = rounds
        stored = self._total - len(draws)
        # How much an adaptive run will draw is not known. Each round adds to the total.
        total = self._total if rounds is None else stored
        self._progress = progress_line(job, self._tasks, total, stored, context.together)

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
        return {task.name: task.samples - waiting[task.name] for task in self._tasks if task.is_drawn}

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
    job: Job,
    switch: StopSwitch,
    keeper: EngineKeeper,
    pool: VerifierPool,
    *,
    ran_dry: Callable[[], None] = lambda: None,
    together: Together | None = None,
) -> Results:
    """Run a job to its end and return its results, which are also written to results.json.

    Args:
        pool: verifies. All jobs of a command use one, so that their verifiers are loaded once.
        ran_dry: called when no sample waits for an engine any more.
        together: the progress of all models of the command. None: there is no other.

    Raises:
        RunFolderError: the folder has another run, or another process is writing it.
        EngineError: the engine could not be started, or died for good.
        InterruptedRunError: the run was stopped by a signal. The folder can be continued.
    """
    with RunFolder.writer(job.path) as folder:
        judges = JudgeSession(job.suite, job.tasks, folder.path)  # none of them is loaded yet
        return await _run(
            RunContext(job, folder, switch, keeper, judges, ran_dry, together or Together()), pool
        )


def _before(context: RunContext) -> RunState:
    """Return the state of a finished run that is continued, and say whose verdicts are made again."""
    folder = context.folder
    nothing = RunState(folder.path, (), is_sealed=False)
    try:
        found = state_of(folder.path) if folder.results_path.is_file() else nothing
    except GenbenchError:  # what is damaged is made again, or the run says what to do
        return nothing
    say = ProgressLine(context.job.model.name, 0, 0, context.job.options.quiet).say
    for task in sorted(found.edited_tasks):
        words = "; ".join(map(str, found.of(task)))
        say(f"warning: {folder.path}/{words}; the verdicts of {task} are made again")
    return found


async def _run(context: RunContext, pool: VerifierPool) -> Results:
    started = time.monotonic()
    job, folder, judges = context.job, context.folder, context.judges
    specs = verifier_specs(job.tasks, judges)
    before = _before(context)
    async with judges:
        with SpooledPrompts(folder.path) as asked:
            opened = await open_run(context, pool, specs, asked)
            context = context.narrowed(opened.needed) if opened.draws else context
            manifest = open_manifest(context.job, folder, opened.verified, judges, asked)
        manifest.note_taken(opened.taken)
        replies = [file for file in before.sources if file.endswith("/judgments.jsonl")]
        manifest.note_edited([*opened.edited, *replies])
        now = {name: item for name, item in opened.verified.items() if name not in judges.deferred}
        renew_stale(folder, now, edited=before.edited_tasks)
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
