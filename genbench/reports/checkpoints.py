"""The table of several checkpoints: for the terminal, for pages, and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

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
    "Points of 100. In brackets the change to the first, paired by problem. *: its 95 % interval excludes 0.",
    "#: ranks that the scores do not exclude, over all pairs together at 95 %. Without luck: the best score, "
    "drawn to the mean by the share of noise, next to what the best of equal checkpoints gains by chance.",
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
    lines = [line for name, task in record.tasks.items() for line in _lines(name, task, runs, keys)]
    return csv_text((*_HEAD, *(f"meta.{key}" for key in keys)), lines)


def _lines(
    name: str, task: CheckpointTask, runs: Mapping[str, CheckpointRun], keys: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    """Yield the lines of a task: one for each checkpoint, and below it those of its parts."""
    for score in task.scores:
        run = runs[score.run]
        said = (" ".join(run.about.tags), run.about.note, *(run.about.meta.get(key) for key in keys))
        head = (run.name, run.path, name)
        none = (None, None)
        ends = (score.difference, *(score.difference_ci or none), score.p, *(score.rank or none))
        yield (*head, "", task.metric, task.n, score.value, *(score.ci or none), *ends, *said)
        for part, own in score.parts.items():
            yield (*head, part, task.metric, task.n, own.value, *(own.ci or none), *(None,) * 6, *said)


def csv_text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV. A text that a spreadsheet would run as a formula gets a quote before it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for line in (head, *lines):
        writer.writerow(["" if cell is None else _harmless(cell) for cell in line])
    return out.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t")) else cell


_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 260, 56, 34


@dataclass(frozen=True, slots=True)
class Dot:
    """A run in a chart of a score against a value."""

    name: str
    x: float
    y: float
    link: str


def scatter(x: str, y: str, dots: Sequence[Dot]) -> Markup:
    """Return the chart of a task's score against a value of the user's own.

    Positive values that span a factor of ten or more, such as learning rates, have a logarithmic axis.
    """
    if not dots:
        return Markup("<p>No run has both {} and a score of {}.</p>").format(x, y)
    values = [dot.x for dot in dots]
    is_log = min(values) > 0 and max(values) >= 10 * min(values)
    places = [math.log10(value) if is_log else value for value in values]
    low, high = min(places), max(places)
    bottom, top = min(dot.y for dot in dots), max(dot.y for dot in dots)
    wide, tall = (high - low) or 1.0, (top - bottom) or 0.01
    parts = [
        Markup('<path class="rule" d="M{} 8V{}H{}"/>').format(_LEFT, _HEIGHT - _BOTTOM, _WIDTH - 8),
        *(
            Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(_LEFT - 6, at, points(value))
            for at, value in ((_HEIGHT - _BOTTOM, bottom), (18, top))
        ),
        Markup('<text x="{}" y="{}">{}</text>').format(_LEFT, _HEIGHT - 12, meta_text(min(values))),
        Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(
            _WIDTH - 8, _HEIGHT - 12, meta_text(max(values))
        ),
    ]
    for dot, place in zip(dots, places, strict=True):
        at = round(_LEFT + 10 + (place - low) / wide * (_WIDTH - _LEFT - 28), 1)
        up = round(_HEIGHT - _BOTTOM - 8 - (dot.y - bottom) / tall * (_HEIGHT - _BOTTOM - 24), 1)
        words = f"{dot.name}: {x} {meta_text(dot.x)}, {y} {points(dot.y)}"
        circle = '<circle class="point" cx="{}" cy="{}" r="5"><title>{}</title></circle>'
        link = Markup(f'<a href="{{}}" aria-label="{{}}">{circle}</a>')
        parts.append(link.format(dot.link, words, at, up, words))
    title = f"{y} against {x}, {len(dots)} runs" + (", logarithmic" if is_log else "")
    return Markup('<svg class="plot" viewBox="0 0 {} {}" role="group" aria-label="{}">{}</svg>').format(
        _WIDTH, _HEIGHT, title, Markup("").join(parts)
    )
