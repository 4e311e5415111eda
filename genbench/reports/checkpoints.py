"""The table of several checkpoints: for the terminal, for pages, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from genbench.analysis.comparison.checkpoints import (
    CheckpointRun,
    Checkpoints,
    CheckpointScore,
    CheckpointTask,
)
from genbench.reports.numbers import points, signed
from genbench.reports.table import aligned
from genbench.safetext.printable import printable
from genbench.store.manifest import AboutRecord

NOTES = (
    "Points of 100. In brackets the change to the first, paired by problem; * if its 95 % interval excludes 0.",
    "#: ranks that the scores do not exclude, over all pairs together at 95 %. Without luck: the best score "
    "drawn towards the mean by the share of noise, next to what the best of equal checkpoints gains by chance.",
)
"""What the cells mean."""


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """A task, or a named part of its score, over all checkpoints. `cells` are in the order of the runs."""

    name: str
    cells: tuple[str, ...]
    best: str = ""
    is_part: bool = False


def matrix_rows(record: Checkpoints) -> list[MatrixRow]:
    """Return a row for each task, and below it one for each named part of its score."""
    return [row for name, task in record.tasks.items() for row in _rows(name, task, record.runs)]


def _rows(name: str, task: CheckpointTask, runs: Sequence[CheckpointRun]) -> Iterator[MatrixRow]:
    scores = {score.run: score for score in task.scores}
    yield MatrixRow(name, tuple(_cell(scores.get(run.name)) for run in runs), _best(task))
    for part in dict.fromkeys(part for score in task.scores for part in score.parts):
        found = (scores[run.name].parts.get(part) if run.name in scores else None for run in runs)
        yield MatrixRow(part, tuple("-" if own is None else points(own.value) for own in found), is_part=True)


def _cell(score: CheckpointScore | None) -> str:
    if score is None or score.value is None:
        return "-"
    ci = score.difference_ci
    mark = "*" if ci is not None and (ci[0] > 0 or ci[1] < 0) else ""
    change = "" if score.difference is None else f" ({signed(score.difference)}{mark})"
    return f"{points(score.value)}{change}{_rank(score)}"


def _rank(score: CheckpointScore) -> str:
    if score.rank is None:
        return ""
    low, high = score.rank
    return f" #{low}" if low == high else f" #{low}-{high}"


def _best(task: CheckpointTask) -> str:
    if task.best is None:
        return ""
    if task.best.shrunk is None or task.best.luck is None:
        return task.best.run
    return f"{task.best.run}, {points(task.best.shrunk)} without luck ({points(task.best.luck)})"


def checkpoints_text(record: Checkpoints) -> str:
    """Return the table as text: a row for each task and part, a column for each checkpoint."""
    names = [run.name for run in record.runs]
    rows = [("  " * row.is_part + row.name, *row.cells, row.best) for row in matrix_rows(record)]
    return printable(
        "\n".join(
            [
                *(
                    f"{number}. {run.name}: {run.path}{_named(run)}"
                    for number, run in enumerate(record.runs, start=1)
                ),
                "",
                aligned(("task", *names, "best"), rows, frozenset(names)),
                "",
                *NOTES,
                *(f"{run.name} is not compared: {run.refused}" for run in record.runs if run.refused),
                *(f"WARNING: {line}" for line in record.warnings[:_WARNINGS]),
                *(
                    [f"… and {len(record.warnings) - _WARNINGS} more warnings"]
                    if len(record.warnings) > _WARNINGS
                    else []
                ),
            ]
        )
    )


_WARNINGS = 6


def _named(run: CheckpointRun) -> str:
    words = said(run.about)
    return f" ({words})" if words else ""


def said(about: AboutRecord) -> str:
    """Return tags, values and note of a run in words."""
    words = [*about.tags, *(f"{key}={meta_text(value)}" for key, value in about.meta.items())]
    return "; ".join(filter(None, (", ".join(words), about.note)))


def meta_text(value: object) -> str:
    """Return a value of the user's own as text: numbers as short as they are exact."""
    return f"{value:g}" if isinstance(value, float) else str(value)


_HEAD = (
    "run",
    "path",
    "task",
    "part",
    "metric",
    "problems",
    "score",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "p",
    "best_rank",
    "worst_rank",
    "tags",
    "note",
)


def checkpoints_csv(record: Checkpoints) -> str:
    """Return the table as CSV: a line for each checkpoint and task, and for each named part.

    Scores are fractions of 1. Values of the user's own are columns `meta.NAME`.
    """
    keys = list(dict.fromkeys(key for run in record.runs for key in run.about.meta))
    runs = {run.name: run for run in record.runs}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*_HEAD, *(f"meta.{key}" for key in keys)))
    for name, task in record.tasks.items():
        for score in task.scores:
            run = runs[score.run]
            about = (" ".join(run.about.tags), run.about.note)
            meta = tuple(run.about.meta.get(key, "") for key in keys)
            head = (run.name, run.path, name)
            paired = (score.difference, *(score.difference_ci or (None, None)), score.p)
            ends = (*(score.ci or (None, None)), *paired, *(score.rank or (None, None)))
            _write(writer, (*head, "", task.metric, task.n, score.value, *ends, *about, *meta))
            for part, own in score.parts.items():
                bounds = (*(own.ci or (None, None)), *(None,) * (len(ends) - 2))
                _write(writer, (*head, part, task.metric, task.n, own.value, *bounds, *about, *meta))
    return out.getvalue()


def _write(writer: csv._writer, cells: Sequence[object]) -> None:  # type: ignore[name-defined]
    """Write a line. A text that a spreadsheet would run as a formula gets a quote before it."""
    writer.writerow(
        ""
        if cell is None
        else f"'{cell}"
        if isinstance(cell, str) and cell[:1] in "=+-@\t" and cell
        else cell
        for cell in cells
    )
