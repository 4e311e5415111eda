"""The report of one or more runs: what it says, and how it is written as a page, Markdown or JSON."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from genbench.analysis.comparison.checkpoints import Checkpoints, checkpoints_of, run_names
from genbench.analysis.comparison.comparability import check_names
from genbench.analysis.comparison.compare import CompareOptions, Comparison, compare_sides
from genbench.analysis.corrected import reviews_next_to
from genbench.analysis.efforts import EffortRun, Efforts, are_efforts, compare_efforts, effort_table
from genbench.analysis.results.means import GroupRecord
from genbench.analysis.side_by_side import side_by_side
from genbench.analysis.sides.loading import side_of
from genbench.analysis.sides.side import Side
from genbench.errors import GenbenchError, InputError
from genbench.reports.adaptive_looks import LOOKS, adaptive_text, look_rows
from genbench.reports.efforts import EFFORTS, effort_lines, effort_rows, efforts_csv
from genbench.reports.explanations import report_headline, task_sentences, verdict_sentence
from genbench.reports.page.data import (
    PARQUET,
    PackedParts,
    RunPage,
    Series,
    TaskColumns,
    drawn,
    page_data,
    page_index,
)
from genbench.reports.page.html import html
from genbench.reports.page.safety import safety_point
from genbench.reports.page.text_chunks import ChunkedTexts
from genbench.reports.record import DoubtfulReference, Report, ReportedComparison, ReportedRun, ReportedScore
from genbench.reports.result_tables import (
    CHANGES,
    HEALTH,
    PUBLISHED,
    READ_BY,
    SCORES,
    HealthRow,
    TaskLines,
    agent_lines,
    change_rows,
    health_row,
    judge_lines,
    own_tasks,
    report_changes,
    report_means,
    report_readings,
    report_scores,
    scored_lines,
    task_groups,
)
from genbench.reports.table import markdown_text
from genbench.reports.warnings import brief_warnings
from genbench.safetext.printable import one_line
from genbench.store.contract import EFFORT
from genbench.store.json_files import replace_parts
from genbench.store.manifest import Manifest
from genbench.store.stored_run import StoredRun

FORMAT = 1


def _texts(runs: Sequence[RunPage]) -> dict[str, Any]:
    """Return the field with the answers of tasks that nothing scores."""
    names = dict.fromkeys(
        name
        for run in runs
        for name, task in run.stored.manifest.tasks.items()
        if task.is_unrated and name in run.results.tasks
    )
    stored = [(run.name, run.stored) for run in runs]
    return {"texts": tuple(side_by_side(stored, name) for name in names)} if names else {}


def report_record(runs: Sequence[RunPage], allow: Sequence[str] = ()) -> Report:
    """Return the report of gathered runs.

    Args:
        allow: names of differences that the comparisons let through.
    """
    check_names(allow)
    sides = {run.name: side_of(run.stored, run.results) for run in runs} if len(runs) > 1 else {}
    comparisons = tuple(_comparison(sides, other.name, allow) for other in runs[1:])
    record = Report(
        format=FORMAT,
        title=" and ".join(dict.fromkeys(run.results.suite for run in runs)),
        tasks=_tasks(runs),
        published=tuple(_published(runs)),
        runs=tuple(_run_record(run) for run in runs),
        doubtful=tuple(_doubtful(runs)),
        comparisons=comparisons,
        lead="",
        **_checkpoints(sides, comparisons),
        **_efforts(runs, list(sides.values())),
        **_texts(runs),
    )
    return record.model_copy(update={"lead": report_headline(record)})


def _efforts(runs: Sequence[RunPage], sides: Sequence[Side]) -> dict[str, Any]:
    """Return the field with the table of efforts, if any run was drawn at one."""
    if not any(EFFORT in run.stored.manifest.terms for run in runs):
        return {}
    return {"efforts": _effort_table(runs, sides)}


def _effort_table(runs: Sequence[RunPage], sides: Sequence[Side]) -> Efforts:
    found = [
        EffortRun(run.name, run.stored.manifest, run.results, tokens)
        for run in runs
        for tokens in [{name: _tokens(own) for name, own in run.columns.items()}]
    ]
    if sides:
        found = [replace(run, side=side) for run, side in zip(found, sides, strict=True)]
    return effort_table(found)


def _tokens(columns: TaskColumns) -> dict[str, list[int]]:
    """Return the completion tokens of each problem's samples, or nothing if they were not counted."""
    found: dict[str, list[int]] = {}
    for at in drawn(columns) if columns.counted else ():
        found.setdefault(columns.problem_ids[at // columns.k], []).append(columns.tokens[at])
    return found


def _published(runs: Sequence[RunPage]) -> list[ReportedScore]:
    """Return what others report, groups first and then task by task, each score once."""
    found: dict[tuple[object, ...], ReportedScore] = {}
    for run in runs:
        for name, reported in (run.results.groups | run.results.tasks).items():
            mean = {"mean": reported.mean} if isinstance(reported, GroupRecord) else {}
            for score in reported.published:
                key = (name, score.model, score.value, score.source, score.decoding)
                found.setdefault(key, ReportedScore(task=name, **mean, **score.to_json()))
    order = _tasks(runs)
    return sorted(found.values(), key=lambda item: order.index(item.task) if item.task in order else -1)


def _doubtful(runs: Sequence[RunPage]) -> list[DoubtfulReference]:
    """Return references against which several runs agree on one other answer."""
    found: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for run in runs:
        for task, health in run.health.items():
            for row in health.suspicious_references:
                found[task, row.problem_id, row.answer].append(run.name)
    return [
        DoubtfulReference(task=task, problem_id=problem_id, answer=answer, runs=tuple(names))
        for (task, problem_id, answer), names in found.items()
        if len(names) > 1
    ]


def _tasks(runs: Sequence[RunPage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(task for run in runs for task in run.results.tasks))


def _run_record(run: RunPage) -> ReportedRun:
    reviews = reviews_next_to(run.stored.path)
    reviewed = reviews.tasks(run.stored, run.results) if reviews else {}
    return ReportedRun(
        name=run.name,
        path=str(run.stored.path),
        created=run.stored.manifest.created,
        terms=run.stored.manifest.terms,
        results=run.results,
        health=dict(run.health),
        engines=_engines(run.stored.manifest),
        **({"reviewed": reviewed} if reviewed else {}),
    )


def _engines(manifest: Manifest) -> dict[str, dict[str, Any]]:
    """Return the engines of the last attempt that drew with any that reported them."""
    return next((attempt.engines for attempt in reversed(manifest.attempts) if attempt.engines), {})


def _comparison(sides: Mapping[str, Side], tuned: str, allow: Sequence[str]) -> ReportedComparison:
    """Compare a run with the first. If it is refused, the report continues with the reason as text."""
    record: Comparison | None = None
    refused: str | None = None
    base = next(iter(sides))
    try:
        if are_efforts(sides[base], sides[tuned]):
            record = compare_efforts(sides[base], sides[tuned], allow)
        else:
            record = compare_sides(sides[base], sides[tuned], CompareOptions(allow=allow))
    except GenbenchError as error:
        refused = str(error)
    return ReportedComparison(base=base, tuned=tuned, record=record, refused=refused)


def _checkpoints(
    sides: Mapping[str, Side], comparisons: Sequence[ReportedComparison]
) -> dict[str, Checkpoints]:
    """Return the field with the table of three or more runs."""
    compared = {item.tuned: item.record for item in comparisons if item.record is not None}
    if len(sides) < 3 or not compared:
        return {}
    refused = {item.tuned: item.refused for item in comparisons if item.refused is not None}
    return {"checkpoints": checkpoints_of(sides, compared, refused)}


PAGE = "report.html"
_MOST_RUNS = 6
_HEAD_BYTES = 4096
_PAGE_ENDINGS = (".html", ".htm")
"""Endings of files that `--output` replaces without a look at them."""
MARK = "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-"
"""A part of the head of every page, by which a report knows an older page of its own."""


@dataclass(frozen=True, slots=True)
class Written:
    """The paths of a written report.

    They are the page, the folder of its long texts (None if it needs none), and the tables.
    """

    page: Path
    texts: Path | None
    tables: tuple[Path, ...]
    lead: str = ""
    """The page's first sentence: the verdict of a comparison, or the scores."""
    efforts: Efforts | None = None
    """The page's table of efforts, or None if it has none."""


def report(
    runs: str | Path | Sequence[str | Path],
    output: str | Path | None = None,
    *,
    allow: Sequence[str] = (),
    with_sensitive: bool = False,
) -> Written:
    """Write the page of one or more runs, as `genbench report` does.

    Args:
        runs: run folders. The others are compared with the first.
        output: the page. None means report.html in the run folder, or in the folder of several runs.
        allow: names of differences (`k`, `verifier` …) that comparisons let through.
        with_sensitive: include prompts and answers of sensitive tasks.

    Raises:
        InputError: no run, too many, or one that is not finished.
    """
    paths = [Path(runs)] if isinstance(runs, str | Path) else [Path(run) for run in runs]
    page = None if output is None else Path(output)
    return write_page(paths, page, allow=allow, with_sensitive=with_sensitive)


def write_page(
    paths: Sequence[Path],
    output: Path | None = None,
    parquet: bool = True,
    untouched: Collection[Path] = (),
    *,
    allow: Sequence[str] = (),
    with_sensitive: bool = False,
) -> Written:
    """Write report.html, and samples.parquet into each run folder.

    Args:
        paths: run folders. The others are compared with the first.
        output: the page. By default report.html in the run folder, or in the folder of several runs.
        parquet: whether to write samples.parquet.
        untouched: run folders that are only read. No samples.parquet is written there, nor into folders
            that cannot be written.
        allow: names of differences that comparisons let through.
        with_sensitive: include prompts and answers of sensitive tasks.

    Raises:
        InputError: no run, too many, or one that is not finished.
    """
    page = output or default_page(paths)
    if output is None or page.suffix.lower() not in _PAGE_ENDINGS:
        _require_own(page)
    tables = [path for path in paths if parquet and path not in untouched and _is_writable(path)]
    texts = ChunkedTexts(page.with_suffix(".files"))
    try:
        runs = _gather(paths, texts, tables, with_sensitive=with_sensitive)
        record = report_record(runs, allow)
        folder = texts.publish()
    except BaseException:
        texts.discard()
        raise
    index = PackedParts(page_index({run.name: run.columns for run in runs}, folder))
    parts = html(record, _SeriesByTask(runs), index, texts.inline(), mathematics=texts.has_mathematics)
    replace_parts(page, (part.encode("utf-8", "backslashreplace") for part in parts))
    place = page.with_name(folder) if folder else None
    return Written(page, place, tuple(path / PARQUET for path in tables), record.lead, record.efforts)


def _require_own(page: Path) -> None:
    """Refuse to replace a file that no report made, if the user did not name it as a page.

    Raises:
        InputError: the file is something else.
    """
    if not page.is_file():
        return
    with page.open("rb") as file:
        if MARK.encode() not in file.read(_HEAD_BYTES):
            raise InputError(
                f"{page}: is there, and no report of genbench; move it away, or say where the page goes with "
                "--output FILE"
            )


def report_text(paths: Sequence[str | Path], form: str, *, allow: Sequence[str] = ()) -> str:
    """Return the report as `md`, `json` or `csv`, which has one row for each run and task.

    Args:
        allow: names of differences that comparisons let through.

    Raises:
        InputError: an unknown form, no run, too many, or one that is not finished.
    """
    if form not in ("md", "json", "csv"):
        raise InputError(f"--format {form}: wanted html, md, json or csv")
    texts = _NoTexts()
    runs = _gather(list(map(Path, paths)), texts, tables=())
    if form == "csv":
        sides = [side_of(run.stored, run.results) for run in runs] if len(runs) > 1 else []
        return efforts_csv(effort_rows(_effort_table(runs, sides)))
    record = report_record(runs, allow)
    return markdown(record) if form == "md" else json.dumps(record.to_json(), indent=2, ensure_ascii=True)


def _is_writable(folder: Path) -> bool:
    """Tell whether files can be written into a folder. Network mounts make permissions unreliable."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def default_page(paths: Sequence[Path]) -> Path:
    """Return report.html in the one run folder, or in the folder that all the runs are in.

    Raises:
        InputError: no run, or runs in different folders.
    """
    if not paths:
        raise InputError("no run to report on; give RUN_DIR/<model>")
    if len(paths) == 1:
        return paths[0] / PAGE
    parents = {path.resolve().parent for path in paths}
    if len(parents) > 1:
        raise InputError("the runs are in different folders: name the page with --output FILE")
    return paths[0].parent / PAGE


class _NoTexts(ChunkedTexts):
    """A store that keeps no text, for Markdown and JSON, which show none."""

    def __init__(self) -> None:
        super().__init__(Path("unused"))

    def add(self, key: str, record: Any) -> int:
        return -1


def _gather(
    paths: Sequence[Path], texts: ChunkedTexts, tables: Collection[Path], *, with_sensitive: bool = False
) -> list[RunPage]:
    """Read the runs. samples.parquet is written into those of `tables`."""
    if not paths or len(paths) > _MOST_RUNS:
        raise InputError(f"{len(paths)} runs: a report takes 1 to {_MOST_RUNS}")
    names = run_names(paths)
    return [
        page_data(
            StoredRun(path, indexed=len(paths) > 1),
            name,
            number,
            texts,
            path in tables,
            with_sensitive=with_sensitive,
        )
        for number, (path, name) in enumerate(zip(paths, names, strict=True))
    ]


class _SeriesByTask(Mapping[str, Sequence[Series]]):
    """The series of each task, made when they are read. They take several times the memory of its columns."""

    def __init__(self, runs: Sequence[RunPage]) -> None:
        self._runs = runs
        self._tasks = dict.fromkeys(task for run in runs for task in run.columns)

    def __getitem__(self, task: str) -> list[Series]:
        if task not in self._tasks:
            raise KeyError(task)
        return [_task_series(run.name, run.columns[task]) for run in self._runs if task in run.columns]

    def __contains__(self, task: object) -> bool:
        return task in self._tasks

    def __iter__(self) -> Iterator[str]:
        return iter(self._tasks)

    def __len__(self) -> int:
        return len(self._tasks)


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


def markdown(report: Report) -> str:
    """Return the report: the result first, then tables, with the details and the tasks of groups folded."""
    lines = [f"### {markdown_text(report.lead)}", "", *_warnings(report)]
    compared = [item for item in report.comparisons if item.record]
    for item in compared:
        lines += [*_comparison_table(item, report), ""]
        why = list(task_sentences(item).values())
        if len(compared) > 1 and item.record:
            why = [verdict_sentence(item.base, item.tuned, item.record), *why]
        lines += _folded("Why", [f"- {markdown_text(line)}" for line in why])
    scores = _score_tables(report)
    lines += _folded("Scores", scores) if compared else scores
    if report.efforts:
        told = [f"- {markdown_text(line)}" for line in effort_lines(report.efforts)]
        lines += _folded("By effort", [*EFFORTS.markdown(effort_rows(report.efforts)), "", *told])
    read_by = report_readings(report)
    lines += _folded("How answers were read", READ_BY.markdown(read_by)) if read_by else []
    for run in report.runs:
        lines += _looks(run) if run.results.adaptive else []
    scored = _listed(scored_lines(report))
    lines += _folded("Likelihood", scored) if scored else []
    agents = _listed(agent_lines(report))
    lines += _folded("Agents", agents) if agents else []
    judged = _listed(judge_lines(report))
    lines += _folded("Judges", judged) if judged else []
    places = [safety_point(run.name, run.results) for run in report.runs]
    if safety := [f"- {markdown_text(place.words)}" for place in places if place is not None]:
        lines += _folded("Safety", safety)
    if report.published:
        lines += _folded("What others report", PUBLISHED.markdown(report.published))
    lines += _folded("Health of the data", HEALTH.markdown(_health(report)))
    paths = ", ".join(f"`{one_line(run.path, 200).replace('`', '')}`" for run in report.runs)
    return "\n".join([*lines, f"Points of 100; intervals of 95%. Runs: {paths}", ""])


def _warnings(report: Report) -> list[str]:
    lines = brief_warnings(report)
    return [*(f"> {markdown_text(line)}" for line in lines), ""] if lines else []


def _comparison_table(item: ReportedComparison, report: Report) -> list[str]:
    """Return the table of the tasks without a group and of the groups, then the tasks of each, folded."""
    compared = item.record.tasks if item.record else {}
    heads = {"base": item.base, "tuned": item.tuned}
    lines = CHANGES.markdown(report_changes(report, compared), heads)
    for name, tasks in task_groups(report).items():
        rows = change_rows(compared, tasks)
        if rows:
            lines += ["", *_folded(f"The changes of {markdown_text(name)}", CHANGES.markdown(rows, heads))]
    return lines


def _score_tables(report: Report) -> list[str]:
    """Return the table of the groups and of the tasks without one, then the tasks of each group, folded."""
    rows = [*report_means(report), *report_scores(report, own_tasks(report))]
    lines = [*SCORES.markdown(rows), ""]
    for name, tasks in task_groups(report).items():
        table = SCORES.markdown(report_scores(report, tasks))
        lines += _folded(f"The scores of {markdown_text(name)}", table)
    return lines


def _looks(run: ReportedRun) -> list[str]:
    """Return the looks of an adaptive run, folded."""
    record = run.results.adaptive
    if record is None:
        return []
    text = adaptive_text(record)
    others = [f"- {markdown_text(line)}" for part in text for line in part.splitlines() if ":" in line]
    return _folded(f"Looks of {markdown_text(run.name)}", [*LOOKS.markdown(look_rows(record)), "", *others])


def _listed(found: Sequence[TaskLines]) -> list[str]:
    return [f"- {markdown_text(f'{name}, {run}: {line}')}" for name, run, lines in found for line in lines]


def _health(report: Report) -> list[HealthRow]:
    """Return the rows of all tasks, run by run."""
    return [health_row(name, run.name, [item]) for run in report.runs for name, item in run.health.items()]


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "", "</details>", ""]
