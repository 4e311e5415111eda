"""The verbs: each a short list of steps over the rooms below; what the command line and notebooks call."""

from __future__ import annotations

import importlib
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from genbench.engines import arguments, environment
from genbench.errors import ConfigError, InterruptedRunError, RunFolderError, nearest
from genbench.job import Job
from genbench.prepare import PreparedModel, folder_digest, prepare_model, prepare_responses
from genbench.requests import request_records
from genbench.rescore import judge_folders, score_folder
from genbench.responses import read_responses
from genbench.runner import run_job
from genbench.shipped import suite_path
from genbench.signals import StopSwitch, stop_on_signals
from genbench.store.folder import RunFolder
from genbench.store.manifest import machine
from genbench.suitefile import Suite, check_engine_keys, read_suite
from genbench.tasks.loaded import LoadedTask
from genbench.workload import load_task, selected_entries

DATA_VARIABLE = "GENBENCH_DATA_DIR"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `genbench run`, as they were given.

    `models` are `NAME=PATH` or `NAME` texts, `limit` the most problems a task, `subset` "responses"
    or None.
    """

    suite: str
    models: Sequence[str] = ()
    run_dir: Path | None = None
    data_dir: Path | None = None
    limit: int | None = None
    tasks: Sequence[str] = ()
    responses: Path | None = None
    subset: str | None = None
    overrides: Sequence[str] = ()
    with_test: bool = False
    quiet: bool = False
    command: str = ""


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run gave: the folder of each model and its results.json as a dict."""

    folders: Mapping[str, Path]
    results: Mapping[str, Mapping[str, Any]]
    page: Path | None = None
    """report.html; None where it could not be written, `notes` then says why."""
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def failures(self) -> list[str]:
        """Why the numbers must not be used; empty when they may."""
        return [f"{model}: {line}" for model, result in self.results.items() for line in result["failed"]]


def run(options: RunOptions) -> RunReport:
    """Draws, verifies and estimates every model of the suite; continues what a folder holds already.

    Raises:
        InputError: something given cannot be used. EngineError: the engine failed for good.
        InterruptedRunError: stopped by a signal; its text says how to continue.
    """
    suite, chosen = open_suite(options)
    check_options(options)
    tasks = load_tasks(suite, options)
    jobs = _responses_jobs(suite, chosen, tasks, options) if options.responses else None
    jobs = jobs or _engine_jobs(suite, chosen, tasks, options)
    switch = StopSwitch()
    results: dict[str, Mapping[str, Any]] = {}
    with stop_on_signals(switch.stop):
        for job in jobs:
            try:
                results[job.model.name] = run_job(job, switch)
            except InterruptedRunError as error:
                raise InterruptedRunError(_how_to_continue(error, options, job)) from None
        if any(job.deferred for job in jobs):
            results |= _judge(jobs, options, switch)
    folders = {job.model.name: job.path for job in jobs}
    page, notes = _write_report(list(folders.values()))
    return RunReport(folders, results, page, notes)


def _write_report(folders: Sequence[Path]) -> tuple[Path | None, tuple[str, ...]]:
    """The page of a finished run. Everything is on disk already: no defect here may lose the run."""
    try:
        # Plots cost a second of imports, which `check` and `prompts` need not pay.
        written = importlib.import_module("genbench.reporting").write_page(folders)
    except Exception as error:
        again = shlex.join(["genbench", "report", *map(str, folders)])
        return None, (f"the report could not be written ({type(error).__name__}: {error}); try: {again}",)
    return written.page, ()


def _judge(jobs: Sequence[Job], options: RunOptions, switch: StopSwitch) -> dict[str, Any]:
    """The verdicts that waited until every model under test was closed."""
    try:
        return judge_folders([job.path for job in jobs], data_dir(options), options.quiet, switch)
    except InterruptedRunError as error:
        raise InterruptedRunError(_how_to_continue(error, options, jobs[-1])) from None


def open_suite(options: RunOptions) -> tuple[Suite, list[str]]:
    """The suite with its overrides, and the names of the models that this command runs."""
    named = [text.partition("=") for text in options.models]
    replaced = {name: path for name, equals, path in named if equals}
    suite = read_suite(suite_path(options.suite), options.overrides, replaced)
    chosen = [name for name, _, _ in named] or list(suite.config.models)
    for name in chosen:
        if name not in suite.config.models:
            raise ConfigError(f"{suite.path}: no model '{name}'{nearest(name, suite.config.models)}")
    return suite, chosen


def check_options(options: RunOptions) -> None:
    """Options that contradict each other."""
    if options.subset is not None and options.subset != "responses":
        raise ConfigError(f"--subset {options.subset}: the only subset is 'responses'")
    if options.subset is not None and options.responses is None:
        raise ConfigError("--subset responses goes with --responses FILE")
    if options.limit is not None and options.limit < 1:
        raise ConfigError(f"--limit {options.limit}: wanted at least 1")


def data_dir(options: RunOptions) -> Path | None:
    """The mirror that is in force: --data-dir, or the variable GENBENCH_DATA_DIR."""
    named = os.environ.get(DATA_VARIABLE)
    return options.data_dir or (Path(named) if named else None)


def load_tasks(suite: Suite, options: RunOptions) -> list[LoadedTask]:
    """The suite's tasks with their rows, those that this command runs."""
    entries = selected_entries(suite, options.tasks, options.with_test)
    return [load_task(suite, entry, data_dir(options), options.limit) for entry in entries]


def _engine_jobs(
    suite: Suite, chosen: Sequence[str], tasks: Sequence[LoadedTask], options: RunOptions
) -> list[Job]:
    """Every model is prepared before the first engine loads: a mistake in the second costs no GPU hour."""
    check_engine(suite)
    models = [prepare_model(suite, name, tasks) for name in chosen]
    folder = options.run_dir or _default_folder(suite, models)
    environment.prepare()
    here = machine()
    return [_job(suite, tasks, model, folder, options=options, here=here) for model in models]


def check_engine(suite: Suite) -> None:
    """Refuses keys under `engine:` that the installed vLLM does not have."""
    if suite.config.engine.extra:
        names = arguments.engine_argument_names()
        check_engine_keys(suite, names, arguments.PINNED)
    else:
        arguments.distribution()


def _responses_jobs(
    suite: Suite, chosen: Sequence[str], tasks: Sequence[LoadedTask], options: RunOptions
) -> list[Job]:
    if options.responses is None:
        return []
    labels = [entry.label for entry in suite.config.tasks]
    others = [label for label in labels if label not in {task.name for task in tasks}]
    jobs: list[Job] = []
    here = machine()
    for name in chosen:
        names = [name] if options.models and len(chosen) == 1 else list(suite.config.models)
        found = read_responses(
            options.responses, tasks, name, names, subset=options.subset == "responses", other_tasks=others
        )
        answered = [_only(task, found.problems[task.name]) for task in tasks if found.problems[task.name]]
        if not answered:
            raise ConfigError(f"{options.responses}: holds no line for a task of this run")
        model = prepare_responses(suite, name, answered, found.identity)
        folder = options.run_dir or _default_folder(suite, [model])
        job = _job(suite, answered, model, folder, options=options, here=here)
        jobs.append(replace(job, responses=found))
    return jobs


def _only(task: LoadedTask, ids: frozenset[str]) -> LoadedTask:
    """The task with the problems that have responses."""
    kept = tuple(problem for problem in task.problems if problem.problem_id in ids)
    gone = {problem.problem_id for problem in task.problems} - ids
    return replace(task, problems=kept, left_out=task.left_out | gone)


def _default_folder(suite: Suite, models: Sequence[PreparedModel]) -> Path:
    """The same command finds the same folder, so it continues a killed run; another checkpoint does not."""
    return Path("runs") / f"{suite.name}-{folder_digest(models, suite.config)}"


def _job(
    suite: Suite,
    tasks: Sequence[LoadedTask],
    model: PreparedModel,
    folder: Path,
    *,
    options: RunOptions,
    here: Mapping[str, Any],
) -> Job:
    data = data_dir(options)
    origin = {
        "data_dir": str(data.resolve()) if data else None,
        "limit": options.limit,
        "problems": {task.name: [p.problem_id for p in task.problems] for task in tasks}
        if options.responses
        else None,
        "tasks": [task.name for task in tasks],
        "command": options.command,
    }
    path = folder / model.name
    if model.settings is not None:
        model = replace(model, settings=replace(model.settings, work=path))
    return Job(suite, tasks, model, path, None, origin, here, options.quiet)


def _how_to_continue(error: InterruptedRunError, options: RunOptions, job: Job) -> str:
    command = options.command or f"genbench run {shlex.quote(options.suite)}"
    return f"stopped by {error}; everything finished is in {job.path}. Continue with: {command}"


def score(run_dir: Path, data_dir: Path | None = None, again: bool = False, quiet: bool = False) -> RunReport:
    """Verifies a stored run without an engine: what has no verdict, or (`again`) everything.

    Results, page and samples.parquet are written anew; the page with the runs that `run` had put beside it.

    Raises:
        RunFolderError: no run folder, a damaged line, or data that the run was not drawn for.
    """
    switch = StopSwitch()
    with stop_on_signals(switch.stop):
        results = score_folder(run_dir, data_dir, again, quiet, switch)
    page, notes = _write_report(_together(run_dir))
    return RunReport({results["model"]: run_dir}, {results["model"]: results}, page, notes)


def _together(run_dir: Path) -> list[Path]:
    """The finished runs of the suite in one folder, in the suite's order; this run among them."""
    names = RunFolder(run_dir).require_manifest()["suite"]["config"]["models"]
    place = run_dir.resolve()
    beside = [place.parent / name for name in names]
    found = [run_dir if path == place else path for path in beside if RunFolder(path).results_path.is_file()]
    return found if run_dir in found else [run_dir]


def prompts(options: RunOptions) -> Iterator[dict[str, Any]]:
    """The requests of a suite, see requests.request_records."""
    suite, chosen = open_suite(options)
    tasks = load_tasks(suite, options)
    for name in chosen:
        yield from request_records(prepare_model(suite, name, tasks), tasks)


def latest_results(path: Path) -> dict[str, Any]:
    """results.json of a run folder.

    Raises:
        RunFolderError: it has none yet; says what to do.
    """
    folder = RunFolder(path)
    folder.require_manifest()
    results = folder.results()
    if results is None:
        raise RunFolderError(f"{path}: the run is not finished; continue it, or run `genbench score {path}`")
    return results
