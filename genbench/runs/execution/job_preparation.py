"""Preparation of jobs from the options of a command, one for each model, with their folders.

The completions of a job are drawn by an engine, or read from a file. The default folder is named after the
suite. An edited suite gets a folder of its own, next to that of the run before.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.engines.kind import EngineKind
from genbench.engines.plugin_guard import engine_kind
from genbench.errors import ConfigError, GenbenchError
from genbench.models.prepare import PreparedModel, folder_digest, prepare_model, sized_tasks
from genbench.models.responses import read_responses
from genbench.runs.execution.adaptive import adaptive_job, without_base
from genbench.runs.execution.job import AdaptiveJob, Job
from genbench.runs.execution.preflight import check_engine, check_users
from genbench.runs.execution.prompt_records import prompt_records
from genbench.runs.execution.reuse import earlier_runs
from genbench.runs.execution.run_manifest import binding_record
from genbench.runs.inputs import about_record, expected_lengths, reused
from genbench.runs.options import RunOptions, path_or_none
from genbench.runs.selection import in_shard, load_tasks, only, origin_record
from genbench.runs.track_position import planned_night, track_position
from genbench.store.continuation import binding_differences, machine
from genbench.store.contract import digest, row_edits, task_edits
from genbench.store.folder import RunFolder
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import tasks_at_effort

_NOT_ASKED = frozenset(
    {"k", "limit", "role", "gating", "margin", "metrics", "reference", "verifier", "verifiers"}
)
"""Keys of a task that change what is made of its samples, and not what is asked."""


def default_folder(
    suite: Suite,
    models: Sequence[PreparedModel],
    night: Path | None = None,
    adaptive: AdaptiveJob | None = None,
) -> Path:
    """Return a folder name that is equal for the same command, and different for another checkpoint.

    Args:
        night: TRACK/NIGHT if a night is drawn. An unchanged model then has a new folder each night.
        adaptive: the plan of an adaptive run, which has a folder of its own.
    """
    name, own = night or Path(suite.name), folder_digest(models, suite.config)
    base = None if adaptive is None else digest(adaptive.plan.base.digest)
    key = own if base is None else digest([own, base])[: len(own)]
    return Path("runs") / name.parent / f"{name.name}-{key}"


def in_default_folder(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs in their default folder, or in another one if it has runs of the suite before an edit.

    A job whose folder is new knows the earlier folders, from which samples are taken over.
    """
    edits = {job.path: edits_since(RunFolder(job.path), job) for job in jobs}
    if any(edits.values()):
        first = jobs[0]
        name = first.path.parent.name if first.is_night else first.suite.name
        folder = first.path.parent.parent / f"{name}-{_edited_digest(first)}"
        jobs = [_moved(job, folder / job.model.name, edits[job.path]) for job in jobs]
    return [
        replace(job, earlier=earlier_runs(job.path, job.suite.name))
        if RunFolder(job.path).manifest() is None and not job.is_night
        else job
        for job in jobs
    ]


def edits_since(folder: RunFolder, job: Job) -> list[str]:
    """Return why a folder cannot be continued by a job, in words, or nothing if it has no manifest.

    Raises:
        RunFolderError: the folder is damaged.
        PromptError: a prompt of the job cannot be made.
    """
    manifest = folder.manifest()
    if manifest is None:
        return []
    new = job.suite.config.model_dump(mode="json")
    found: list[str] = []
    for task in job.tasks:
        if task.name in manifest.tasks:
            records, _ = prompt_records(job.model, task)
            rows = row_edits(task.name, folder.problems(task.name), records)
            found += [*task_edits(task.name, manifest.suite.config, new), *rows] if rows else []
    return found or [
        line
        for line in binding_differences(manifest.binding, binding_record(job))
        if line.startswith("tasks.")
    ]


def _moved(job: Job, path: Path, edits: Sequence[str]) -> Job:
    model = replace(job.model, settings=job.model.settings.at(path))
    lines = (f"{job.path} is a run of the suite before it was edited:", *(f"  {line}" for line in edits))
    notes = (*lines, f"the edited suite is a new run in {path}") if edits else ()
    return replace(job, model=model, path=path, notes=notes)


def _edited_digest(job: Job) -> str:
    """Return 8 hex digits over the default name and everything that the suite asks."""
    suite = job.suite
    asked = [entry.model_dump(mode="json", exclude=set(_NOT_ASKED)) for entry in suite.config.tasks]
    sources = [entry.data.path for entry in suite.config.tasks if entry.data and entry.data.path]
    models: list[Any] = [model.model_dump(mode="json") for model in suite.config.models.values()]
    templates = [model.chat_template for model in suite.config.models.values() if model.chat_template]
    files = [_content(suite, name) for name in (*sources, *templates)]
    return digest([job.path.parent.name, asked, models, files])[:8]


def _content(suite: Suite, name: str) -> str | None:
    path = resolve(name, suite.folder)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def folder_of_command(
    suite: Suite, models: Sequence[PreparedModel], options: RunOptions, adaptive: AdaptiveJob | None = None
) -> Path:
    """Return the folder in which each model of a command has its run folder.

    Args:
        adaptive: the plan of an adaptive run.

    Raises:
        ConfigError: the options of the track contradict each other or the suite.
    """
    night = planned_night(suite, options)
    named = None if night is None else Path(night.name) / night.label
    return path_or_none(options.run_dir) or default_folder(suite, models, named, adaptive)


def placed(jobs: Sequence[Job], suite: Suite, options: RunOptions, stored: Collection[str] = ()) -> list[Job]:
    """Return the jobs with their places in the track, in a default folder that none of them contradicts.

    Args:
        stored: the models whose stored run is taken instead of being drawn. They keep their place.
    """
    tracked = [
        job
        if job.model.name in stored
        else replace(job, track=track_position(suite, options, job.model.name))
        for job in jobs
    ]
    return tracked if options.run_dir or options.part or stored else in_default_folder(tracked)


def shard_folder(folder: Path, options: RunOptions, model: str) -> Path:
    """Return the folder of a model. Each shard has its own, so that one command line serves all shards."""
    return (folder / options.part.folder if options.part else folder) / model


def _replayed(
    suite: Suite, chosen: Sequence[str], whole: Sequence[LoadedTask], options: RunOptions, path: Path
) -> Iterator[tuple[PreparedModel, list[LoadedTask]]]:
    """Yield each model whose completions are read from a file, with the tasks that the file answers.

    Raises:
        ConfigError: the file has no line for any task.
        ResponsesError: a line of the file is wrong.
    """
    others = [entry.label for entry in suite.config.tasks if entry.label not in {task.name for task in whole}]
    for name in chosen:
        tasks = tasks_at_effort(suite, name, whole)
        names, picked = list(suite.config.models), bool(options.models) and len(chosen) == 1
        subset = options.subset == "responses"
        drawn = [task for task in tasks if task.is_drawn]
        found = read_responses(path, drawn, name, names, subset=subset, picked=picked, other_tasks=others)
        answered = [only(task, found.problems[task.draw]) for task in tasks if found.problems[task.draw]]
        if not answered:
            raise ConfigError(f"{path}: has no line for a task of this run")
        yield prepare_model(suite, name, answered, found.engine), answered


def _drawn(
    suite: Suite,
    chosen: Sequence[str],
    tasks: Sequence[LoadedTask],
    memory: EngineKind | None,
    failed: dict[str, GenbenchError],
) -> tuple[EngineKind, list[tuple[PreparedModel, Sequence[LoadedTask]]]]:
    """Return the kind of engine, and the models that it draws from, each with all tasks.

    Args:
        memory: a model in memory, which is drawn from instead of the suite's engine.
        failed: gets the errors of models that fail alone. They are left out.
    """
    kind = memory or engine_kind(suite.config.engine, suite.folder)
    if memory is None:
        check_engine(suite)
    check_users(suite, tasks)
    asked = {name: tasks_at_effort(suite, name, tasks) for name in chosen}
    if not any(asked.values()):
        raise ConfigError(f"{suite.path}: no task here is drawn at the effort of {', '.join(chosen)}")
    found: list[tuple[PreparedModel, Sequence[LoadedTask]]] = []
    for name, own in asked.items():
        try:
            if own:
                found.append((prepare_model(suite, name, own, kind), own))
        except GenbenchError as error:
            if len(asked) == 1 or not kind.fails_alone(suite.config.models[name]):
                raise
            failed[name] = error
            print(f"{name} is left out: {error}", file=sys.stderr)
    if not found:
        raise next(iter(failed.values()))
    return kind, found


def make_jobs(
    suite: Suite, chosen: Sequence[str], options: RunOptions, failed: dict[str, GenbenchError] | None = None
) -> list[Job]:
    """Return the jobs of a command, one for each model. There are none if its shard has no problem.

    Every model is prepared before the first engine loads, so that a mistake in the second model does
    not cost the time of the first.

    Args:
        failed: gets the errors of models that are left out, since they fail alone.

    Raises:
        InputError: an option or input cannot be used.
    """
    about = about_record(options)
    whole = load_tasks(suite, options)
    tasks = in_shard(whole, options.part)
    if not tasks:
        return []
    origin = origin_record(whole, tasks, options)
    adaptive, kind = None, None
    if options.against is not None:
        several = next((task for task in whole if not task.is_drawn), None)
        if several is not None:
            raise ConfigError(
                f"{several.where}: an adaptive run decides by one score of a task; leave out 'verifiers', or "
                "--adaptive"
            )
        adaptive = adaptive_job(Path(options.against), whole, finish=options.finish)
        chosen = without_base(chosen, adaptive, options)
    models: Sequence[tuple[PreparedModel, Sequence[LoadedTask]]]
    if options.responses is not None:
        models = list(_replayed(suite, chosen, tasks, options, Path(options.responses)))
    else:
        kind, models = _drawn(suite, chosen, tasks, options.memory, {} if failed is None else failed)
    lengths = expected_lengths(options)
    folder = folder_of_command(suite, [model for model, _ in models], options, adaptive)
    stored = reused(options, chosen)
    if kind is not None:
        kind.prepare_process()
    here = machine()
    jobs = []
    for model, asked in models:
        path = stored.get(model.name) or shard_folder(folder, options, model.name)
        answered = {task.name: [problem.problem_id for problem in task.problems] for task in asked}
        job = Job(
            suite=suite,
            tasks=sized_tasks(asked, model.measure),
            model=replace(model, settings=model.settings.at(path)),
            path=path,
            origin={**origin, "tasks": list(answered), **({} if kind else {"problems": answered})},
            machine=here,
            options=options,
            lengths=lengths,
            about=about,
            reused=model.name in stored,
            shard=options.part,
            adaptive=adaptive,
            fails_alone=kind is not None and kind.fails_alone(suite.config.models[model.name]),
        )
        jobs.append(job)
    return placed(jobs, suite, options, stored)
