"""One model through one suite: draw what is missing, verify what has no verdict, write results."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from genbench import registry
from genbench.analysis.results import build_results
from genbench.draw.conversations import with_prompts
from genbench.draw.generate import Generation
from genbench.draw.progress import ProgressLine
from genbench.draw.queue import Draw, missing_draws
from genbench.engines import environment
from genbench.engines.gpu import GpuWatch
from genbench.engines.settings import EngineSettings
from genbench.engines.shared import EngineKeeper
from genbench.errors import InterruptedRunError
from genbench.judges.session import JudgeSession
from genbench.protocols import Engine
from genbench.runs.heartbeat import Heartbeat
from genbench.runs.job import Job
from genbench.runs.record import asked_records, attempt_record, ended_attempt, open_manifest, packed
from genbench.runs.scoring import Scorer
from genbench.runs.signals import StopSwitch
from genbench.runs.verifying import (
    catch_up,
    load_verifiers,
    publish,
    renew_stale,
    verifier_specs,
    verify_with,
)
from genbench.store.folder import Drawn, RunFolder
from genbench.tasks.loaded import LoadedTask, VerifiedTask
from genbench.types import Completion, SampleId
from genbench.verifiers.pool import VerifierPool

T = TypeVar("T")

_RESPONSES_A_STEP = 1000


async def run_job(job: Job, switch: StopSwitch, keeper: EngineKeeper) -> dict[str, Any]:
    """Runs a job to its end and returns its results (also written to results.json).

    Raises:
        RunFolderError: the folder holds another run, or is being written.
        EngineError: the engine could not be started or died for good.
        InterruptedRunError: stopped by a signal; the folder can be continued.
    """
    with RunFolder.writer(job.path) as folder:
        return await _Session(job, folder, switch, keeper).run()


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """asyncio.run, in a thread of its own where a loop runs already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, work).result()


class _Session:
    """The life of one command on one run folder."""

    def __init__(self, job: Job, folder: RunFolder, switch: StopSwitch, keeper: EngineKeeper) -> None:
        self.job, self.folder, self.switch, self.keeper = job, folder, switch, keeper
        self.started = time.monotonic()
        self.generation_s = 0.0
        self.gpu_busy: dict[str, float] | None = None
        self.tasks: Sequence[LoadedTask] = job.tasks
        self.room = JudgeSession(job.suite, job.tasks, folder.path)
        self.specs = verifier_specs(job.tasks, self.room)

    async def run(self) -> dict[str, Any]:
        verify = self.job.suite.config.verify
        async with VerifierPool(verify.workers, verify.nice, verify.load_timeout_s) as pool, self.room:
            drawn = {task.name: self.folder.drawn(task.name) for task in self.job.tasks}
            judged, asked = await self._ready(pool, drawn)
            self.tasks = [item.task for item in judged.values()]
            manifest = open_manifest(self.job, self.folder, judged, self.room, asked)
            del asked
            now = {name: item for name, item in judged.items() if name not in self.room.deferred}
            renew_stale(self.folder, now)
            draws = missing_draws(self.tasks, drawn, self.job.lengths)
            if draws:
                await self.room.reach()
            await self._draw_and_score(pool, now, manifest, drawn, draws)
            publish(self.folder, now)
        return self._results(judged, manifest)

    async def _ready(
        self, pool: VerifierPool, drawn: Mapping[str, Drawn]
    ) -> tuple[dict[str, VerifiedTask], dict[str, bytes]]:
        """Workers load their verifiers while this process renders prompts and imports the engine's code."""
        loading = asyncio.create_task(load_verifiers(pool, self.specs, self.job.tasks, self.room))
        try:
            await asyncio.sleep(0)
            asked = {task.name: self._asked(task) for task in self.job.tasks}
            await asyncio.to_thread(self._import_engine, drawn)
            judged = await loading
        finally:
            loading.cancel()
            await asyncio.gather(loading, return_exceptions=True)
        return judged, asked

    def _asked(self, task: LoadedTask) -> bytes:
        asked = packed(asked_records(self.job, task))
        if self.job.responses is not None:  # nothing is drawn, and half a million prompts are 300 MiB
            self.job.model.maker.forget()
        return asked

    def _import_engine(self, drawn: Mapping[str, Drawn]) -> None:
        """Its module alone, where there is something to draw; no engine is started."""
        settings = self.job.model.settings
        if settings is not None and missing_draws(self.job.tasks, drawn, self.job.lengths):
            with environment.output_to(settings.log):
                registry.load("engine", self.job.suite.config.engine.kind)

    async def _draw_and_score(
        self,
        pool: VerifierPool,
        judged: Mapping[str, VerifiedTask],
        manifest: dict[str, Any],
        drawn: dict[str, Drawn],
        draws: list[Draw],
    ) -> None:
        total = sum(task.samples for task in self.tasks)
        progress = ProgressLine(self.job.model.name, total, total - len(draws), self.job.quiet)
        attempt = self._begin_attempt(manifest, total - len(draws))
        verify = verify_with(pool, self.specs, self.room, self.folder)
        scorer = Scorer(self.folder, judged, verify, self.job.model.reasoning.split, progress.verdict)
        waiting = Counter(draw.task.name for draw in draws)
        on_disk = {task.name: task.samples - waiting[task.name] for task in self.tasks}
        try:
            async with Heartbeat(self.folder, progress, attempt["attempt"], on_disk) as heartbeat:
                if self.job.responses is not None:
                    draws.clear()
                    await self._take_responses(drawn, progress)
                    drawn.clear()  # of a million samples these two are 130 MiB
                elif draws:
                    heartbeat.tell("loading the engine")
                    await self._generate(draws, scorer, progress, attempt["attempt"])
                else:
                    progress.say(f"{self.job.model.name}: all {total} samples are on disk, nothing is drawn")
                if self.switch.reason is None:
                    heartbeat.tell("verifying")
                    await catch_up(scorer, self.switch)
        finally:
            await scorer.cancel()
            self.folder.sync()
            progress.close()
            self._end_attempt(manifest, attempt, progress)
        if self.switch.reason is not None:
            raise InterruptedRunError(self.switch.reason)

    async def _take_responses(self, drawn: Mapping[str, Drawn], progress: ProgressLine) -> None:
        if self.job.responses is None:
            return
        items = with_prompts(self.job.responses.completions(), self.tasks, self.job.model)
        for number, item in enumerate(items):
            # A million take a minute: the heartbeat and a signal have their turn.
            if number % _RESPONSES_A_STEP == 0:
                await asyncio.sleep(0)
                if self.switch.reason is not None:
                    return
            sample = item.sample
            if drawn[sample.task].add(sample.problem_id, sample.sample_index, item.turn):
                self.folder.append_completion(item)
                progress.completion(item)
                progress.sample(sample.task)

    async def _generate(
        self, draws: Sequence[Draw], scorer: Scorer, progress: ProgressLine, attempt: int
    ) -> None:
        settings = self.job.model.settings
        if settings is None:
            raise AssertionError("ready responses draw nothing")
        progress.say(
            f"{self.job.model.name}: {settings.opening} for {len(draws)} samples (log: {settings.log})"
        )
        with environment.output_to(settings.log):
            make = registry.load("engine", self.job.suite.config.engine.kind)

        def offer(draw: Draw, completions: list[Completion]) -> None:
            progress.sample(draw.task.name)
            if draw.task.name not in self.room.deferred:
                scorer.offer(draw.task.name, draw.problem, draw.sample_index, completions)

        generation = Generation(
            engines=self._makers(make),
            maker=self.job.model.maker,
            sink=self.folder,
            split=self.job.model.reasoning.split,
            offer=offer,
            progress=progress.completion,
            workers=settings.workers,
            attempt=attempt,
            stop=self.switch.attach(asyncio.get_running_loop()),
            stored=self._open_conversations(draws),
            started=progress.begin,
            tell=progress.say,
            count=self.job.model.count,
        )
        gpus = GpuWatch()
        try:
            async with gpus:
                await generation.run(draws)
        finally:
            self.generation_s = progress.seconds
            self.gpu_busy = gpus.busy

    def _makers(self, make: Callable[[Any], Any]) -> dict[str, Callable[[], Engine]]:
        """By name, what makes each engine that works beside the others."""
        settings = self.job.model.settings
        if isinstance(settings, EngineSettings) and settings.share:
            borrow = self.keeper.borrow
            return {name: partial(borrow, make, member) for name, member in settings.members.items()}
        members = settings.members if settings is not None else {}
        return {name: partial(make, member) for name, member in members.items()}

    def _open_conversations(self, draws: Sequence[Draw]) -> dict[SampleId, list[Completion]]:
        """Turns on disk of samples that are not complete; only tasks of several turns have any."""
        wanted = {draw.sample for draw in draws if draw.problem.turns > 1}
        found: defaultdict[SampleId, list[Completion]] = defaultdict(list)
        for name in {sample.task for sample in wanted}:
            for item in self.folder.completions(name):
                if item.sample in wanted:
                    found[item.sample].append(item)
        return {sample: sorted(items, key=lambda item: item.turn) for sample, items in found.items()}

    def _begin_attempt(self, manifest: dict[str, Any], reused: int) -> dict[str, Any]:
        attempt = attempt_record(self.job, len(manifest["attempts"]) + 1, self.folder, reused)
        manifest["attempts"].append(attempt)
        self.folder.write_manifest(manifest)
        return attempt

    def _end_attempt(self, manifest: dict[str, Any], attempt: dict[str, Any], progress: ProgressLine) -> None:
        for task in self.tasks:
            if task.name in self.room:  # a server tells its version when it is first asked
                manifest["tasks"][task.name]["judge"] = self.room.record(task.name)
        seconds = time.monotonic() - self.started
        attempt |= ended_attempt(self.folder, progress, self.switch.reason, self.generation_s, seconds)
        attempt["gpu_busy"] = self.gpu_busy
        self.folder.write_manifest(manifest)

    def _results(self, judged: Mapping[str, VerifiedTask], manifest: Mapping[str, Any]) -> dict[str, Any]:
        results = build_results(self.folder, judged, manifest, self.job.suite.config.max_excluded_share)
        self.folder.write_results(results)
        return results
