"""The verb behind `genbench report`: run folders in, one report out, as a page, Markdown or JSON."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.compare import compare
from genbench.analysis.comparison_record import Comparison
from genbench.errors import GenbenchError, InputError
from genbench.reports.gathered import PARQUET, GatheredRun, TaskColumns, drawn, gather
from genbench.reports.html import Series, html
from genbench.reports.lead import lead
from genbench.reports.markdown import markdown
from genbench.reports.texts import TextStore
from genbench.store.jsonlines import replace
from genbench.types import OURS, STATUSES

FORMAT = 1
PAGE = "report.html"
_MOST_RUNS = 6


@dataclass(frozen=True, slots=True)
class Written:
    """Where a report went: the page, the folder of long texts beside it (None where it needs none)."""

    page: Path
    texts: Path | None
    tables: tuple[Path, ...]


def write_page(
    paths: Sequence[Path],
    output: Path | None = None,
    parquet: bool = True,
    untouched: Collection[Path] = (),
) -> Written:
    """Writes report.html (and samples.parquet into each run folder).

    Args:
        paths: run folders; the first is what the others are compared with.
        untouched: run folders that are read alone, no samples.parquet is written there.
        output: the page; by default report.html in the run folder, or in the folder that holds the runs.

    Raises:
        InputError: no run, too many, or one that is not finished.
    """
    page = output or default_page(paths)
    tables = [path for path in paths if parquet and path not in untouched]
    texts = TextStore(page.with_suffix(".files"))
    try:
        runs = _gather(paths, texts, tables)
        record = report_record(runs)
        folder = texts.publish()
    except BaseException:
        texts.discard()
        raise
    rendered = html(record, _series(runs), _index(runs, folder), texts.inline())
    replace(page, rendered.encode("utf-8", "backslashreplace"))
    return Written(page, page.with_name(folder) if folder else None, tuple(path / PARQUET for path in tables))


def report_text(paths: Sequence[Path], form: str) -> str:
    """The report as `md` or `json`."""
    if form not in ("md", "json"):
        raise InputError(f"--format {form}: wanted html, md or json")
    texts = _NoTexts()
    record = report_record(_gather(paths, texts, tables=()))
    return markdown(record) if form == "md" else json.dumps(_as_json(record), indent=2, ensure_ascii=True)


def default_page(paths: Sequence[Path]) -> Path:
    """report.html in the one run folder, or in the folder that all the runs are in."""
    if not paths:
        raise InputError("no run to report on; give RUN_DIR/<model>")
    if len(paths) == 1:
        return paths[0] / PAGE
    parents = {path.resolve().parent for path in paths}
    if len(parents) > 1:
        raise InputError("the runs are in different folders: say where the page goes with --output FILE")
    return paths[0].parent / PAGE


class _NoTexts(TextStore):
    """Keeps no text: Markdown and JSON show none."""

    def __init__(self) -> None:
        super().__init__(Path("unused"))

    def add(self, key: str, record: Any) -> int:
        return -1


def _gather(paths: Sequence[Path], texts: TextStore, tables: Collection[Path]) -> list[GatheredRun]:
    """Reads the runs; samples.parquet is written into those of `tables`."""
    if not paths or len(paths) > _MOST_RUNS:
        raise InputError(f"{len(paths)} runs: a report takes 1 to {_MOST_RUNS}")
    names = _names(paths)
    return [
        gather(path, name, number, texts, path in tables)
        for number, (path, name) in enumerate(zip(paths, names, strict=True))
    ]


def _names(paths: Sequence[Path]) -> list[str]:
    """The models' names; where two runs are of one model, with the folder above."""
    resolved = [path.resolve() for path in paths]
    if len(set(resolved)) < len(resolved):
        raise InputError("one run folder was given twice")
    short = [path.name for path in resolved]
    if len(set(short)) == len(short):
        return short
    longer = [f"{path.parent.name}/{path.name}" for path in resolved]
    return longer if len(set(longer)) == len(longer) else [str(path) for path in resolved]


def report_record(runs: Sequence[GatheredRun]) -> dict[str, Any]:
    """The report as JSON: see `$defs/report` in docs/json.schema.json."""
    record: dict[str, Any] = {
        "format": FORMAT,
        "title": " and ".join(dict.fromkeys(str(run.results["suite"]) for run in runs)),
        "tasks": list(_tasks(runs)),
        "published": _published(runs),
        "runs": [_run_record(run) for run in runs],
        "doubtful": _doubtful(runs),
        "comparisons": [_comparison(runs[0], other) for other in runs[1:]],
    }
    return record | {"lead": lead(record)}


def _published(runs: Sequence[GatheredRun]) -> list[dict[str, Any]]:
    """What others report, task by task, each once: `task`, `model`, `value`, `of`, `source`, `decoding`."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for task, result in run.results["tasks"].items():
            for score in result.get("published", ()):
                key = json.dumps([task, score["model"], score["value"], score["source"], score["decoding"]])
                found.setdefault(key, {"task": task, **score})
    return sorted(found.values(), key=lambda item: list(_tasks(runs)).index(item["task"]))


def _doubtful(runs: Sequence[GatheredRun]) -> list[dict[str, Any]]:
    """References against which several runs agree on one other answer."""
    found: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for run in runs:
        for task, health in run.health.items():
            for row in health["suspicious_references"]:
                found[task, row["problem_id"], row["answer"]].append(run.name)
    return [
        {"task": task, "problem_id": problem_id, "answer": answer, "runs": names}
        for (task, problem_id, answer), names in found.items()
        if len(names) > 1
    ]


def _tasks(runs: Sequence[GatheredRun]) -> dict[str, None]:
    return dict.fromkeys(task for run in runs for task in run.results["tasks"])


def _run_record(run: GatheredRun) -> dict[str, Any]:
    return {
        "name": run.name,
        "path": str(run.path),
        "created": run.manifest.get("created"),
        "terms": run.manifest["terms"],
        "results": run.results,
        "health": run.health,
    }


def _comparison(base: GatheredRun, tuned: GatheredRun) -> dict[str, Any]:
    """The comparison of two runs; what refuses it is kept as text, the rest of the report stands."""
    record: Comparison | None = None
    refused: str | None = None
    try:
        record = compare(base.path, tuned.path)
    except GenbenchError as error:
        refused = str(error)
    return {"base": base.name, "tuned": tuned.name, "record": record, "refused": refused}


def _as_json(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report with its comparisons as JSON values."""
    comparisons = [
        item | {"record": item["record"].to_json() if item["record"] else None}
        for item in report["comparisons"]
    ]
    return report | {"comparisons": comparisons}


def _series(runs: Sequence[GatheredRun]) -> dict[str, list[Series]]:
    tasks = dict.fromkeys(task for run in runs for task in run.columns)
    return {
        task: [_task_series(run.name, run.columns[task]) for run in runs if task in run.columns]
        for task in tasks
    }


def _task_series(name: str, columns: TaskColumns) -> Series:
    scored = [at for at in drawn(columns) if columns.score(at) is not None]
    return Series(
        run=name,
        unit=columns.unit,
        trace=[columns.trace[at] for at in scored],
        answer=[columns.answer[at] for at in scored],
        completion=[columns.tokens[at] for at in scored],
        scores=[columns.score(at) or 0.0 for at in scored],
    )


def _index(runs: Sequence[GatheredRun], folder: str | None) -> dict[str, Any]:
    """What the browser knows of every sample without opening its text; see templates/browser.js."""
    return {
        "runs": [run.name for run in runs],
        "statuses": STATUSES,
        "folder": folder,
        "tasks": [
            _task_index(task, runs)
            for task in dict.fromkeys(task for run in runs for task in run.results["tasks"])
        ],
    }


def _task_index(task: str, runs: Sequence[GatheredRun]) -> dict[str, Any]:
    columns = [run.columns.get(task) for run in runs]
    ids = list(dict.fromkeys(name for item in columns if item for name in item.problem_ids))
    k = max(item.k for item in columns if item)
    units = dict.fromkeys(item.unit for item in columns if item)
    return {
        "name": task,
        "unit": " or ".join(units),
        "ids": ids,
        "k": k,
        "runs": [_run_index(item, ids, k) if item else None for item in columns],
    }


def _run_index(columns: TaskColumns, ids: Sequence[str], k: int) -> dict[str, Any]:
    """One run's samples in the order of `ids` and k: status as base-36 digits, `.` where none."""
    places = [
        columns.rows[name] * columns.k + index if name in columns.rows and index < columns.k else -1
        for name in ids
        for index in range(k)
    ]
    status = [columns.status[at] if at >= 0 else -1 for at in places]
    return {
        "status": "".join("." if code < 0 else _DIGITS[code] for code in status),
        "scores": _odd_scores(columns, places),
        "tokens": [columns.tokens[at] if at >= 0 else 0 for at in places],
        "chunks": [columns.chunks[at] if at >= 0 else -1 for at in places],
        "asks": [columns.ask_chunks[columns.rows[name]] if name in columns.rows else -1 for name in ids],
    }


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def _odd_scores(columns: TaskColumns, places: Sequence[int]) -> Mapping[int, float | None]:
    """The scores that do not follow from the status (1 for correct, else 0)."""
    found: dict[int, float | None] = {}
    for position, at in enumerate(places):
        if at < 0 or columns.status[at] < 0:
            continue
        status = STATUSES[columns.status[at]]
        score = None if status in OURS else columns.score(at)
        if score != float(status == "correct"):
            found[position] = score
    return found
