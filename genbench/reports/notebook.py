"""Results in a notebook: records as tables, the pictures of the pages, and samples as a data frame."""

from __future__ import annotations

import base64
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from markupsafe import Markup, escape

from genbench import registry
from genbench.analysis.budgets import Budgets
from genbench.analysis.comparison.compare import Comparison
from genbench.analysis.curves import Curve, Curves
from genbench.analysis.results.record import Results, read_results
from genbench.analysis.samples import task_samples
from genbench.errors import InputError, nearest
from genbench.json_record import JsonRecord
from genbench.protocols import View
from genbench.reports.curves import curves_chart
from genbench.reports.explanations import headline
from genbench.reports.numbers import points
from genbench.reports.page import plots
from genbench.reports.page.templates import page_environment, template_source
from genbench.reports.parquet import SCHEMA, sample_row
from genbench.reports.result_tables import CHANGES, SCORES, change_rows
from genbench.reports.terminal.compare import compare_brief
from genbench.reports.terminal.run import score_rows
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun

Library = Literal["arrow", "pandas", "polars"]
_ROWS = 16_384


def frame(
    run: str | Path | Sequence[str | Path], tasks: Sequence[str] = (), library: Library | None = None
) -> Any:
    """Return the samples of stored runs as a table, one row each.

    The columns are those of samples.parquet, then `tags`, `note` and `meta.KEY` of runs that have any.

    Args:
        run: the run folder, or several.
        tasks: only these. None means all.
        library: arrow, pandas or polars. None: polars if this process has imported it and not pandas, else
            pandas if it is installed, else polars, else Arrow.

    Raises:
        InputError: no such task or library, or one that is not installed.
        RunFolderError: no run folder, or a damaged line.
    """
    chosen = library or _installed()
    if chosen not in ("arrow", "pandas", "polars"):
        raise InputError(f"frame: no library '{chosen}'{nearest(chosen, ('arrow', 'pandas', 'polars'))}")
    if chosen != "arrow" and find_spec(chosen) is None:
        raise InputError(f"frame: {chosen} is not installed; install it, or write library='arrow'")
    paths = [run] if isinstance(run, str | Path) else list(run)
    tables = [_samples(StoredRun(Path(path)), tasks) for path in paths]
    table = pa.concat_tables(tables, promote_options="default")
    if chosen == "arrow":
        return table
    return table.to_pandas() if chosen == "pandas" else import_module("polars").from_arrow(table)


def _samples(stored: StoredRun, tasks: Sequence[str]) -> pa.Table:
    """Return the samples of one run, with what the user says about it in columns of their own."""
    names = list(stored.manifest.tasks)
    for name in tasks:
        if name not in names:
            raise InputError(f"{stored.path}: no task '{name}'{nearest(name, names)}")
    table = pa.Table.from_batches(list(_batches(stored, tasks or names)), schema=SCHEMA)
    about = stored.manifest.about
    said: dict[str, Any] = {f"meta.{key}": value for key, value in about.meta.items()}
    said |= {"tags": list(about.tags)} if about.tags else {}
    said |= {"note": about.note} if about.note else {}
    for name, value in said.items():
        table = table.append_column(name, pa.array([value] * len(table), type=pa.scalar(value).type))
    return table


def _installed() -> Library:
    if "polars" in sys.modules and "pandas" not in sys.modules:
        return "polars"
    if find_spec("pandas") is not None:
        return "pandas"
    return "polars" if find_spec("polars") is not None else "arrow"


def _batches(stored: StoredRun, tasks: Sequence[str]) -> Iterator[pa.RecordBatch]:
    rows: list[dict[str, Any]] = []
    for task in tasks:
        for sample in task_samples(stored, task):
            rows.append(sample_row(stored.manifest.model.name, sample))
            if len(rows) == _ROWS:
                yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)
                rows = []
    if rows:
        yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def line(record: JsonRecord) -> str:
    """Return a record as one line: what `compare` says first, the scores of a run, or what it is about."""
    if isinstance(record, Comparison):
        return " ".join(headline(record).split())
    if isinstance(record, Results):
        found = (f"{name} {points(task.value)}" for name, task in record.tasks.items())
        return f"{record.model}: {', '.join(found)}"
    view = _view(record)
    return ", ".join(view.names(record)) if view else ""


def html(record: JsonRecord) -> str:
    """Return a record as HTML for a notebook.

    Raises:
        InputError: it is not a record of results, a comparison, a track or curves.
    """
    if isinstance(record, Results):
        rows = list(score_rows(record.model, record))
        failed = Markup("").join(Markup("<p><b>{}</b></p>").format(line) for line in record.failed)
        return _table(SCORES.html_head(glossary=None), SCORES.html_rows(rows)) + failed
    if isinstance(record, Comparison):
        found = change_rows(record.tasks, record.tasks)
        about = Markup("<p><b>{}</b><br>{} → {}</p>").format(
            headline(record), str(record.base.path), str(record.tuned.path)
        )
        text = Markup("<details><summary>all lines</summary><pre>{}</pre></details>").format(
            compare_brief(record)
        )
        return about + _table(CHANGES.html_head(glossary=None), CHANGES.html_rows(found)) + text
    view = _view(record)
    if view is None:
        raise _no_record(record)
    return view.head(record) + _pictures(view, record)


def _table(head: Markup, rows: Markup) -> Markup:
    return Markup('<table class="genbench">{}<tbody>{}</tbody></table>').format(head, rows)


_SHOWN = 6


class _CurvesView:
    """A `protocols.View` of curves."""

    def head(self, record: Curves) -> Markup:
        return Markup("")

    def names(self, record: Curves) -> list[str]:
        return list(dict.fromkeys(_title(curve) for curve in record.curves))

    def picture(self, record: Curves, name: str) -> tuple[Markup, str]:
        own = [curve for curve in record.curves if _title(curve) == name]
        places = {one: place for place, one in enumerate(dict.fromkeys(c.series for c in record.curves))}
        return curves_chart(name, own, places), template_source(page_environment(), "curves.css")


def _view(record: JsonRecord) -> View | None:
    """Return how a record with several pictures is shown, None for other records."""
    if isinstance(record, Curves):
        return _CurvesView()
    target = registry.VIEWS.get(type(record).__name__)
    found: View | None = None if target is None else registry.load_object(target)()
    return found


def _pictures(view: View, record: JsonRecord) -> Markup:
    """Return the first pictures of a track or of curves, and how many were left out."""
    names = view.names(record)
    shown = [plot(record, name) for name in names[:_SHOWN]]
    left = len(names) - len(shown)
    more = Markup("<p>… and {} more: plot(record, NAME)</p>").format(left) if left > 0 else Markup("")
    return Markup("").join(Markup(picture._repr_html_()) for picture in shown) + more


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a page by itself. A notebook shows it."""

    svg: str

    def __repr__(self) -> str:
        return "<Picture: a notebook shows it, .save('picture.svg') writes it>"

    def _repr_html_(self) -> str:
        # As an image its styles cannot meet those of the notebook.
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="" style="max-width: 44rem; width: 100%" src="data:image/svg+xml;base64,{data}">'

    def save(self, path: str | Path) -> Path:
        """Write the picture as an SVG file, and return its path."""
        place = Path(path)
        place.write_text(self.svg, encoding="utf-8")
        return place


def plot(record: JsonRecord, task: str | None = None) -> Picture:
    """Return the picture of a comparison, of budgets, of a task of a track, or of a task's curves.

    Args:
        record: what `compare`, `budgets`, `track` or `curves` returned.
        task: the task of a track, or "TASK MEASURE" of curves. None: the first one.

    Raises:
        InputError: there is no such task, or nothing to draw.
    """
    if isinstance(record, Comparison):
        return _picture(Markup(_forest(record)))
    if isinstance(record, Budgets):
        return _budgets(record, task)
    view = _view(record)
    if view is None:
        raise _no_record(record)
    names = view.names(record)
    if task is not None and task not in names:
        raise InputError(f"plot: no '{task}'{nearest(task, names)}")
    if not names:
        raise InputError("plot: nothing to draw")
    return _picture(*view.picture(record, task or names[0]))


def _budgets(record: Budgets, task: str | None) -> Picture:
    """Return the score of one task, or of all, over the tokens of a reply."""
    known = {name: found for name, found in record.tasks.items() if found.points}
    if task is not None and task not in known:
        raise InputError(f"plot: no '{task}'{nearest(task, known)}")
    if not known:
        raise InputError("plot: nothing to draw")
    series = [
        (
            name,
            [(p.budget, 100 * p.low, 100 * p.ci[0], 100 * p.ci[1]) for p in found.points],
        )
        for name, found in known.items()
        if task in (None, name)
    ]
    return _picture(Markup(plots.length_curves("budgets", series, None, "of a reply, at most")))


def _title(curve: Curve) -> str:
    return f"{curve.task} {curve.measure}"


def _forest(record: Comparison) -> str:
    """Return the plot of both sides' scores. Sides without results.json have no intervals."""
    marks = []
    chance: dict[str, float] = {}
    for number, side in enumerate((record.base, record.tuned)):
        stored = _results(side.path)
        for name, task in record.tasks.items():
            own = None if stored is None else stored.tasks.get(name)
            value = task.base if number == 0 else task.tuned
            if own is not None and own.value is not None:
                low, high = own.ci or (own.value, own.value)
                marks.append(plots.Mark(name, number, 100 * own.value, 100 * low, 100 * high))
                chance |= {name: 100 * own.chance} if own.chance else {}
            elif value is not None:
                marks.append(plots.Mark(name, number, 100 * value, 100 * value, 100 * value))
    names = [record.base.name, record.tuned.name]
    names = ["base", "tuned"] if names[0] == names[1] else names
    return plots.forest("forest", list(record.tasks), names, marks, chance=chance)


def _results(path: str) -> Results | None:
    return read_results(RunFolder(Path(path))) if Path(path).is_dir() else None


def _picture(found: Markup, more: str = "") -> Picture:
    """Return an element of a page as a file of its own, with the styles of the page in it and `more`."""
    css = template_source(page_environment(), "report.css") + more
    names = ' xmlns="http://www.w3.org/2000/svg"'
    if "xmlns:xlink" not in found and "xlink:" in found:
        names += ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    box = re.search(r'viewBox="([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+)"', found)
    size = f' width="{box[3]}" height="{box[4]}"' if box else ""
    return Picture(
        re.sub(r"^<svg", f"<svg{names}{size}", f"{found}", count=1).replace(
            ">", f"><style>{escape(css)}</style>", 1
        )
    )


def _no_record(record: object) -> InputError:
    return InputError(
        f"{type(record).__name__} has no picture; wanted what genbench.compare, genbench.track or "
        "genbench.curves returns"
    )
