"""Folders of logs of other tools, made into suites with ready responses that `genbench run` reads as runs.

One run has the tasks that one tool logged for one model on one day. What the tool found is kept with each
response and taken over as it is (see verifiers/foreign/logged). What a log lacks is said.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq
from pydantic import Field

from genbench.errors import GenbenchError, InputError
from genbench.exchange.agent_logs import agent_tool, logs_of_agents, read_agent_log
from genbench.exchange.import_log import (
    HELM_STATS,
    SAID,
    ImportChoice,
    Line,
    agent_lines,
    open_compass,
    read_inspect,
    read_log,
)
from genbench.gateway.rollout import outcome_text
from genbench.json_record import Count, JsonRecord, Share
from genbench.models.traces import FORMATS, split
from genbench.store.json_files import encode, replace
from genbench.suite.suitefile import plain_name
from genbench.tasks.python.agents import is_result

Say = Callable[[str], None]
_NO_PROMPT = "(the log has no prompt)"
_STAMPS = (
    (re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2})[:-](\d{2})[:-](\d{2})"), "%Y-%m-%d %H:%M:%S"),
    (re.compile(r"(?<!\d)(\d{8})_(\d{2})(\d{2})(\d{2})(?!\d)"), "%Y%m%d %H:%M:%S"),
)
"""Times in names of files and folders: lm-eval, lighteval and Inspect write the first, others the second."""
_TAGS = {"open": "\ue000trace\ue000", "close": "\ue000end of trace\ue000"}
"""Tags that no text has, where traces must stay in the texts."""


_REPLY = "\n\n[assistant]\n"
_MOST_ASKED = 1 << 20
"""Characters of a conversation that is repeated with each turn. After more, a turn has only what is new."""
_LOST: Line = {
    "turns": [],
    "outcome": {
        "score": None,
        "status": "unscored",
        "detail": {"why": "the log has fewer samples of this problem"},
        "rollout": {},
    },
}
"""What is said of a trial that is not in the log."""


@dataclass(frozen=True, slots=True)
class LoggedTask:
    """One task of one log: who answered, when, and its samples as lines of a score file with SAID."""

    source: Path
    tool: str
    model: str
    at: datetime
    metric: str
    lines: Sequence[Line]
    total: float | None = None
    """The tool's own mean of the metric, if it is next to the log."""

    @property
    def name(self) -> str:
        """Return the name of the task, as suites may have it."""
        return _name(str(self.lines[0]["task"]))

    @property
    def is_agents(self) -> bool:
        """Return whether its samples are trials of an agent harness."""
        return "outcome" in self.lines[0].get(SAID, {})

    @property
    def mean(self) -> float | None:
        """Return the mean of all scores, None if there are none."""
        scores = [line["score"] for line in self.lines if line["score"] is not None]
        return math.fsum(scores) / len(scores) if scores else None


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
        return f"{_name(self.model)}-{self.night}-{_name(self.tool)}-{digest.hexdigest()[:8]}"


@dataclass(slots=True)
class FoundLogs:
    """What was found below the sources. `left_out` says why a log could not be read, by its path."""

    runs: list[LoggedRun] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    others: int = 0
    """Files that are no logs of samples."""


def find_logs(sources: Sequence[str], choice: ImportChoice, say: Say) -> FoundLogs:
    """Read all logs of some files, folders and patterns.

    A metric that the user has not chosen is the first one of the log, and is said.

    Raises:
        InputError: a source does not exist, or nothing below them is a log.
    """
    found, tasks, said = FoundLogs(), list[LoggedTask](), Counter[tuple[str, str]]()
    for path in _files(sources):
        try:
            task = _logged(path, choice, say, said)
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


def _files(sources: Sequence[str]) -> Iterator[Path]:
    """Yield all files of the sources in order, each once. Results of an agent harness may be a folder."""
    seen: set[Path] = set()
    for source in sources:
        places = _matching(source) if has_magic(source) else [Path(source)]
        if not places or not all(place.exists() for place in places):
            raise InputError(f"{source}: no such file or folder")
        for place in places:
            agents = list(logs_of_agents(place))
            files = sorted(place.rglob("*")) if place.is_dir() else [place]
            others = (path for path in files if path.is_file() and not _is_below(path, agents))
            for path in (*agents, *others):
                if path.resolve() not in seen:
                    seen.add(path.resolve())
                    yield path


def _is_below(path: Path, places: Sequence[Path]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _matching(pattern: str) -> list[Path]:
    """Return what a pattern matches, in order. It may be absolute, which Path.glob refuses."""
    return [Path(item) for item in sorted(glob(pattern, recursive=True))]  # noqa: PTH207


def _logged(path: Path, choice: ImportChoice, say: Say, said: Counter[tuple[str, str]]) -> LoggedTask | None:
    """Return the task of a log, or None if the file is none.

    Args:
        said: how often a metric or filter was taken where there are others, by tool and in words.

    Raises:
        GenbenchError: it is a log, and cannot be read.
    """
    if agent_tool(path) is not None:
        return _of_agents(path, choice, say)
    tool = _tool(path)
    if tool is None:
        return None
    chosen = ImportChoice(choice.task, choice.metric, choice.filter, takes_first=True)
    lines = read_log(path, chosen, say)
    said.update((tool, words) for words in _others(chosen, choice))
    model, at = _who(path, tool)
    metric, of_filter = (chosen.taken.get(what, [""])[0] for what in ("metric", "filter"))
    total = _total(path, tool, lines, metric, of_filter)
    metric = f"{metric}, {of_filter}" if of_filter not in ("", "none") else metric
    return LoggedTask(path, tool, model, at or _written(path), metric, lines, total)


def _of_agents(path: Path, choice: ImportChoice, say: Say) -> LoggedTask | None:
    """Return the results of an agent harness as a task."""
    log = read_agent_log(path, choice.metric, say)
    if log is None or not log.samples:
        return None
    lines = list(agent_lines(path, log, choice))
    return LoggedTask(path, log.tool, log.model, _stamp(path) or _written(path), log.metric, lines)


def _written(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime)


_BY_KEY = {"sample_score": "evalscope", "evaluation_name": "every_eval_ever", "doc_id": "lm-eval"}
"""The tool of a file of JSON Lines, by a key of its first line."""


def _tool(path: Path) -> str | None:
    """Return whose log a file is, or None. Its content decides where the name does not."""
    tool: str | None = None
    if path.name == HELM_STATS:
        tool = "helm"
    elif path.suffix == ".eval":
        tool = "inspect"
    elif path.suffix == ".parquet":
        columns = set(_columns(path))
        tool = "lighteval" if columns & {"metric", "metrics"} and "doc" in columns else None
    elif path.suffix == ".jsonl":
        first = _first_line(path)
        tool = next((tool for key, tool in _BY_KEY.items() if key in first), None)
    elif path.suffix == ".json" and path.parent.parent.name == "results" and open_compass(path) is not None:
        tool = "opencompass"
    elif path.suffix == ".json" and _is_inspect(path):
        tool = "inspect"
    return tool


def _columns(path: Path) -> list[str]:
    try:
        return list(pq.read_schema(path).names)
    except Exception:  # another tool's file, of any content
        return []


def _first_line(path: Path) -> Mapping[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            found = json.loads(next((line for line in file if line.strip()), "null"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_inspect(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            head = file.read(4096)
    except (OSError, ValueError):
        return False
    return '"eval"' in head and '"status"' in head


def _others(chosen: ImportChoice, choice: ImportChoice) -> Iterator[str]:
    """Yield which metric and filter were taken, in words, where the user chose none and there are others."""
    for what, (name, *others) in chosen.taken.items():
        if others and getattr(choice, what) != name:
            yield f"{what} {name}; there are also {', '.join(others)}: --{what} NAME chooses one"


def _who(path: Path, tool: str) -> tuple[str, datetime | None]:
    """Return the model of a log, and when it was written, if anything says so."""
    at = _stamp(path)
    if tool == "inspect":
        head, _ = read_inspect(path)
        about = head.get("eval")
        about = about if isinstance(about, Mapping) else {}
        return str(about.get("model") or path.parent.name), _stamp(str(about.get("created", ""))) or at
    if tool == "helm":
        spec = _record(path.with_name("run_spec.json")).get("adapter_spec")
        named = spec.get("model") if isinstance(spec, Mapping) else None
        return str(named or path.parent.name), at
    if tool == "lm-eval":
        return _lm_eval_model(path), at
    if tool == "lighteval":  # details/ORG/MODEL/TIME/details_TASK_TIME.parquet
        parts = path.parts[path.parts.index("details") + 1 : -2] if "details" in path.parts else ()
        return "/".join(parts) or path.parent.name, at
    if tool == "every_eval_ever":
        line = _first_line(path)
        return str(line.get("model_id") or path.parent.name), at
    return path.parent.name, at  # evalscope, OpenCompass


def _stamp(where: Path | str) -> datetime | None:
    """Return the last time in a path or text."""
    for part in reversed(where.parts) if isinstance(where, Path) else [where]:
        for pattern, form in _STAMPS:
            found = pattern.search(part)
            if found is not None:
                try:
                    return datetime.strptime(f"{found[1]} {found[2]}:{found[3]}:{found[4]}", form)
                except ValueError:
                    continue
    return None


def _record(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _lm_eval_results(path: Path) -> Mapping[str, Any]:
    """Return the results_TIME.json next to a samples file, whose times are equal or a second apart."""
    own = _stamp(path)
    known = sorted(path.parent.glob("results_*.json"))
    near = [item for item in known if own is None or _stamp(Path(item.name)) == own]
    return _record(near[-1]) if near else _record(known[-1]) if len(known) == 1 else {}


def _lm_eval_model(path: Path) -> str:
    found = _lm_eval_results(path)
    config = found.get("config")
    arguments = config.get("model_args") if isinstance(config, Mapping) else None
    if isinstance(arguments, Mapping):
        arguments = f"pretrained={arguments.get('pretrained', '')}"
    named = re.search(r"(?:pretrained|model)=([^,]+)", arguments) if isinstance(arguments, str) else None
    return str(found.get("model_name") or (named[1] if named else "") or path.parent.name)


def _total(path: Path, tool: str, lines: Sequence[Line], metric: str, of_filter: str) -> float | None:
    """Return the tool's own mean of the metric, or None if it is not next to the log."""
    if tool == "lm-eval":
        own = _lm_eval_results(path).get("results")
        task = own.get(str(lines[0]["task"])) if isinstance(own, Mapping) else None
        keys = (f"{metric},{of_filter or 'none'}", metric)
    elif tool == "opencompass":
        task, keys = _record(path), ("accuracy", "score")
    else:
        return None
    found = next((task[key] for key in keys if key in task), None) if isinstance(task, Mapping) else None
    if not isinstance(found, int | float):
        return None
    return float(found) / (100 if tool == "opencompass" else 1)


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
    model = _name(run.model)
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


def _entry(task: LoggedTask) -> dict[str, Any]:
    counts = Counter(line["problem_id"] for line in task.lines)
    if task.is_agents:
        turns = max(len(line[SAID]["turns"]) for line in task.lines)
        options = {"source": _rows_file(task.name), "command": [task.tool], "limits": {"turns": turns or 1}}
        return {"name": task.name, "task": "agent", "options": options, "k": max(counts.values())}
    return {
        "name": task.name,
        "data": {
            "path": _rows_file(task.name),
            "fields": {"id": "id", "question": "question", "reference": "target"},
        },
        "prompt": "{question}",
        "verifier": {"use": "logged", "tool": task.tool, "metric": task.metric},
        "k": max(counts.values()),
    }


def _rows_file(task: str) -> str:
    return f"rows-{task}.jsonl"


def _rows(task: LoggedTask) -> Iterator[Line]:
    """Yield the problems of a task. Those of its first samples have the prompt and the target."""
    seen: set[str] = set()
    for line in task.lines:
        if line["problem_id"] not in seen:
            seen.add(line["problem_id"])
            said = line.get(SAID, {})
            prompt, target = said.get("prompt"), said.get("target")
            if (
                task.is_agents
            ):  # what the harness asked is in the turns; it need not be the same in each trial
                yield {"id": line["problem_id"], "instruction": line["problem_id"]}
                continue
            yield {"id": line["problem_id"], "question": prompt or _NO_PROMPT, "target": target or ""}


def _responses(task: LoggedTask) -> Iterator[Line]:
    """Yield the ready responses of a task: k for each problem, without a score where the log has fewer."""
    k = _entry(task)["k"]
    found: defaultdict[str, list[Line]] = defaultdict(list)
    for line in task.lines:
        found[line["problem_id"]].append(line)
    for problem, lines in found.items():
        ordered = sorted(lines, key=lambda line: line["sample_index"])
        for index in range(k):
            own = ordered[index] if index < len(ordered) else None
            if task.is_agents:
                yield from _rollout(task.name, problem, index, own)
            else:
                yield _response(task.name, problem, index, own)


def _rollout(task: str, problem: str, index: int, line: Line | None) -> Iterator[Line]:
    """Yield the turns of a trial of an agent, and then what its harness found.

    What was asked in a turn is the conversation before it, as in a rollout of genbench's own.
    """
    sample = {"task": task, "problem_id": problem, "sample_index": index}
    said: Line = _LOST if line is None else line[SAID]
    before = ""
    for turn, (prompt, text, tokens) in enumerate(said["turns"]):
        counted = {} if tokens is None else {"completion_tokens": tokens}
        said_so = f"(text) {text}" if is_result(text) else text  # a model may imitate a result
        asked = f"{before}{prompt}{_REPLY}"
        yield {**sample, "turn": turn, "asked": asked, "text": said_so, "finish_reason": "stop", **counted}
        before = f"{asked}{said_so}\n\n" if len(asked) < _MOST_ASKED else ""
    ended = outcome_text(said["outcome"])
    yield {**sample, "turn": len(said["turns"]), "text": ended, "finish_reason": "stop"}


def _response(task: str, problem: str, index: int, line: Line | None) -> Line:
    said: Line = {} if line is None else line.get(SAID, {})
    lacking = "has fewer samples of this problem" if line is None else "has no score for this sample"
    score = None if line is None else line["score"]
    logged: Line = {"score": score} if score is not None else {"score": None, "why": f"the log {lacking}"}
    answer = None if line is None else line.get("answer")
    return {
        "task": task,
        "problem_id": problem,
        "sample_index": index,
        "text": said.get("text") or answer or "",
        "finish_reason": "length" if said.get("cut") else "stop",
        **({"completion_tokens": said["tokens"]} if said.get("tokens") is not None else {}),
        "logged": {**logged, **({"answer": answer} if answer is not None else {})},
    }


def _splits_well(line: Line) -> bool:
    """Return whether a credited reply has an answer after its trace, so that the trace can be taken off."""
    text = line.get(SAID, {}).get("text") or ""
    if not line["score"] or "<think" not in text:
        return True
    return split(text, FORMATS["think"], False, "stop").trace_status != "unclosed"


def _name(text: str) -> str:
    return plain_name(text) or "unnamed"


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
    others: Count = Field(description="files that are no logs of samples")


def imported_run(run: LoggedRun, folder: Path, *, is_new: bool) -> ImportedRun:
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
