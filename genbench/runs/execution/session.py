"""The run of one model through one suite: open the folder, draw, verify, write results.

A run may take several attempts. Each draws missing samples, verifies those without a verdict, and is
recorded.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from genbench.analysis.results.build import build_results
from genbench.analysis.results.record import Results
from genbench.draw.capacity import limit_of
from genbench.draw.draw_queue import Draw, has_missing, missing_draws
from genbench.draw.generation import CountTrace, Generation, More
from genbench.draw.progress import ProgressLine
from genbench.engines.devices import GpuWatch
from genbench.engines.placement import EngineKeeper, engine_makers
from genbench.errors import RunFolderError
from genbench.gateway.gateway import Gateway, Hooks
from genbench.judges.session import JudgeSession
from genbench.models.prepare import PreparedModel
from genbench.models.traces import given_trace_tokens, trace_tokens
from genbench.runs.event_loop import StopSwitch
from genbench.runs.execution.adaptive import AdaptiveRounds, check_against_base
from genbench.runs.execution.job import Job, RunContext
from genbench.runs.execution.prompt_records import SpooledPrompts, prompt_records
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
    verifier_pool,
    verifier_specs,
    verify_with,
)
from genbench.stats.intervals import problem_interval
from genbench.store.continuation import now
from genbench.store.degenerate import Degeneracy, alarm, degeneracy_of
from genbench.store.folder import RunFolder
from genbench.store.manifest import TakenRecord
from genbench.store.sample_index import DrawnSamples
from genbench.store.seal import Seal, is_edited
from genbench.store.stored_run import StoredTask
from genbench.tasks.loaded_task import LoadedTask, VerifiedTask
from genbench.tasks.python.agents import AgentTask
from genbench.types import Answer, Complete, Completion, Message, Request, SampleId, ToolOffer, Verdict
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec

SHARES = (0.1, 0.25, 0.5, 0.75)
"""Shares of a task's samples after which an estimate is printed. They are few, since each further look makes
a chance finding more likely."""
CAUTION = (
    "interim estimates are no results: short responses end first, and whoever looks often finds differences "
    "that are not there. Decide with the finished run only."
)
_SEED = 0
"""The seed of the resampling. It does not matter, since nothing is stored."""


@dataclass(slots=True)
class _TaskSoFar:
    """The verdicts of one task so far. `scores` are by problem."""

    samples: int
    problems: int
    verdicts: int = 0
    shares: list[float] = field(default_factory=lambda: list(SHARES))
    scores: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


class InterimEstimates:
    """Counts verdicts and makes a line when a further share of a task is verified.

    Args:
        label: the model's name.
        wanted: by task, the number of samples and the number of problems.
    """

    def __init__(self, label: str, wanted: Mapping[str, tuple[int, int]]) -> None:
        self._label = label
        self._tasks = {name: _TaskSoFar(*sizes) for name, sizes in wanted.items()}
        self._cautioned = False

    def add(self, item: Verdict) -> Iterator[str]:
        """Count a verdict. Yield lines for people if an estimate is due."""
        task = self._tasks[item.sample.task]
        task.verdicts += 1
        if item.score is not None:
            task.scores[item.sample.problem_id].append(item.score)
        if not task.shares or task.verdicts < task.shares[0] * task.samples:
            return
        while task.shares and task.verdicts >= task.shares[0] * task.samples:
            task.shares.pop(0)
        if task.verdicts == task.samples or len(task.scores) < 2:
            return
        if not self._cautioned:
            self._cautioned = True
            yield f"{self._label}: {CAUTION}"
        yield self._line(item.sample.task, task)

    def _line(self, name: str, task: _TaskSoFar) -> str:
        values = np.array([sum(scores) / len(scores) for scores in task.scores.values()])
        draws = float(np.mean([len(scores) for scores in task.scores.values()]))
        low, high = problem_interval(values, seed=_SEED, draws=draws).bounds
        return (
            f"interim: {self._label}/{name} {100 * values.mean():.1f} [{100 * low:.1f}, {100 * high:.1f}] "
            f"after {task.verdicts:,} of {task.samples:,} samples, {len(values):,} of "
            f"{task.problems:,} problems"
        )


class InterimProgress(ProgressLine):
    """A progress line that prints estimates above it when they are due."""

    def __init__(self, job: Job, tasks: Sequence[LoadedTask], total: int, done: int) -> None:
        super().__init__(job.model.name, total, done, job.quiet)
        wanted = {task.name: (task.samples, len(task.problems)) for task in tasks}
        self._estimates = InterimEstimates(job.model.name, wanted)

    def verdict(self, item: Verdict) -> None:
        """Count a verdict by its status, and print the estimates that are due."""
        super().verdict(item)
        for line in self._estimates.add(item):
            self.say(line)


def progress_line(job: Job, tasks: Sequence[LoadedTask], total: int, done: int) -> ProgressLine:
    """Return the progress line of a job. It prints interim estimates if the command asks for them.

    Args:
        tasks: the tasks of the run.
        total: samples of the run.
        done: samples that were on disk at the start.
    """
    if job.interim:
        return InterimProgress(job, tasks, total, done)
    return ProgressLine(job.model.name, total, done, job.quiet)


FIRST = 50
"""Samples that are looked at."""


class DegenerationMonitor:
    """Looks at the first turns of the first samples of the queue.

    They are not the ones that are finished first, since those are the shortest ones.

    Args:
        samples: the samples in the order in which they are drawn.
    """

    def __init__(self, samples: Iterable[SampleId]) -> None:
        self._waiting = {sample for sample, _ in zip(samples, range(FIRST), strict=False)}
        self._of = len(self._waiting)
        self._counts: Counter[Degeneracy] = Counter()

    def add(self, item: Completion) -> str | None:
        """Count a completion. Return a line for people with the last one, if at least half are degenerate."""
        if item.turn or item.sample not in self._waiting:
            return None
        self._waiting.discard(item.sample)
        found = None if item.choices else degeneracy_of(item.text)
        if found is not None and item.finish_reason != "error":
            self._counts[found] += 1
        return None if self._waiting else alarm(self._counts, self._of, f"the first {self._of} samples")


_MODEL = "genbench"
"""The name under which harnesses ask for the model. It is the same for all, since prompts may show it."""


class AgentRollouts:
    """The rollouts of a run's agent tasks. Use it in `async with`.

    Args:
        tasks: all tasks that are drawn. Those without a harness are ignored.
        folder: where the logs of the harnesses go.
    """

    def __init__(self, model: PreparedModel, tasks: Sequence[LoadedTask], folder: Path) -> None:
        plans = {task.name: task.task.plan for task in tasks if isinstance(task.task, AgentTask)}
        self._model = model
        context = getattr(model.found, "context", None)
        self._gateway = Gateway(plans, folder, model=_MODEL, version=model.identity, context=context)

    async def run(
        self, draw: Draw, stored: Sequence[Completion], complete: Complete
    ) -> tuple[Request, str, bool]:
        """Run one rollout, see `draw.generation.Rollouts`."""
        maker = self._model.maker

        def ask(
            turn: int, messages: tuple[Message, ...] | str, offer: ToolOffer | None, most: int | None
        ) -> Request:
            return maker.of_chat(draw.task, draw.sample, turn, messages, offer, most)

        hooks = Hooks(ask, complete, self._model.reasoning.split)
        found = await self._gateway.run(draw.problem, draw.sample, stored, hooks)
        request = Request(
            sample=draw.sample,
            turn=found.turns,
            token_ids=(),
            seed=0,
            max_tokens=draw.task.decoding.max_tokens,
            prompt_digest=found.prompt_digest,
        )
        return request, found.text, found.was_cut_off

    @property
    def record(self) -> dict[str, Any]:
        """Return what is recorded of the attempt: how many requests were refused for a wrong key."""
        return {"refused_keys": self._gateway.refused} if self._gateway.refused else {}

    async def __aenter__(self) -> Self:
        await self._gateway.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._gateway.__aexit__(*error)


class Drawing:
    """The drawing of one attempt.

    `seconds` is how long it took, and `gpu_busy` is the share of time that the GPUs worked. They stay 0 and
    None if the completions are only read back.
    """

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self.seconds = 0.0
        self.gpu_busy: dict[str, float] | None = None
        self.engines: dict[str, Mapping[str, Any]] = {}
        """By name, what each engine resolved when it loaded, and the statistics of its steps."""
        self.alarm: str | None = None
        """What is said of degenerate completions; None if there are few."""

    async def run(
        self,
        draws: Sequence[Draw],
        scorer: Scorer,
        progress: ProgressLine,
        attempt: int,
        more: More | None = None,
    ) -> None:
        """Draw all samples, or until the run is stopped, and have each verified when it is complete.

        Args:
            more: returns the samples of the next round. None: there is only one.

        Raises:
            EngineError: the engines could not be started, or died for good.
        """
        settings = self._context.job.model.settings
        generation = self._generation(draws, scorer, progress, attempt)
        if not settings.generates:
            await generation.run(draws, more)
            return
        label = self._context.job.model.name
        progress.say(f"{label}: {settings.opening} for {len(draws)} samples (log: {settings.log})")
        gpus = GpuWatch()
        job = self._context.job
        place = self._context.folder.path / "engine" / "rollouts"
        users, rollouts = self._context.simulated_users(), AgentRollouts(job.model, job.tasks, place)
        generation.user, generation.rollouts = users.reply, rollouts
        try:
            async with users, rollouts, gpus:
                await generation.run(draws, more)
        finally:
            self.seconds = progress.seconds
            self.gpu_busy = gpus.busy
            self.engines = generation.facts | {
                f"user of {task}": record for task, record in users.records.items()
            }
            if rollouts.record:
                self.engines["gateway"] = rollouts.record

    def _generation(
        self, draws: Sequence[Draw], scorer: Scorer, progress: ProgressLine, attempt: int
    ) -> Generation:
        context, model = self._context, self._context.job.model
        return Generation(
            engines=engine_makers(model.settings, context.keeper),
            maker=model.maker,
            sink=context.folder,
            split=model.reasoning.split,
            offer=_offer_to(scorer, progress, context.judges.deferred),
            progress=self._watched(draws, progress),
            limit=limit_of(model.settings, draws, context.job.lengths),
            attempt=attempt,
            stop=context.switch.attach(asyncio.get_running_loop()),
            stored=open_conversations(context.folder, draws),
            started=progress.begin,
            tell=progress.say,
            count_trace=self._count_trace(),
            began=progress.began,
            ran_dry=context.ran_dry,
        )

    def _watched(self, draws: Sequence[Draw], progress: ProgressLine) -> Callable[[Completion], None]:
        """Return the function that counts completions, and raises the alarm if the first are degenerate."""
        job, watch = self._context.job, DegenerationMonitor(draw.sample for draw in draws)

        def note(item: Completion) -> None:
            progress.completion(item)
            line = watch.add(item)
            if line is None:
                return
            self.alarm = f"{job.model.name}: {line}"
            progress.say(f"warning: {self.alarm}")
            if job.stop_on_degenerate:
                self._context.switch.stop("degenerate outputs")

        return note

    def _count_trace(self) -> CountTrace:
        model = self._context.job.model
        return partial(trace_tokens, count=model.count) if model.settings.generates else given_trace_tokens


def _offer_to(
    scorer: Scorer, progress: ProgressLine, deferred: Collection[str]
) -> Callable[[Draw, list[Completion], list[Answer]], None]:
    """Return the function that takes complete samples.

    Those of `deferred` tasks are verified after the run.
    """

    def offer(draw: Draw, completions: list[Completion], answers: list[Answer]) -> None:
        progress.sample(draw.task.name, draw.sample)
        if draw.task.name not in deferred:
            scorer.offer(draw.sample, draw.problem, completions, answers)

    return offer


def open_conversations(folder: RunFolder, draws: Sequence[Draw]) -> dict[SampleId, list[Completion]]:
    """Return the turns on disk of samples that are not complete. Only tasks of several turns have any."""
    wanted = {draw.sample for draw in draws if draw.problem.turns > 1}
    found: defaultdict[SampleId, list[Completion]] = defaultdict(list)
    for name in {sample.task for sample in wanted}:
        for item in folder.completions(name):
            if item.sample in wanted:
                found[item.sample].append(item)
    return {sample: sorted(items, key=lambda item: item.turn) for sample, items in found.items()}


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
    say = ProgressLine(job.model.name, 0, 0, job.quiet).say
    for line in (*job.notes, *taken_words(taken, {task.name: task.samples for task in job.tasks})):
        say(line)
    drawn, edited = _drawn(context.folder, [task.name for task in job.tasks])
    loading = asyncio.create_task(load_verifiers(pool, specs, job.tasks, context.judges))
    try:
        await asyncio.sleep(0)
        needed: set[int | None] = set()
        for task in job.tasks:
            records, asks = prompt_records(job.model, task)
            asked.add(task.name, (records, asks))
            needed |= set(map(_needed, records))
        await asyncio.to_thread(_load_engine, context, drawn)
        verified = await loading
    finally:
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
    if job.adaptive is not None:
        check_against_base(job, verified, asked)
    draws = missing_draws([item.task for item in verified.values()], drawn, job.lengths)
    longest = max((tokens for tokens in needed if tokens is not None), default=None)
    return OpenedRun(verified, draws, taken, None if None in needed else longest, edited)


def _drawn(folder: RunFolder, tasks: Sequence[str]) -> tuple[dict[str, DrawnSamples], list[str]]:
    """Return what of each task is on disk, and the files that were edited since the last attempt ended."""
    manifest = folder.manifest()
    sealed = {} if manifest is None else manifest.drawn
    seals = {name: Seal() for name in sealed}
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
        judges = JudgeSession(job.suite, job.tasks, folder.path)  # none of them is loaded yet
        return await _run(RunContext(job, folder, switch, keeper, judges, ran_dry))


async def _run(context: RunContext) -> Results:
    started = time.monotonic()
    job, folder, judges = context.job, context.folder, context.judges
    specs = verifier_specs(job.tasks, judges)
    async with verifier_pool(job.suite.config.verify) as pool, judges:
        with SpooledPrompts(folder.path) as asked:
            opened = await open_run(context, pool, specs, asked)
            context = context.narrowed(opened.needed) if opened.draws else context
            manifest = open_manifest(context.job, folder, opened.verified, judges, asked)
        manifest.note_taken(opened.taken)
        manifest.note_edited(opened.edited)
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
