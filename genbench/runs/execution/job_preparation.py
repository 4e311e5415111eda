"""Preparation of jobs from the options of a command, one for each model.

The completions of a job are drawn by an engine, or read from a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.engines.plugin_guard import engine_kind
from genbench.errors import ConfigError
from genbench.models.prepare import prepare_model
from genbench.models.responses import read_responses
from genbench.runs.execution.adaptive import adaptive_job, adaptive_key, without_base
from genbench.runs.execution.job import AdaptiveJob, Job
from genbench.runs.execution.preflight import check_engine, check_users
from genbench.runs.execution.run_folder_name import folder_of_command, placed, shard_folder
from genbench.runs.options import RunOptions, expected_lengths, reused
from genbench.runs.selection import for_model, in_shard, load_tasks, only, origin_record
from genbench.store.continuation import machine
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask


def replay_jobs(
    suite: Suite,
    chosen: Sequence[str],
    tasks: Sequence[LoadedTask],
    options: RunOptions,
    *,
    path: Path,
    origin: Mapping[str, Any],
    adaptive: AdaptiveJob | None,
) -> list[Job]:
    """Return the jobs whose completions are read from the file `path`.

    Raises:
        ConfigError: the file has no line for any task.
        ResponsesError: a line of the file is wrong.
    """
    others = [entry.label for entry in suite.config.tasks if entry.label not in {task.name for task in tasks}]
    subset = options.subset == "responses"
    jobs: list[Job] = []
    here = machine()
    for name in chosen:
        names = [name] if options.models and len(chosen) == 1 else list(suite.config.models)
        found = read_responses(path, tasks, name, names, subset=subset, other_tasks=others)
        answered = [only(task, found.problems[task.name]) for task in tasks if found.problems[task.name]]
        if not answered:
            raise ConfigError(f"{path}: has no line for a task of this run")
        model = prepare_model(suite, name, answered, found.engine)
        asked = {task.name: [problem.problem_id for problem in task.problems] for task in answered}
        own = {**origin, "problems": asked, "tasks": list(asked)}
        answered = for_model(answered, model)
        job = Job(suite, answered, model, Path(), own, here, options.quiet)
        jobs.append(replace(job, stop_on_degenerate=options.stop_on_degenerate, interim=options.interim))
    models = [job.model for job in jobs]
    folder = folder_of_command(suite, models, options, adaptive_key(adaptive))
    jobs = [replace(job, path=shard_folder(folder, options, job.model.name)) for job in jobs]
    return placed(jobs, suite, options)


def make_jobs(suite: Suite, chosen: Sequence[str], options: RunOptions) -> list[Job]:
    """Return the jobs of a command, one for each model. There are none if its shard has no problem.

    Every model is prepared before the first engine loads, so that a mistake in the second model does
    not cost the time of the first.

    Raises:
        InputError: an option or input cannot be used.
    """
    whole = load_tasks(suite, options)
    tasks = in_shard(whole, options.part)
    if not tasks:
        return []
    origin = origin_record(whole, tasks, options)
    adaptive = adaptive_job(options, whole)
    if adaptive is not None:
        chosen = without_base(chosen, adaptive, options)
    if options.responses is not None:
        path = Path(options.responses)
        found = replay_jobs(suite, chosen, tasks, options, path=path, origin=origin, adaptive=adaptive)
        return [replace(job, adaptive=adaptive, shard=options.part) for job in found]
    kind = engine_kind(suite.config.engine, suite.folder)
    check_engine(suite)
    check_users(suite, tasks)
    lengths = expected_lengths(options)
    models = [prepare_model(suite, name, tasks, kind) for name in chosen]
    folder = folder_of_command(suite, models, options, adaptive_key(adaptive))
    stored = reused(options, chosen)
    kind.prepare_process()
    here = machine()
    jobs: list[Job] = []
    for model in models:
        path = stored.get(model.name) or shard_folder(folder, options, model.name)
        at_work = replace(model, settings=model.settings.at(path))
        sized = for_model(tasks, model)
        job = Job(
            suite, sized, at_work, path, origin, here, options.quiet, lengths, reused=model.name in stored
        )
        job = replace(job, adaptive=adaptive, shard=options.part)
        jobs.append(replace(job, stop_on_degenerate=options.stop_on_degenerate, interim=options.interim))
    return placed(jobs, suite, options, stored)
