"""Run, score, merge and read a run: the functions that the command line and notebooks call."""

from __future__ import annotations

import math
import shlex
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import require_results
from genbench.errors import GenbenchError, InputError, InterruptedRunError
from genbench.runs.command import run_models
from genbench.runs.event_loop import StopSwitch, stop_on_signals
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions, path_or_none
from genbench.runs.requests import RequestRecord, suite_requests
from genbench.runs.selection import load_tasks
from genbench.runs.stored import merge as merging
from genbench.runs.stored.rescore import copy_for_suite, moved_verdicts, score_folder
from genbench.runs.stored.trust import read_kinds
from genbench.store.continuation import now
from genbench.store.folder import RunFolder
from genbench.store.json_files import replace_json
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import read_suite
from genbench.tasks.chosen_problems import make_subset
from genbench.tasks.loading import tasks_at_effort

if TYPE_CHECKING:
    from genbench.analysis.efforts import Efforts
    from genbench.reports.write import Written

__all__ = [
    "RunOptions",
    "RunReport",
    "evaluate",
    "latest_results",
    "merge",
    "prompts",
    "run",
    "score",
]


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcome of a run: for each model its folder and its results."""

    folders: Mapping[str, Path]
    results: Mapping[str, Results]
    page: Path | None = None
    """Path of report.html. None if it could not be written; `notes` then says why."""
    notes: Sequence[str] = field(default_factory=tuple)
    efforts: Efforts | None = None
    """The table of efforts of the page. None if no model has efforts, or there is no page."""
    failed: Mapping[str, GenbenchError] = field(default_factory=dict)
    """By model, why it has no results while others of the command have."""

    @property
    def failures(self) -> list[str]:
        """Return why the numbers must not be used. An empty list means that they may."""
        found = [f"{model}: {line}" for model, result in self.results.items() for line in result.failed]
        return [*found, *(f"{model}: {error}" for model, error in self.failed.items())]


def run(options: RunOptions) -> RunReport:
    """Sample, verify and estimate every model of the suite. Continue a run that was stopped.

    Raises:
        InputError: the suite, an option or a file cannot be used.
        EngineError: the engine failed for good.
        InterruptedRunError: the run was stopped by a signal. The message says how to continue.
    """
    return _run(options, page=True)


def _run(options: RunOptions, *, page: bool) -> RunReport:
    """Run, with or without the page of the report."""
    from genbench.reports.parity import store_state  # noqa: PLC0415

    try:
        ran = run_models(options)
    except InterruptedRunError as error:
        raise _with_finished(error, page=page) from None
    if not ran.folders:
        return RunReport({}, {}, None, (f"--shard {options.shard}: no problem of this run is in this shard",))
    written, notes = (
        _write_report(list(ran.folders.values()), untouched=ran.untouched) if page else (None, ())
    )
    notes = (*notes, *_next_step(list(ran.folders.values()), ran.results))
    own = {name: path for name, path in ran.folders.items() if path not in ran.untouched}
    states = [line for name, path in own.items() for line in store_state(path, ran.results[name])]
    lines = [f"{name} has no results: {error}" for name, error in ran.failed.items()]
    report = _with_page(ran.folders, ran.results, written, (*notes, *states, *lines))
    return replace(report, failed=ran.failed)


def _with_page(
    folders: Mapping[str, Path], results: Mapping[str, Results], written: Written | None, notes: Sequence[str]
) -> RunReport:
    """Return the outcome of a run with what its page has, if there is one."""
    if written is None:
        return RunReport(folders, results, None, notes)
    return RunReport(folders, results, written.page, notes, written.efforts)


def _with_finished(error: InterruptedRunError, *, page: bool) -> InterruptedRunError:
    """Return the error of a stopped run, which also names the models that were finished and their report."""
    if not error.finished:
        return error
    written, notes = _write_report(error.finished) if page else (None, ())
    names = ", ".join(path.name for path in error.finished)
    lines = [str(error), f"finished before: {names}", *notes]
    found = InterruptedRunError("\n".join([*lines, *([f"report: {written.page}"] if written else [])]))
    found.finished = error.finished
    return found


def _next_step(folders: Sequence[Path], results: Mapping[str, Results]) -> tuple[str, ...]:
    """Return the command that a reader of the table needs next: the comparison, or the samples."""
    if len(folders) > 1:
        one = {path.parent for path in folders}
        named = [*one] if len(one) == 1 else folders
        words = "compare them" if len(folders) == 2 else "compare all with the first"
        return (f"{words}: {shlex.join(['genbench', 'compare', *map(str, named)])}",)
    wrong = [name for found in results.values() for name, task in found.tasks.items() if task.value != 1]
    if not wrong or not folders:
        return ()
    return (f"look at its samples: {shlex.join(['genbench', 'show', str(folders[0]), wrong[0]])}",)


def evaluate(
    model: Any,
    suite: str | Path,
    *,
    step: int | None = None,
    track: str | None = None,
    name: str | None = None,
    like: str | None = None,
    tokenizer: Any = None,
    batch: int | None = None,
    run_dir: str | Path | None = None,
    data_dir: str | Path | None = None,
    limit: int | None = None,
    tasks: Sequence[str] = (),
    overrides: Sequence[str] = (),
    quiet: bool = True,
    page: bool = False,
) -> RunReport:
    """Draw from a model that is in memory already, and verify, as `run` does. The model stays as it was.

    The weights have no digest, so the run's identity is what is declared here. Called again with the same
    step and track, it continues the run that it finds. Without a step every call is a run of its own. Such a
    run cannot be a base of a gate.

    Args:
        model: an AsyncLLM or LLM of vLLM, a model of Transformers, or an async function of a request
            (`genbench.types.Request`) and its sampling (the keys of `decoding:`) that returns a text or
            `genbench.engines.memory.Drawn`.
        suite: the suite. Its `engine:` is not used.
        step: the training step. The run is a point of a track of steps.
        track: the name of the track. None: the suite's own, or its name.
        name: the model's name in the run. None: `step-N`, or `model`.
        like: the model of the suite whose keys (system prompt, template …) hold for this one. None: the
            first.
        tokenizer: a folder, a hub id, or the tokenizer itself. None: the model's own.
        batch: requests that are drawn together. None: what vLLM was loaded with, or 16.
        run_dir: where to write, as in `RunOptions`.
        data_dir: the mirror of datasets.
        limit: at most so many problems of each task.
        tasks: only these tasks.
        overrides: KEY=VALUE texts, as `--set`.
        quiet: print no progress.
        page: also write report.html, which takes a second. `genbench report` writes it later as well.

    Raises:
        InputError: the suite, an option or a file cannot be used, or `model` is not a model.
        EngineError: the model failed.
        InterruptedRunError: the run was stopped by a signal. The same call continues it.
    """
    from genbench.engines.memory import MemoryKind, memory_model  # noqa: PLC0415  only for this function

    known = read_suite(suite_path(str(suite)))
    label = name or ("model" if step is None else f"step-{step}")
    if step is not None:
        identity = f"step {step}" + (f" of {track}" if track else "")
    else:
        identity = f"{label} at {now()} ({token_hex(3)})"
    with tempfile.TemporaryDirectory(prefix="genbench-") as folder:
        if hasattr(tokenizer, "save_pretrained"):
            tokenizer.save_pretrained(folder)
            tokenizer = folder
        held = memory_model(model, None if tokenizer is None else Path(tokenizer), batch)
        work = partial(
            _run,
            RunOptions(
                suite=suite,
                models=[f"{label}=memory"],
                like=like or next(iter(known.written)),
                memory=MemoryKind(held, identity),
                steps={} if step is None else {label: step},
                track=track,
                run_dir=run_dir,
                data_dir=data_dir,
                limit=limit,
                tasks=tasks,
                overrides=overrides,
                quiet=quiet,
                command=f"genbench.evaluate(…, {str(suite)!r}, step={step}, track={track!r})",
            ),
            page=page,
        )
        try:
            return work()
        except GenbenchError as error:
            raise _without_frames(error) from error.__cause__


def _without_frames(error: GenbenchError) -> GenbenchError:
    """Return an error without the frames of genbench: its message says what is wrong.

    Of its cause the frames from the caller's own code on stay.
    """
    cause = error.__cause__
    if cause is not None:
        own = Path(__file__).parent
        trace = cause.__traceback__
        while trace is not None and Path(trace.tb_frame.f_code.co_filename).is_relative_to(own):
            trace = trace.tb_next
        cause.__traceback__ = trace
    return error.with_traceback(None)


def _write_report(
    folders: Sequence[Path], untouched: Sequence[Path] = ()
) -> tuple[Written | None, tuple[str, ...]]:
    """Write the page of a finished run. Return what was written, or None, and its verdict or the reasons.

    Everything else is on disk already, so a defect here must not lose the run.
    """
    own = [path for path in folders if path not in untouched]
    if not own:
        return None, (
            f"every run was stored before; to write a page of them: {_report_command(folders)} --output FILE",
        )
    output = own[0].parent / "report.html" if untouched else None
    try:
        # Plots cost a second of imports, which `genbench check` need not pay.
        from genbench.reports.write import write_page  # noqa: PLC0415

        written = write_page(folders, output, untouched=untouched)
    except InputError as error:  # too many runs for a page
        return None, (f"no page of all: {error}; of one: {_report_command(folders[:1])}",)
    except Exception as error:
        again = _report_command(folders)
        return None, (f"the report could not be written ({type(error).__name__}: {error}); try: {again}",)
    return written, (written.lead,) if len(folders) > 1 else ()


def _report_command(folders: Sequence[Path]) -> str:
    return shlex.join(["genbench", "report", *map(str, folders)])


def score(
    run_dir: str | Path,
    data_dir: str | Path | None = None,
    again: bool = False,
    quiet: bool = False,
    *,
    suite: str | Path | None = None,
    into: str | Path | None = None,
    trust: Collection[str] = (),
) -> RunReport:
    """Verify a stored run without an engine.

    Verify the samples that have no verdict, or every sample with `again`. Then write results, report and
    samples.parquet anew. The report contains the other models of the same run again.

    Args:
        suite: an edited suite with corrected references or other verifier options. The run stays as it
            is, and its samples are scored in a new folder. The notes say which verdicts moved.
        into: the new folder. None means one next to the folder of the run.
        trust: what a run folder from elsewhere may do: code, network, environment, files.

    Raises:
        InputError: `trust` names something else.
        RunFolderError: not a run folder, a damaged line, other data than the run was drawn from, or a stored
            suite that asks for more than `trust` allows.
    """
    trusted = read_kinds(trust)
    source, mirror = Path(run_dir), path_or_none(data_dir)
    place = source if suite is None else copy_for_suite(source, str(suite), mirror, path_or_none(into))
    switch = StopSwitch()
    with stop_on_signals(switch.stop):
        results = score_folder(place, mirror, again, quiet, switch, trusted=trusted)
    moved = [] if suite is None else moved_verdicts(source, place)
    page, notes = _write_report(_together(place))
    return _with_page({results.model: place}, {results.model: results}, page, (*moved, *notes))


def merge(
    runs: Sequence[str | Path],
    into: str | Path | None = None,
    data_dir: str | Path | None = None,
    quiet: bool = False,
    *,
    trust: Collection[str] = (),
) -> RunReport:
    """Join the parts of one run, verify samples without a verdict, and write the report.

    See `genbench.runs.stored.merge` for what counts as a part of one run.

    Args:
        trust: what run folders from elsewhere may do: code, network, environment, files.

    Raises:
        InputError: no parts of one run, or a stored suite that asks for more than `trust` allows.
    """
    found = merging.merge(
        list(map(Path, runs)),
        path_or_none(into),
        path_or_none(data_dir),
        quiet,
        trusted=read_kinds(trust),
    )
    page, notes = _write_report(list(found))
    folders = {path.name: path for path in found}
    return _with_page(folders, {path.name: results for path, results in found.items()}, page, notes)


def _together(run_dir: Path) -> list[Path]:
    """Return the finished runs of the same command, in the order of the suite. This run is one of them."""
    names = RunFolder(run_dir).require_manifest().suite.config.get("models", {})
    place = run_dir.resolve()
    paths = [run_dir if place.parent / name == place else place.parent / name for name in names]
    found = [path for path in paths if RunFolder(path).results_path.is_file()]
    return found if run_dir in found else [run_dir]


def prompts(options: RunOptions) -> Iterator[RequestRecord]:
    """Yield the requests of a suite, in the order of models, tasks, problems and samples.

    Raises:
        InputError: the suite, its data or a prompt cannot be used.
    """
    suite, chosen = open_suite(options)
    tasks = load_tasks(suite, options)
    for name in chosen:
        yield from suite_requests(suite, name, tasks_at_effort(suite, name, tasks))


def write_subset(
    options: RunOptions, n: int, output: Path | None = None, *, strata: str | None = None, seed: int = 0
) -> list[str]:
    """Write a random part of a task's problems, which a suite names as `subset`. Return what it will find.

    Args:
        options: the suite, with one task.
        output: the file. None: TASK-N.json in the working directory.
        strata: a column whose values keep their share.

    Raises:
        InputError: several tasks, fewer problems than n, no such column, or a file that is there already.
    """
    suite, _ = open_suite(options)
    tasks = load_tasks(suite, options)
    if len(tasks) != 1:
        raise InputError(f"subset: {len(tasks)} tasks are chosen; name one with --task")
    task = tasks[0]
    record = make_subset(task.name, task.problems, n, seed, strata)
    path = output or Path(f"{task.name}-{n}.json")
    if path.exists():
        raise InputError(f"{path}: is there already; give another --output")
    replace_json(path, record.to_json())
    score, paired = 100 * 0.4 / math.sqrt(n), 100 * 0.25 / math.sqrt(n)
    whole = math.sqrt(max(1 - n / record.of, 0.0))
    return [
        f"wrote {path}: {n} of {record.of} problems; in the suite: subset: {path}",
        f"standard errors in points, if scores spread by 0.4 and differences by 0.25: {score:.2f} of a "
        f"score, {paired:.2f} of a paired difference; for the whole task {score * whole:.2f} and "
        f"{paired * whole:.2f}",
    ]


def latest_results(path: str | Path) -> Results:
    """Return the results of a stored run.

    Raises:
        RunFolderError: the run is not finished. The message says what to do.
    """
    folder = RunFolder(Path(path))
    folder.require_manifest()
    return require_results(folder)
