"""One model through one suite: draw what is missing, verify what has no verdict, write results."""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genbench import registry
from genbench.engines import environment
from genbench.errors import InterruptedRunError
from genbench.generate import Generation
from genbench.judging import JudgeRoom, forget_unscored
from genbench.plan import Draw, missing_draws
from genbench.prepare import PreparedModel
from genbench.progress import ProgressLine
from genbench.protocols import Engine
from genbench.responses import Responses
from genbench.results import build_results
from genbench.samples import ask_records, merged_asks
from genbench.scoring import Judged, Scorer, stale_verifiers
from genbench.store import manifest as manifests
from genbench.store.contract import digest
from genbench.store.folder import FORMAT, Drawn, RunFolder
from genbench.suitefile import Suite
from genbench.tasks.loaded import LoadedTask
from genbench.types import Case, Completion, Finding, SampleId
from genbench.verifiers.pool import VerifierPool, VerifierSpec

_WORKERS_PER_SLOT = 2
"""Requests in flight per engine slot: enough to keep it full, few enough to start streaming at once."""


@dataclass(frozen=True, slots=True)
class Job:
    """What one command wants of one model.

    `origin` is what `genbench score` needs to read the same data again: data folder, limit, tasks.
    """

    suite: Suite
    tasks: Sequence[LoadedTask]
    model: PreparedModel
    path: Path
    responses: Responses | None
    origin: Mapping[str, Any]
    machine: Mapping[str, Any]
    """Taken once a command, before any engine adds variables of its own to the environment."""
    quiet: bool = False

    @property
    def deferred(self) -> bool:
        """Some verdicts wait for a judge that loads when all models under test are closed."""
        return bool(JudgeRoom(self.suite, self.tasks, self.path).deferred)

    @property
    def run_id(self) -> str:
        """The run's name in seeds of resampling: the same for the same model, terms and run seed."""
        terms = {**self.model.terms, "decoding": None}
        return digest([self.suite.name, self.model.identity, terms, self.suite.config.decoding.seed])[:12]


def run_job(job: Job, switch: StopSwitch) -> dict[str, Any]:
    """Runs a job to its end and returns its results (also written to results.json).

    Raises:
        RunFolderError: the folder holds another run, or is being written.
        EngineError: the engine could not be started or died for good.
        InterruptedRunError: stopped by a signal; the folder can be continued.
    """
    with RunFolder.writer(job.path) as folder:
        return run_coroutine(_Session(job, folder, switch).run())


def run_coroutine(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """asyncio.run, in a thread of its own where a loop runs already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, work).result()


class StopSwitch:
    """Tells running work to stop; set by signal handlers, safe from any thread."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._wake: Callable[[], None] | None = None

    def stop(self, reason: str) -> None:
        self.reason = self.reason or reason
        if self._wake is not None:
            self._wake()

    def attach(self, loop: asyncio.AbstractEventLoop) -> asyncio.Event:
        """An event of `loop` that is set when the switch is thrown."""
        event = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(event.set)

        self._wake = wake
        if self.reason is not None:
            event.set()
        return event


class _Session:
    """The life of one command on one run folder."""

    def __init__(self, job: Job, folder: RunFolder, switch: StopSwitch) -> None:
        self.job, self.folder, self.switch = job, folder, switch
        self.started = time.monotonic()
        self.generation_s = 0.0
        self.tasks: Sequence[LoadedTask] = job.tasks
        self.room = JudgeRoom(job.suite, job.tasks, folder.path)
        self.specs = verifier_specs(job.tasks, self.room)

    async def run(self) -> dict[str, Any]:
        verify = self.job.suite.config.verify
        async with VerifierPool(verify.workers, verify.nice) as pool, self.room:
            judged = await load_verifiers(pool, self.specs, self.job.tasks, self.room)
            self.tasks = [item.task for item in judged.values()]
            asked = {task.name: self._asked(task) for task in self.tasks}
            manifest = self._open_manifest(judged, asked)
            drawn = {task.name: self.folder.drawn(task.name) for task in self.tasks}
            for item in judged.values():
                if stale_verifiers(self.folder, item):
                    self.folder.drop_verdicts(item.task.name)
                if item.task.name in self.room:
                    forget_unscored(self.folder, item.task.name)
            draws = missing_draws(self.tasks, drawn)
            if draws:
                await self.room.reach()
            await self._draw_and_score(pool, judged, manifest, drawn, draws)
        return self._results(judged, manifest)

    async def _draw_and_score(
        self,
        pool: VerifierPool,
        judged: Mapping[str, Judged],
        manifest: dict[str, Any],
        drawn: Mapping[str, Drawn],
        draws: Sequence[Draw],
    ) -> None:
        total = sum(task.samples for task in self.tasks)
        progress = ProgressLine(self.job.model.name, total, total - len(draws), self.job.quiet)
        attempt = self._begin_attempt(manifest, total - len(draws))

        async def rule(task: str, case: Case) -> Finding:
            return await pool.verify(self.specs[task], case)

        async def verify(task: str, case: Case) -> Finding:
            if task in self.room:
                return await self.room.verify(self.folder, task, case, rule)
            return await rule(task, case)

        now = {name: item for name, item in judged.items() if name not in self.room.deferred}
        scorer = Scorer(self.folder, now, verify, self.job.model.reasoning.split, progress.verdict)
        try:
            if self.job.responses is not None:
                self._take_responses(drawn, progress)
            elif draws:
                await self._generate(draws, scorer, progress, attempt["attempt"])
            else:
                progress.say(f"{self.job.model.name}: all {total} samples are on disk, nothing is drawn")
            if self.switch.reason is None:
                await catch_up(scorer, self.switch)
        finally:
            await scorer.cancel()
            self.folder.sync()
            progress.close()
            self._end_attempt(manifest, attempt, progress)
        if self.switch.reason is not None:
            raise InterruptedRunError(self.switch.reason)

    def _take_responses(self, drawn: Mapping[str, Drawn], progress: ProgressLine) -> None:
        if self.job.responses is None:
            return
        for item in self.job.responses.completions():
            sample = item.sample
            if drawn[sample.task].add(sample.problem_id, sample.sample_index, item.turn):
                self.folder.append_completion(item)
                progress.completion(item)
                progress.sample()

    async def _generate(
        self, draws: Sequence[Draw], scorer: Scorer, progress: ProgressLine, attempt: int
    ) -> None:
        settings = self.job.model.settings
        if settings is None:
            raise AssertionError("ready responses draw nothing")
        progress.say(
            f"{self.job.model.name}: loading the engine for {len(draws)} samples (log: {settings.log})"
        )
        with environment.output_to(settings.log):
            make = registry.load(registry.ENGINES, self.job.suite.config.engine.kind, "engine")

        def make_engine() -> Engine:
            engine: Engine = make(settings)
            return engine

        def offer(draw: Draw, completions: list[Completion]) -> None:
            progress.sample()
            if draw.task.name not in self.room.deferred:
                scorer.offer(draw.task.name, draw.problem, draw.sample_index, completions)

        generation = Generation(
            make_engine=make_engine,
            maker=self.job.model.maker,
            sink=self.folder,
            split=self.job.model.reasoning.split,
            offer=offer,
            progress=progress.completion,
            workers=_WORKERS_PER_SLOT * settings.max_num_seqs,
            attempt=attempt,
            stop=self.switch.attach(asyncio.get_running_loop()),
            stored=self._open_conversations(draws),
            started=progress.begin,
        )
        try:
            await generation.run(draws)
        finally:
            self.generation_s = progress.seconds

    def _open_conversations(self, draws: Sequence[Draw]) -> dict[SampleId, list[Completion]]:
        """Turns on disk of samples that are not complete; only tasks of several turns have any."""
        wanted = {draw.sample for draw in draws if draw.problem.turns > 1}
        found: defaultdict[SampleId, list[Completion]] = defaultdict(list)
        for name in {sample.task for sample in wanted}:
            for item in self.folder.completions(name):
                if item.sample in wanted:
                    found[item.sample].append(item)
        return {sample: sorted(items, key=lambda item: item.turn) for sample, items in found.items()}

    def _asked(self, task: LoadedTask) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Renders every first-turn prompt (one that does not fit stops here): problems, and their asks."""
        records: list[dict[str, Any]] = []
        seen: list[dict[str, Any]] = []
        for problem in task.problems:
            asks = [task.ask(problem, index, ()) for index in range(task.k)]
            requests = [self.job.model.maker.request(task, problem, index, ()) for index in range(task.k)]
            ask, first = asks[0], requests[0]
            if ask is None or first is None:
                raise AssertionError("a problem has a first turn")
            records.append(
                {
                    "problem_id": problem.problem_id,
                    "prompt_digest": first.prompt_digest,
                    "reference_digest": digest(ask.reference)[:16],
                    "prompt_tokens": len(first.token_ids) or None,
                    "max_tokens": first.max_tokens,
                    "turns": problem.turns,
                    "strata": dict(problem.strata),
                    "group": problem.group,
                }
            )
            seen += ask_records(problem.problem_id, asks, requests)
        return records, seen

    def _open_manifest(
        self,
        judged: Mapping[str, Judged],
        asked: Mapping[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]],
    ) -> dict[str, Any]:
        manifest = manifests.merge(self.folder, self._manifest(judged))
        for name, (records, asks) in asked.items():
            merged = manifests.check_problems(self.folder, name, records)
            (self.folder.path / name).mkdir(exist_ok=True)
            self.folder.write_problems(name, merged)
            self.folder.write_asks(name, merged_asks(self.folder.asks(name), asks))
        if any(task.entry.role == "test" for task in self.tasks):
            manifest["test_uses"] += 1
        self.folder.write_manifest(manifest)
        return manifest

    def _manifest(self, judged: Mapping[str, Judged]) -> dict[str, Any]:
        job, config = self.job, self.job.suite.config
        return {
            "format": FORMAT,
            "run_id": job.run_id,
            "suite": {
                "name": job.suite.name,
                "path": str(job.suite.path.resolve()),
                "overrides": list(job.suite.overrides),
                "digest": digest(config.model_dump(mode="json")),
                "git": manifests.git_commit(str(job.suite.folder)),
                "config": config.model_dump(mode="json"),
            },
            "origin": dict(job.origin),
            "model": {"name": job.model.name, **job.model.config.model_dump(mode="json")},
            "model_identity": job.model.identity,
            "run_seed": config.decoding.seed,
            "terms": dict(job.model.terms),
            "reasoning": job.model.reasoning.record,
            "warnings": [*job.model.warnings, *_warnings(judged), *self.room.warnings],
            "tasks": {task.name: task_record(task, judged[task.name], self.room) for task in self.tasks},
        }

    def _begin_attempt(self, manifest: dict[str, Any], reused: int) -> dict[str, Any]:
        settings = self.job.model.settings
        attempt = {
            "attempt": len(manifest["attempts"]) + 1,
            "started": manifests.now(),
            "pid": os.getpid(),
            "circumstances": {
                "engine": settings.circumstances if settings else None,
                "packages": manifests.package_versions(),
                "machine": dict(self.job.machine),
                "locks_are_advisory": self.folder.locks_are_advisory,
            },
            "reused": reused,
        }
        manifest["attempts"].append(attempt)
        self.folder.write_manifest(manifest)
        return attempt

    def _end_attempt(self, manifest: dict[str, Any], attempt: dict[str, Any], progress: ProgressLine) -> None:
        for task in self.tasks:
            if task.name in self.room:  # a server tells its version when it is first asked
                manifest["tasks"][task.name]["judge"] = self.room.record(task.name)
        attempt |= {
            "ended": manifests.now(),
            "interrupted": self.switch.reason,
            "drawn": progress.drawn,
            "verdicts": sum(progress.statuses.values()),
            "completion_tokens": progress.tokens,
            "generation_s": round(self.generation_s, 3),
            "seconds": round(time.monotonic() - self.started, 3),
            "healed_bytes": self.folder.healed_bytes,
        }
        self.folder.write_manifest(manifest)

    def _results(self, judged: Mapping[str, Judged], manifest: Mapping[str, Any]) -> dict[str, Any]:
        results = build_results(self.folder, judged, manifest, self.job.suite.config.max_excluded_share)
        self.folder.write_results(results)
        return results


def verifier_specs(tasks: Sequence[LoadedTask], room: JudgeRoom) -> dict[str, VerifierSpec]:
    """The rules that the pool runs: those of tasks without a judge, and those before a judge."""
    alone = [task for task in tasks if task.name not in room]
    specs = {task.name: VerifierSpec(task.task.info.verifier, task.verifier_options) for task in alone}
    return specs | room.rules


async def load_verifiers(
    pool: VerifierPool, specs: Mapping[str, VerifierSpec], tasks: Sequence[LoadedTask], room: JudgeRoom
) -> dict[str, Judged]:
    """Loads each verifier once, so that a missing one stops the run before the engine loads.

    Problems that a verifier cannot judge on this machine (it lacks a tagger, say) are left out and
    counted, and the run says so.
    """
    found: dict[str, Judged] = {}
    for task in tasks:
        if task.name not in specs:
            own = {problem.problem_id: problem for problem in task.problems}
            found[task.name] = Judged(task, *room.verifier(task.name), own)
            continue
        opened = await pool.open(specs[task.name], _references(task))
        kept = tuple(problem for problem in task.problems if problem.problem_id not in opened.unavailable)
        judged = replace(task, problems=kept, left_out=task.left_out | opened.unavailable.keys())
        problems = {problem.problem_id: problem for problem in kept}
        warning = _unavailable_words(task, opened.unavailable)
        digest_ = specs[task.name].digest(opened.version)
        version = opened.version
        if task.name in room:
            digest_, version = room.verifier(task.name, digest_)
        found[task.name] = Judged(judged, digest_, version, problems, warning)
    return found


def _unavailable_words(task: LoadedTask, unavailable: Mapping[str, str]) -> str | None:
    if not unavailable:
        return None
    why = next(iter(unavailable.values()))
    return f"{task.name}: {len(unavailable)} of {len(task.problems)} problems are left out: {why}"


def _references(task: LoadedTask) -> Iterator[tuple[str, Any]]:
    for problem in task.problems:
        ask = task.ask(problem, 0, ())
        if ask is not None:
            yield problem.problem_id, ask.reference


async def catch_up(scorer: Scorer, switch: StopSwitch) -> None:
    """Makes the verdicts that still lack; a thrown switch ends it."""
    stop = switch.attach(asyncio.get_running_loop())
    work = asyncio.create_task(scorer.catch_up())
    waiter = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, waiter}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()
    finally:
        work.cancel()
        waiter.cancel()
        await asyncio.gather(work, waiter, return_exceptions=True)


def task_record(task: LoadedTask, judged: Judged, room: JudgeRoom) -> dict[str, Any]:
    """What the manifest says of a task."""
    info = task.task.info
    judge = {"judge": room.record(task.name)} if task.name in room else {}
    return judge | {
        "version": info.version,
        "k": task.k,
        "n": len(task.problems),
        "of": len(task.problems) + len(task.left_out),
        "role": task.entry.role,
        "gating": task.entry.gating,
        "margin": task.entry.margin,
        "headline": info.headline,
        "metrics": list(task.metrics),
        "chance": info.chance,
        "decoding": task.decoding.model_dump(mode="json", exclude={"seed"}),
        "verifier": {"name": info.verifier, "version": judged.version, "digest": judged.verifier},
        "data": dict(task.provenance),
        "data_digest": task.provenance.get("digest"),
    }


def _warnings(judged: Mapping[str, Judged]) -> list[str]:
    """What the tasks' data and verifiers have to say."""
    data = [
        str(item.task.provenance["warning"])
        for item in judged.values()
        if item.task.provenance.get("warning")
    ]
    return data + [item.warning for item in judged.values() if item.warning]
