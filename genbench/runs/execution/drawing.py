"""Drawing: the missing samples of a run, from its engines into its files."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from genbench.draw.capacity import limit_of
from genbench.draw.draw_queue import Draw
from genbench.draw.generation import CountTrace, Generation, More, RunRollouts
from genbench.draw.progress import ProgressLine
from genbench.engines.devices import GpuWatch
from genbench.engines.placement import engine_makers
from genbench.models.traces import given_trace_tokens, trace_tokens
from genbench.registry import AGENT_ROLLOUTS, load_object
from genbench.runs.execution.degeneration import DegenerationMonitor
from genbench.runs.execution.job import Job, RunContext
from genbench.runs.execution.scoring import (
    Scorer,
)
from genbench.store.folder import RunFolder
from genbench.types import Answer, Completion, SampleId


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
        users, rollouts = self._context.simulated_users(), _rollouts(job, place)
        generation.user, generation.rollouts = users.reply, rollouts
        try:
            async with users, rollouts or nullcontext(), gpus:
                await generation.run(draws, more)
        finally:
            self.seconds = progress.seconds
            self.gpu_busy = gpus.busy
            self.engines = generation.facts | {
                f"user of {task}": record for task, record in users.records.items()
            }
            if rollouts is not None and rollouts.record:
                self.engines["gateway"] = rollouts.record

    def _generation(
        self, draws: Sequence[Draw], scorer: Scorer, progress: ProgressLine, attempt: int
    ) -> Generation:
        context, model = self._context, self._context.job.model
        return Generation(
            engines=engine_makers(model.settings, context.keeper, model.name),
            maker=model.maker,
            sink=context.folder,
            split=model.reasoning.split,
            offer=_offer_to(scorer, progress),
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
            if job.options.stop_on_degenerate:
                self._context.switch.stop("degenerate outputs")

        return note

    def _count_trace(self) -> CountTrace:
        model = self._context.job.model
        return partial(trace_tokens, count=model.count) if model.settings.generates else given_trace_tokens


def _rollouts(job: Job, place: Path) -> RunRollouts | None:
    """Return what runs the rollouts of a job's agent tasks, or None if there are none of these."""
    if not any(task.is_rollout for task in job.tasks):
        return None
    found: RunRollouts = load_object(AGENT_ROLLOUTS)(job.model, job.tasks, place)
    return found


def _offer_to(
    scorer: Scorer, progress: ProgressLine
) -> Callable[[Draw, list[Completion], list[Answer]], None]:
    """Return the function that takes complete samples."""

    def offer(draw: Draw, completions: list[Completion], answers: list[Answer]) -> None:
        progress.sample(draw.task.name, draw.sample)
        scorer.offer(draw.sample, completions, answers)

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
