"""The models of a command in turn, the next one when the one before needs fewer engines than there are."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from genbench.analysis.results_record import Results
from genbench.draw.enginesession import cancel
from genbench.engines.kind import gives_way
from genbench.engines.shared import EngineKeeper
from genbench.errors import EngineError, InterruptedRunError, cause
from genbench.runs.job import Job
from genbench.runs.options import RunOptions
from genbench.runs.session import run_job
from genbench.runs.signals import StopSwitch


async def draw_in_turn(
    jobs: Sequence[Job], stored: Mapping[Path, Results], options: RunOptions, switch: StopSwitch
) -> dict[str, Results]:
    """Draw the models, at most two at the same time. Return the results of each.

    The next one begins when no sample of the one before waits, if it can use idle engines or their places.
    The results of `stored` jobs are taken as they are.
    """
    missing = [job for job in jobs if job.path not in stored]
    tasks: dict[Path, asyncio.Task[Results]] = {}
    before: asyncio.Task[Results] | None = None
    async with EngineKeeper() as keeper:
        try:
            for job in missing:
                dry = asyncio.Event()
                task = asyncio.create_task(_run(job, options, switch, keeper, dry.set))
                tasks[job.path] = task
                if before is not None:
                    await before
                if gives_way(job.model.settings) and job is not missing[-1]:
                    await _until_dry(task, dry)
                else:
                    await task
                before = task
            await asyncio.gather(*tasks.values())
        finally:
            if switch.reason is not None and tasks:  # each ends by itself
                await asyncio.wait(tasks.values())
            await cancel(tasks.values())
    return {
        job.model.name: stored[job.path] if job.path in stored else tasks[job.path].result() for job in jobs
    }


async def _until_dry(task: asyncio.Task[Results], dry: asyncio.Event) -> None:
    """Wait until no sample of a model waits for an engine, or until it is done. Raise its error."""
    waiting = asyncio.create_task(dry.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if task.done():
        task.result()


async def _run(
    job: Job, options: RunOptions, switch: StopSwitch, keeper: EngineKeeper, ran_dry: Callable[[], None]
) -> Results:
    try:
        return await run_job(job, switch, keeper, ran_dry)
    except InterruptedRunError as error:
        raise InterruptedRunError(how_to_continue(error, options, job)) from None
    except BrokenPipeError as error:
        # The command line takes a broken pipe for the end of its own output, and would end without a word.
        raise EngineError(
            f"a process of the run ended while it was written to: {cause(error)}; everything finished is in "
            f"{job.path}, and the same command continues it"
        ) from error


def how_to_continue(error: InterruptedRunError, options: RunOptions, job: Job) -> str:
    """Return what is said of a run that was stopped."""
    command = options.command or f"genbench run {shlex.quote(str(options.suite or ''))}"
    return f"stopped by {error}; everything finished is in {job.path}. Continue with: {command}"
