"""Folders of logs of other tools, made into suites with ready responses that `genbench run` reads as runs.

One run has the tasks that one tool logged for one model on one day. What the tool found is kept with each
response and taken over as it is (see verifiers/foreign/logged). What a log lacks is said.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from genbench import pipeline
from genbench.analysis.sides.log_format import (
    SAID,
    ImportChoice,
    Line,
    LogFile,
    LogFormat,
    LoggedTask,
    Say,
    log_formats,
    safe_name,
)
from genbench.errors import GenbenchError, InputError, InterruptedRunError
from genbench.json_record import Count, JsonRecord, Share
from genbench.models.traces import FORMATS, split
from genbench.store.json_files import encode, replace

_TAGS = {"open": "\ue000trace\ue000", "close": "\ue000end of trace\ue000"}
"""Tags that no text has, where traces must stay in the texts."""


@dataclass(frozen=True, slots=True)
class LoggedRun:
    """The tasks that one tool logged for one model on one day."""

    tool: str
    model: str
    night: date
    tasks: Mapping[str, LoggedTask]

    @property
    def folder(self) -> str:
        """Return the name of its folder, which is equal for equal logs."""
        digest = hashlib.sha256()
        for name, task in sorted(self.tasks.items()):
            digest.update(json.dumps([name, task.metric, list(task.lines)], sort_keys=True).encode())
        return f"{safe_name(self.model)}-{self.night}-{safe_name(self.tool)}-{digest.hexdigest()[:8]}"


@dataclass(slots=True)
class FoundLogs:
    """What was found below the sources. `left_out` says why a log could not be read, by its path."""

    runs: list[LoggedRun] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    others: int = 0
    """Files that are not logs of samples."""


def find_logs(sources: Sequence[str], choice: ImportChoice, say: Say) -> FoundLogs:
    """Read all logs of some files, folders and patterns.

    A metric that the user has not chosen is the first one of the log, and is said.

    Raises:
        InputError: a source does not exist, or nothing below them is a log.
    """
    found, tasks, said = FoundLogs(), list[LoggedTask](), Counter[tuple[str, str]]()
    formats = log_formats()
    for path in _files(sources, formats):
        try:
            task = _logged(path, formats, choice, say, said)
        except GenbenchError as error:
            found.left_out[str(path)] = str(error)
            continue
        if task is None:
            found.others += 1
        else:
            tasks.append(task)
    if not tasks and not found.left_out:
        raise InputError(
            f"{', '.join(sources)}: no log with samples of lm-eval, lighteval, Inspect, evalscope, "
            f"OpenCompass, HELM, every_eval_ever or an agent harness in {found.others} files; totals alone "
            "(results.yml, results.json) have no samples"
        )
    for (tool, words), count in said.items():
        say(f"{tool}, {count} log{'s' if count > 1 else ''}: {words}")
    found.runs = list(_grouped(tasks))
    return found


def _files(sources: Sequence[str], formats: Sequence[LogFormat]) -> Iterator[Path]:
    """Yield all files of the sources in order, each once. A claimed log may be a folder."""
    seen: set[Path] = set()
    for source in sources:
        places = _matching(source) if has_magic(source) else [Path(source)]
        if not places or not all(place.exists() for place in places):
            raise InputError(f"{source}: no such file or folder")
        for place in places:
            claimed = [path for form in formats for path in form.claimed(place)]
            files = sorted(place.rglob("*")) if place.is_dir() else [place]
            others = (path for path in files if path.is_file() and not _is_below(path, claimed))
            for path in (*claimed, *others):
                if path.resolve() not in seen:
                    seen.add(path.resolve())
                    yield path


def _is_below(path: Path, places: Sequence[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _matching(pattern: str) -> list[Path]:
    """Return what a pattern matches, in order. It may be absolute, which Path.glob refuses."""
    return [Path(item) for item in sorted(glob(pattern, recursive=True))]  # noqa: PTH207


def _logged(
    path: Path,
    formats: Sequence[LogFormat],
    choice: ImportChoice,
    say: Say,
    said: Counter[tuple[str, str]],
) -> LoggedTask | None:
    """Return the task of a log, or None if the file is none.

    Args:
        said: how often a metric or filter was taken where there are others, by tool and in words.

    Raises:
        GenbenchError: it is a log, and cannot be read.
    """
    log = LogFile(path)
    chosen = ImportChoice(choice.task, choice.metric, choice.filter, takes_first=True)
    form = next((form for form in formats if form.is_log(log)), None)
    task = None if form is None else form.task(log, chosen, say)
    if task is not None:
        said.update((task.tool, words) for words in _others(chosen, choice))
    return task


def _others(chosen: ImportChoice, choice: ImportChoice) -> Iterator[str]:
    """Yield which metric and filter were taken, in words, where the user chose none and there are others."""
    for what, (name, *others) in chosen.taken.items():
        if others and getattr(choice, what) != name:
            yield f"{what} {name}; there are also {', '.join(others)}: --{what} NAME chooses one"


def _grouped(tasks: Iterable[LoggedTask]) -> Iterator[LoggedRun]:
    """Yield runs: the tasks of one tool, model and day. A task that comes twice begins another run."""
    groups: defaultdict[tuple[str, str, date], list[dict[str, LoggedTask]]] = defaultdict(list)
    for task in sorted(tasks, key=lambda item: item.at):
        own = groups[task.tool, task.model, task.at.date()]
        fitting = [group for group in own if task.name not in group]
        if not fitting:
            fitting = [{}]
            own.append(fitting[0])
        fitting[0][task.name] = task
    for (tool, model, night), own in groups.items():
        for group in own:
            yield LoggedRun(tool, model, night, group)


def write_suite(run: LoggedRun, folder: Path, say: Say) -> None:
    """Write a suite, its rows and its ready responses into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    keeps = all(_splits_well(line) for task in run.tasks.values() for line in task.lines)
    if not keeps:
        say(f"{folder.name}: traces stay in the texts, since {run.tool} credited answers in unfinished ones")
    model = safe_name(run.model)
    suite = {
        "name": model,
        "models": {model: {"path": run.model}},
        "reasoning": "think" if keeps else _TAGS,
        "tasks": [_entry(task) for task in run.tasks.values()],
    }
    responses = [line for task in run.tasks.values() for line in _responses(task)]
    for task in run.tasks.values():
        replace(folder / _rows_file(task.name), b"".join(encode(row) for row in _rows(task)))
    replace(folder / "responses.jsonl", b"".join(encode(line) for line in responses))
    head = f"# Made of logs of {run.tool}. What it found is taken over as it is.\n"
    replace(folder / "suite.yaml", (head + json.dumps(suite, indent=2) + "\n").encode())


def _k(task: LoggedTask) -> int:
    """Return how many samples a problem has at most."""
    return max(Counter(line["problem_id"] for line in task.lines).values())


def _entry(task: LoggedTask) -> dict[str, Any]:
    return {"name": task.name, **task.entry(_rows_file(task.name)), "k": _k(task)}


def _rows_file(task: str) -> str:
    return f"rows-{task}.jsonl"


def _rows(task: LoggedTask) -> Iterator[Line]:
    """Yield the problems of a task, each as its first sample has it."""
    firsts: dict[str, Line] = {}
    for line in task.lines:
        firsts.setdefault(line["problem_id"], line)
    for problem, line in firsts.items():
        yield {"id": problem, **task.row(line)}


def _responses(task: LoggedTask) -> Iterator[Line]:
    """Yield the ready responses of a task: k for each problem, without a score where the log has fewer."""
    k = _k(task)
    found: defaultdict[str, list[Line]] = defaultdict(list)
    for line in task.lines:
        found[line["problem_id"]].append(line)
    for problem, lines in found.items():
        ordered = sorted(lines, key=lambda line: line["sample_index"])
        for index in range(k):
            sample = {"task": task.name, "problem_id": problem, "sample_index": index}
            own = ordered[index] if index < len(ordered) else None
            yield from ({**sample, **response} for response in task.responses(own))


def _splits_well(line: Line) -> bool:
    """Return whether a credited reply has an answer after its trace, so that the trace can be taken off."""
    text = line.get(SAID, {}).get("text") or ""
    if not line["score"] or "<think" not in text:
        return True
    return split(text, FORMATS["think"], False, "stop").trace_status != "unclosed"


def lacks(run: LoggedRun) -> list[str]:
    """Return what the logs of a run do not have, in words."""
    lines = [line for task in run.tasks.values() for line in task.lines]
    found = {
        "prompts": sum(not line.get(SAID, {}).get("prompt") for line in lines),
        "texts": sum(line.get(SAID, {}).get("text") is None for line in lines),
        "scores": sum(line["score"] is None for line in lines),
    }
    return [
        f"{count:,} of {len(lines):,} samples have no {what[:-1]}" for what, count in found.items() if count
    ] + ["decoding, token ids and seeds are not in it"]


class ImportedTask(JsonRecord):
    """One task of an imported run."""

    metric: str = Field(description="metric of the tool, and its filter")
    source: str = Field(description="the log")
    problems: Count = Field(description="problems")
    samples: Count = Field(description="samples in the log")
    mean: Share | None = Field(description="mean score of the samples of the log")
    total: float | None = Field(description="the tool's own mean; null if it is not next to the log")


class ImportedRun(JsonRecord):
    """A run that was made of logs."""

    folder: str = Field(description="the run folder")
    outcome: Literal["new", "there"] = Field(
        description="there: it was imported before, and nothing was done"
    )
    tool: str = Field(description="whose logs they are")
    model: str = Field(description="the model, as the log names it")
    night: str = Field(description="day of the logs")
    tasks: dict[str, ImportedTask] = Field(description="tasks by name")
    lacks: tuple[str, ...] = Field(description="what the logs do not have")


class ImportedLogs(JsonRecord):
    """What `genbench import log` made of folders of logs."""

    format: Literal[1] = Field(description="version of this record")
    runs: tuple[ImportedRun, ...] = Field(description="runs, in the order of their nights")
    track: str | None = Field(description="the track of the ledger that they were added to; null for none")
    left_out: dict[str, str] = Field(description="logs that could not be read, and why")
    others: Count = Field(description="files that are not logs of samples")


def _imported_run(run: LoggedRun, folder: Path, *, is_new: bool) -> ImportedRun:
    """Return the record of a run that was made."""
    return ImportedRun(
        folder=str(folder),
        outcome="new" if is_new else "there",
        tool=run.tool,
        model=run.model,
        night=str(run.night),
        tasks={
            name: ImportedTask(
                metric=task.metric,
                source=str(task.source),
                problems=len({line["problem_id"] for line in task.lines}),
                samples=len(task.lines),
                mean=task.mean,
                total=task.total,
            )
            for name, task in run.tasks.items()
        },
        lacks=tuple(lacks(run)),
    )


def import_logs(
    sources: Sequence[str | Path],
    into: str | Path = "runs/imported",
    choice: ImportChoice | None = None,
    *,
    track: str | None = None,
    ledger: str | Path | None = None,
    say: Callable[[str], None] = lambda _: None,
    tell: Callable[[int, int], None] = lambda done, of: None,
    quiet: bool = True,
) -> ImportedLogs:
    """Make runs of folders of logs of other tools. Runs that are there already stay as they are.

    Args:
        sources: files, folders and patterns.
        into: the folder in which each run has a folder of its own, with its suite and responses.
        choice: the metric and filter where a log has several. None means the first one of each log.
        track: a track of the ledger. Each run is added to it, at the day of its logs.
        ledger: the ledger. None: the one of `genbench ledger`.
        say: called with a line for what was chosen or changed.
        tell: called with how many runs are made, and of how many.
        quiet: do not show how many samples of a run are read.

    Raises:
        InputError: a source does not exist, nothing below them is a log, or the ledger cannot be opened.
    """
    found = find_logs([str(source) for source in sources], choice or ImportChoice(), say)
    made: list[ImportedRun] = []
    for place, item in enumerate(found.runs, start=1):
        try:
            made.append(_import_run(item, Path(into), track, say, quiet))
        except InterruptedRunError:
            raise
        except GenbenchError as error:  # of one run: the others are imported all the same
            found.left_out |= {str(task.source): str(error) for task in item.tasks.values()}
        tell(place, len(found.runs))
    if track is not None and made:
        from genbench.nights.ledger.database import open_ledger  # noqa: PLC0415  only with a track
        from genbench.nights.ledger.ingest import add  # noqa: PLC0415

        with open_ledger(ledger) as opened:
            for outcome in add(opened, [Path(item.folder) for item in made]):
                if outcome.outcome == "refused":
                    say(f"{outcome.path}: not added to the ledger: {outcome.detail}")
    return ImportedLogs(format=1, runs=tuple(made), track=track, left_out=found.left_out, others=found.others)


def _import_run(
    item: LoggedRun, into: Path, track: str | None, say: Callable[[str], None], quiet: bool
) -> ImportedRun:
    place = into / item.folder
    earlier = [path.parent for path in place.glob("*/results.json")]
    if earlier:
        return _imported_run(item, earlier[0], is_new=False)
    write_suite(item, place, say)
    report = pipeline.run(
        pipeline.RunOptions(
            suite=place / "suite.yaml",
            responses=place / "responses.jsonl",
            run_dir=place,
            track=track,
            night_of=None if track is None else str(item.night),
            quiet=quiet,
            command=f"genbench import log ({item.tool})",
        )
    )
    (folder,) = report.folders.values()
    return _imported_run(item, folder, is_new=True)
