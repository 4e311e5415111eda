"""Execute one command on all models of a suite, from its options to the results of each model.

Models run in sequence. The next one starts when the one before needs fewer engines than there are.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import shlex
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from genbench.analysis.results.record import Results
from genbench.draw.engine_lanes import cancel
from genbench.engines.placement import EngineKeeper
from genbench.errors import EngineError, InterruptedRunError, cause
from genbench.runs.checkpoint_sweep import expand
from genbench.runs.event_loop import StopSwitch, run_coroutine, stop_after, stop_on_signals
from genbench.runs.execution.job import Job
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.execution.reuse import stored_results
from genbench.runs.execution.session import run_job
from genbench.runs.inputs import data_dir, open_suite
from genbench.runs.options import RunOptions, check_options
from genbench.runs.stored.rescore import judge_folders, looks_wait


async def run_models_in_sequence(
    jobs: Sequence[Job], stored: Mapping[Path, Results], options: RunOptions, switch: StopSwitch
) -> dict[str, Results]:
    """Draw the models, at most two at the same time. Return the results of each.

    The next one begins when no sample of the one before waits, if it can use idle engines or their places.
    The results of `stored` jobs are taken as they are.

    Raises:
        InterruptedRunError: the run was stopped. It names the models that were finished before.
    """
    missing = [job for job in jobs if job.path not in stored]
    tasks: dict[Path, asyncio.Task[Results]] = {}
    before: asyncio.Task[Results] | None = None
    async with _naming_finished(tasks, missing), EngineKeeper() as keeper:
        try:
            for job in missing:
                dry = asyncio.Event()
                task = asyncio.create_task(_run(job, options, switch, keeper, dry.set))
                tasks[job.path] = task
                if before is not None:
                    await before
                if job.model.settings.gives_way and job is not missing[-1]:
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


@asynccontextmanager
async def _naming_finished(
    tasks: Mapping[Path, asyncio.Task[Results]], jobs: Sequence[Job]
) -> AsyncIterator[None]:
    """Let the error of a stopped run name the folders whose results are complete."""
    try:
        yield
    except InterruptedRunError as error:
        judged_later = {job.path for job in jobs if job.deferred}
        error.finished = tuple(
            path
            for path, task in tasks.items()
            if path not in judged_later and task.done() and not task.cancelled() and not task.exception()
        )
        raise


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


MANY_SAMPLES = 50_000
"""Samples of a command from which on the memory of its run matters. A collection takes 0.1 s or more."""


def release_memory_after(results: Iterable[Results]) -> None:
    """Free what the runs of a command have left, if they had many samples.

    Of 120,000 problems 35 MiB are in cycles that Python collects late, and 35 MiB are kept by the allocator.
    """
    if sum(task.samples for run in results for task in run.tasks.values()) >= MANY_SAMPLES:
        release_memory()


def release_memory() -> None:
    """Collect garbage, and return free memory to the system if the C library can (glibc)."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@dataclass(frozen=True, slots=True)
class Ran:
    """The folder and the results of each model of a command. Both are empty if its shard has no problem."""

    folders: Mapping[str, Path]
    results: Mapping[str, Results]
    untouched: Sequence[Path]
    """The folders that were complete before and were only read."""


def run_models(options: RunOptions) -> Ran:
    """Draw and verify every model of the suite.

    Raises:
        InputError: the suite, an option or a file cannot be used.
        EngineError: the engine failed for good.
        InterruptedRunError: the run was stopped by a signal. The message says how to continue.
    """
    ran = _run_jobs(options)
    release_memory_after(ran.results.values())
    return ran


def _run_jobs(options: RunOptions) -> Ran:
    """Prepare and run the jobs. Nothing refers to them when it returns."""
    options, left_out = expand(options)
    for line in left_out:
        print(line, file=sys.stderr)
    suite, chosen = open_suite(options)
    check_options(options)
    switch = StopSwitch()
    with stop_after(options.max_hours, switch.stop):
        jobs = make_jobs(suite, chosen, options)
        stored = {job.path: found for job in jobs if (found := stored_results(job)) is not None}
        with stop_on_signals(switch.stop):
            results = _run_all(jobs, stored, options, switch)
    return Ran({job.model.name: job.path for job in jobs}, results, list(stored))


def _run_all(
    jobs: Sequence[Job], stored: Mapping[Path, Results], options: RunOptions, switch: StopSwitch
) -> dict[str, Results]:
    """Return the results of each model. Results that are `stored` already are taken as they are."""
    results = run_coroutine(run_models_in_sequence(jobs, stored, options, switch))
    own = [job for job in jobs if job.path not in stored]
    if not any(job.deferred for job in own):
        return results
    results |= _judge(own, options, switch)
    # The looks of an adaptive run need the verdicts of its judge, which cannot load next to the model.
    while waiting := [job for job in own if job.shard is None and looks_wait(job.path)]:
        results |= run_coroutine(run_models_in_sequence(waiting, {}, options, switch))
        results |= _judge(waiting, options, switch)
    return results


def _judge(jobs: Sequence[Job], options: RunOptions, switch: StopSwitch) -> dict[str, Results]:
    """Make the verdicts that had to wait until every model under test was closed."""
    try:
        return judge_folders([job.path for job in jobs], data_dir(options), options.quiet, switch)
    except InterruptedRunError as error:
        raise InterruptedRunError(how_to_continue(error, options, jobs[-1])) from None
