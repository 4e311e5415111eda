"""One attempt at a run: draw missing samples, verify those without a verdict, and record the attempt."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from genbench.draw.queue import Draw
from genbench.runs.adaptiverounds import AdaptiveRounds
from genbench.runs.attempt_facts import check_end, ended_attempt
from genbench.runs.context import RunContext
from genbench.runs.drawing import Drawing
from genbench.runs.heartbeat import Heartbeat
from genbench.runs.interim import progress_line
from genbench.runs.record import RunManifest
from genbench.runs.scoring import Scorer, Verify, catch_up
from genbench.store.storedrun import StoredTask
from genbench.tasks.loaded import VerifiedTask


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
