"""Execute one command on all models of a suite, from its options to the results of each model.

Models run in sequence. The next one starts when no sample of the one before waits for an engine any more.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import shlex
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from genbench.analysis.results.record import Results
from genbench.draw.engine_lanes import cancel
from genbench.draw.progress import ProgressLine, Together
from genbench.engines.placement import EngineKeeper
from genbench.errors import EngineError, GenbenchError, InterruptedRunError, cause
from genbench.runs.checkpoint_sweep import expand
from genbench.runs.event_loop import StopSwitch, run_coroutine, stop_after, stop_on_signals
from genbench.runs.execution.job import Job
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.execution.reuse import stored_results
from genbench.runs.execution.scoring import verifier_pool
from genbench.runs.execution.session import run_job
from genbench.runs.inputs import data_dir, open_suite
from genbench.runs.options import RunOptions, check_options
from genbench.runs.stored.rescore import judge_folders, looks_wait


async def run_models_in_sequence(
    jobs: Sequence[Job],
    stored: Mapping[Path, Results],
    options: RunOptions,
    switch: StopSwitch,
    failed: dict[str, GenbenchError],
) -> dict[str, Results]:
    """Draw the models, several at the same time if their engine allows it. Return the results of each.

    The next one begins when no sample of the one before waits, if it can use idle engines or their places.
    The results of `stored` jobs are taken as they are.

    Args:
        failed: gets the errors of models that fail alone. These have no results.

    Raises:
        InterruptedRunError: the run was stopped. It names the models that were finished before.
    """
    missing = [job for job in jobs if job.path not in stored]
    if not missing:
        return {job.model.name: stored[job.path] for job in jobs}
    tasks: dict[Path, asyncio.Task[Results | None]] = {}
    together = Together({job.model.name: _samples(job) for job in missing})
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(_naming_finished(tasks, missing))
        keeper = await stack.enter_async_context(EngineKeeper())
        pool = await stack.enter_async_context(verifier_pool(jobs[0].suite.config.verify))
        try:
            for job in missing:
                await _until_fewer(tasks.values(), job.model.settings.models_at_once)
                dry = asyncio.Event()
                work = partial(run_job, job, switch, keeper, pool, ran_dry=dry.set, together=together)
                task = asyncio.create_task(
                    _alone(job, partial(_run, work, job, options), switch, tasks, failed)
                )
                tasks[job.path] = task
                if job.model.settings.gives_way and job is not missing[-1]:
                    await _until_dry(task, dry)
                else:
                    await task
            await asyncio.gather(*tasks.values())
        finally:
            if switch.reason is not None and tasks:  # each ends by itself
                await asyncio.wait(tasks.values())
            await cancel(tasks.values())
    found = {**stored, **{path: task.result() for path, task in tasks.items()}}
    return {job.model.name: results for job in jobs if (results := found[job.path]) is not None}


def _samples(job: Job) -> int:
    """Return the samples of a job."""
    return sum(task.samples for task in job.tasks if task.is_drawn)


async def _until_fewer(tasks: Iterable[asyncio.Task[Results | None]], most: int) -> None:
    """Wait until fewer than `most` models are open. Raise the error of one that failed."""
    while len(running := [task for task in tasks if not task.done()]) >= most:
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()


async def _alone(
    job: Job,
    work: Callable[[], Awaitable[Results]],
    switch: StopSwitch,
    tasks: Mapping[Path, asyncio.Task[Results | None]],
    failed: dict[str, GenbenchError],
) -> Results | None:
    """Return the results of a job, or None if it failed alone.

    An engine that fails before any model is finished would fail for all of them.
    """
    try:
        return await work()
    except GenbenchError as error:
        finished = any(task.done() and not task.exception() and task.result() for task in tasks.values())
        if not job.fails_alone or switch.reason or (isinstance(error, EngineError) and not finished):
            raise
        failed[job.model.name] = error
        ProgressLine(job.model.name, 0, 0, job.options.quiet).say(f"{job.model.name} failed: {error}")
        return None


@asynccontextmanager
async def _naming_finished(
    tasks: Mapping[Path, asyncio.Task[Results | None]], jobs: Sequence[Job]
) -> AsyncIterator[None]:
    """Let the error of a stopped run name the folders whose results are complete."""
    try:
        yield
    except InterruptedRunError as error:
        judged_later = {job.path for job in jobs if job.deferred}
        error.finished = tuple(
            path
            for path, task in tasks.items()
            if path not in judged_later
            and task.done()
            and not task.cancelled()
            and not task.exception()
            and task.result() is not None
        )
        raise


async def _until_dry(task: asyncio.Task[Results | None], dry: asyncio.Event) -> None:
    """Wait until no sample of a model waits for an engine, or until it is done. Raise its error."""
    waiting = asyncio.create_task(dry.wait())
    try:
        await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()
    if task.done():
        task.result()


async def _run(work: Callable[[], Awaitable[Results]], job: Job, options: RunOptions) -> Results:
    try:
        return await work()
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
    failed: Mapping[str, GenbenchError]
    """The errors of models that failed while others did not."""


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
        failed: dict[str, GenbenchError] = {}
        jobs = make_jobs(suite, chosen, options, failed)
        stored = {job.path: found for job in jobs if (found := stored_results(job)) is not None}
        with stop_on_signals(switch.stop):
            results = _run_all(jobs, stored, options, switch, failed)
    if failed and not results:
        raise next(iter(failed.values()))
    folders = {job.model.name: job.path for job in jobs if job.model.name in results}
    return Ran(folders, results, list(stored), failed)


def _run_all(
    jobs: Sequence[Job],
    stored: Mapping[Path, Results],
    options: RunOptions,
    switch: StopSwitch,
    failed: dict[str, GenbenchError],
) -> dict[str, Results]:
    """Return the results of each model. Results that are `stored` already are taken as they are."""
    results = run_coroutine(run_models_in_sequence(jobs, stored, options, switch, failed))
    own = [job for job in jobs if job.path not in stored and job.model.name not in failed]
    if not any(job.deferred for job in own):
        return results
    results |= _judge(own, options, switch)
    # The looks of an adaptive run need the verdicts of its judge, which cannot load next to the model.
    while waiting := [job for job in own if job.shard is None and looks_wait(job.path)]:
        results |= run_coroutine(run_models_in_sequence(waiting, {}, options, switch, failed))
        results |= _judge(waiting, options, switch)
    return results


def _judge(jobs: Sequence[Job], options: RunOptions, switch: StopSwitch) -> dict[str, Results]:
    """Make the verdicts that had to wait until every model under test was closed."""
    try:
        return judge_folders([job.path for job in jobs], data_dir(options), options.quiet, switch)
    except InterruptedRunError as error:
        raise InterruptedRunError(how_to_continue(error, options, jobs[-1])) from None
