"""Options to jobs: the tasks of a command with their rows, each model made ready, the folder of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.data.shard import Shard
from genbench.draw.lengths import read_lengths
from genbench.draw.responses import read_responses
from genbench.engines import arguments, environment
from genbench.errors import ConfigError
from genbench.models.local import folder_digest, prepare_model, prepare_responses
from genbench.models.prepared import PreparedModel
from genbench.runs.job import Job
from genbench.runs.options import RunOptions, data_dir, reused
from genbench.store.manifest import machine
from genbench.suite.config import HttpEngineConfig
from genbench.suite.suitefile import Suite, check_engine_keys
from genbench.tasks.load import load_task, selected_entries
from genbench.tasks.loaded import LoadedTask


def load_tasks(suite: Suite, options: RunOptions) -> list[LoadedTask]:
    """The suite's tasks with their rows, those that this command runs."""
    entries = selected_entries(suite, options.tasks, options.with_test)
    return [load_task(suite, entry, data_dir(options), options.limit) for entry in entries]


def make_jobs(suite: Suite, chosen: Sequence[str], options: RunOptions) -> list[Job]:
    """The jobs of a command, one a model; none where its shard holds no problem.

    Every model is prepared before the first engine loads: a mistake in the second costs no GPU hour.

    Raises:
        InputError: something given cannot be used.
    """
    whole = load_tasks(suite, options)
    tasks = _in_shard(whole, options.part)
    if not tasks:
        return []
    origin = _origin(whole, tasks, options)
    if options.responses is not None:
        return _responses_jobs(suite, chosen, tasks, options, origin)
    check_engine(suite)
    lengths = None if options.lengths_from is None else read_lengths(options.lengths_from)
    models = [prepare_model(suite, name, tasks) for name in chosen]
    folder = options.run_dir or _default_folder(suite, models)
    stored = reused(options, chosen)
    if not isinstance(suite.config.engine, HttpEngineConfig):
        environment.prepare()
    here = machine()
    return [
        Job(
            suite=suite,
            tasks=tasks,
            model=_at(model, path),
            path=path,
            responses=None,
            origin=origin,
            machine=here,
            quiet=options.quiet,
            lengths=lengths,
            reused=model.name in stored,
        )
        for model in models
        for path in [stored.get(model.name) or _folder_of(folder, options.part, model.name)]
    ]


def _in_shard(tasks: Sequence[LoadedTask], part: Shard | None) -> list[LoadedTask]:
    """The tasks with the problems of one part alone; those that have none there are left out."""
    if part is None:
        return list(tasks)
    kept = [
        _only(task, frozenset(p.problem_id for p in task.problems if part.holds(task.name, p.problem_id)))
        for task in tasks
    ]
    return [task for task in kept if task.problems]


def _folder_of(folder: Path, part: Shard | None, model: str) -> Path:
    """Parts of a job array have folders of their own, so that one command line serves them all."""
    return (folder / part.folder if part else folder) / model


def _at(model: PreparedModel, path: Path) -> PreparedModel:
    """The model with its engine at work in its run folder."""
    if model.settings is None:
        return model
    return replace(model, settings=replace(model.settings, work=path))


def check_engine(suite: Suite) -> None:
    """Refuses keys under `engine:` that the installed vLLM does not have; servers need none installed."""
    if isinstance(suite.config.engine, HttpEngineConfig):
        return
    if suite.config.engine.extra:
        names = arguments.engine_argument_names()
        check_engine_keys(suite, names, arguments.PINNED)
    else:
        arguments.distribution()


def _responses_jobs(
    suite: Suite,
    chosen: Sequence[str],
    tasks: Sequence[LoadedTask],
    options: RunOptions,
    origin: Mapping[str, Any],
) -> list[Job]:
    path = options.responses
    if path is None:
        raise AssertionError("called for ready responses")
    labels = [entry.label for entry in suite.config.tasks]
    others = [label for label in labels if label not in {task.name for task in tasks}]
    jobs: list[Job] = []
    here = machine()
    for name in chosen:
        names = [name] if options.models and len(chosen) == 1 else list(suite.config.models)
        found = read_responses(
            path, tasks, name, names, subset=options.subset == "responses", other_tasks=others
        )
        answered = [_only(task, found.problems[task.name]) for task in tasks if found.problems[task.name]]
        if not answered:
            raise ConfigError(f"{path}: holds no line for a task of this run")
        model = prepare_responses(suite, name, answered, found.identity)
        folder = options.run_dir or _default_folder(suite, [model])
        asked = {task.name: [problem.problem_id for problem in task.problems] for task in answered}
        jobs.append(
            Job(
                suite=suite,
                tasks=answered,
                model=model,
                path=_folder_of(folder, options.part, name),
                responses=found,
                origin={**origin, "problems": asked, "tasks": list(asked)},
                machine=here,
                quiet=options.quiet,
            )
        )
    return jobs


def _only(task: LoadedTask, ids: frozenset[str]) -> LoadedTask:
    """The task with the problems that have responses."""
    kept = tuple(problem for problem in task.problems if problem.problem_id in ids)
    gone = {problem.problem_id for problem in task.problems} - ids
    return replace(task, problems=kept, left_out=task.left_out | gone)


def _default_folder(suite: Suite, models: Sequence[PreparedModel]) -> Path:
    """The same command finds the same folder, so it continues a killed run; another checkpoint does not."""
    return Path("runs") / f"{suite.name}-{folder_digest(models, suite.config)}"


def _origin(whole: Sequence[LoadedTask], tasks: Sequence[LoadedTask], options: RunOptions) -> dict[str, Any]:
    """What `score` and `merge` need to read the same data again."""
    data = data_dir(options)
    return {
        "data_dir": str(data.resolve()) if data else None,
        "limit": options.limit,
        "problems": None,
        "tasks": [task.name for task in tasks],
        "shard": None if options.part is None else str(options.part),
        "whole": {task.name: len(task.problems) for task in whole},
        "command": options.command,
    }
