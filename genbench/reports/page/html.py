"""The page report.html, made from a report's record, its plots, and the index of its samples."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup

from genbench.analysis.results.record import Results, TaskResults
from genbench.reports.explanations import task_sentences
from genbench.reports.numbers import interval, points
from genbench.reports.page import plots
from genbench.reports.page.data import Series, group_series
from genbench.reports.page.safety import SafetyPoint, safety_point
from genbench.reports.page.templates import page_environment, template_source
from genbench.reports.record import Report, ReportedRun
from genbench.reports.result_tables import agent_lines, judge_lines, scored_lines, task_groups
from genbench.reports.variant import variant_lines
from genbench.reports.warnings import page_warnings
from genbench.stats.budgets import Replies, budgets_up_to
from genbench.types import STATUSES

THRESHOLD = 0.856
"""The score of Llama-2-7B at 4,096 tokens. RULER's authors call a length effective if a model scores more."""
_TEMML = "/* Temml 0.13.5, MIT licence, (c) 2020 Ron Kok, https://temml.org */"
LENGTH, CELL = "length", "length/depth"
"""Strata of tasks whose prompts have given lengths."""


@dataclass(frozen=True, slots=True)
class LengthPoint:
    """The score at one length. Values are fractions of 1, lengths are tokens."""

    length: int
    value: float
    ci: tuple[float, float] | None
    n: int


@dataclass(frozen=True, slots=True)
class LengthCurve:
    """The scores of a task, or of the tasks of a group, by length."""

    name: str
    points: tuple[LengthPoint, ...]

    @property
    def effective_length(self) -> int | None:
        """Return the largest length up to which no score is below the threshold. None: the first one is."""
        found = None
        for point in self.points:
            if point.value < THRESHOLD:
                break
            found = point.length
        return found


@dataclass(frozen=True, slots=True)
class HeatCell:
    """The score of needles at one length and depth, in per cent of the haystack."""

    length: int
    depth: float
    value: float
    n: int


def length_curves(results: Results) -> list[LengthCurve]:
    """Return the curves of a run. Tasks of one group that have one length each make one curve together."""
    found: dict[str, list[LengthPoint]] = {}
    group_of = {task: name for name, group in results.groups.items() for task in group.tasks}
    for name, task in results.tasks.items():
        points = list(_points(task))
        shared = len(points) == 1 and name in group_of
        found.setdefault(group_of[name] if shared else name, []).extend(points)
    return [
        LengthCurve(name, tuple(sorted(points, key=lambda point: point.length)))
        for name, points in found.items()
        if points
    ]


def _points(task: TaskResults) -> Iterator[LengthPoint]:
    for label, row in task.strata.get(LENGTH, {}).items():
        if label.isdecimal() and row.value is not None:
            yield LengthPoint(int(label), row.value, row.ci, row.n)


def heat_cells(task: TaskResults) -> list[HeatCell]:
    """Return the cells of the heat map of a task, or none if its rows have no depth."""
    found = []
    for label, row in task.strata.get(CELL, {}).items():
        length, _, depth = label.partition("/")
        if row.value is not None and length.isdecimal():
            found.append(HeatCell(int(length), float(depth), row.value, row.n))
    return found


def curve_words(run: str, curves: Sequence[LengthCurve]) -> list[str]:
    """Return one line for each curve: its scores with their intervals, and the effective length."""
    lines = []
    for curve in curves:
        scores = ", ".join(f"{point.length:,}: {_score(point)}" for point in curve.points)
        length = curve.effective_length
        known = "below the shortest" if length is None else f"{length:,} tokens"
        own = f"; effective length (at least {100 * THRESHOLD:.1f}): {known}"
        lines.append(f"{run}, {curve.name}: {scores}{own if curve.name.startswith('ruler') else ''}")
    return lines


def _score(point: LengthPoint) -> str:
    return points(point.value) + (f" {interval(point.ci)}" if point.ci else "")


def html(
    report: Report,
    series: Mapping[str, Sequence[Series]],
    index: Iterable[str],
    texts: str,
    *,
    mathematics: bool = True,
) -> Iterator[str]:
    """Return the parts of the page. That of a million samples is large, so it is never in memory whole.

    Args:
        series: by task, one entry for each run that has it.
        index: the data that the sample browser has without opening a text, as parts of one JSON text. It is
            read twice.
        texts: chunks of long texts that are kept in the page, as JSON.
        mathematics: whether the page gets the library that renders LaTeX, which has 168 kB.
    """
    environment, groups = page_environment(), task_groups(report)
    # The marker cannot be guessed by the texts inside, and is the same for the same page.
    marker = hashlib.sha256(f"{len(texts)}{report.lead}".encode())
    for part in index:
        marker.update(part.encode())
    nonce = marker.hexdigest()[:32]
    safety = [place for run in report.runs if (place := safety_point(run.name, run.results)) is not None]
    return environment.get_template("report.html.j2").generate(
        report=report,
        nonce=nonce,
        statuses=STATUSES,
        **page_warnings(report),
        variant_lines=variant_lines,
        first_causes=first_causes(report),
        judged=judge_lines(report),
        agents=agent_lines(report),
        scored=scored_lines(report),
        forest=_forest(report),
        groups=groups,
        status_plot=_statuses(report),
        length_lines=[
            line for run in report.runs for line in curve_words(run.name, length_curves(run.results))
        ],
        length_plots=_length_plots(report),
        task_plots={
            task: _task_plots(f"t{number}", rows) for number, (task, rows) in enumerate(series.items())
        },
        group_plots={
            name: _task_plots(f"g{number}", rows)
            for number, (name, tasks) in enumerate(groups.items())
            if (rows := group_series([series[task] for task in tasks if task in series]))
        },
        safety_lines=[place.words for place in safety],
        safety_plot=_plane(safety),
        contract=contract_rows(report.runs),
        index=map(_script_json, index),
        texts=_script_json(texts),
        css=Markup(template_source(environment, "report.css")),
        **{name: Markup(text) for name, text in page_scripts(environment, mathematics=mathematics).items()},
    )


def page_scripts(environment: Environment, *, mathematics: bool = True) -> dict[str, str]:
    """Return the scripts that a page runs, by their name in the template. All reports have the same."""
    files = {"temml": "temml.min.js", "mathscript": "mathematics.js", "script": "browser.js"}
    found = {name: template_source(environment, file) for name, file in files.items()}
    found["temml"] = f"{_TEMML}{found['temml']}" if mathematics else ""
    return found


_FIRST = 3
"""Causes on the first screen."""


def first_causes(report: Report) -> list[str]:
    """Return the causes of the largest changes, a sentence each, for the first screen of a page."""
    several = len(report.comparisons) > 1
    found = [
        (abs(task.difference), (f"{item.tuned}: " if several else "") + task_sentences(item)[name])
        for item in report.comparisons
        if item.record
        for name, task in item.record.tasks.items()
        if task.difference
    ]
    found.sort(key=lambda pair: -pair[0])
    return [text.replace(" -> ", " → ") for _, text in found[:_FIRST]]


def _script_json(text: str) -> Markup:
    """Return JSON with `<`, `>` and `&` escaped, so that it cannot end a script element."""
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def _forest(report: Report) -> Markup:
    """Return the plot of scores: one line for each group, and for each task without a group."""
    grouped = {task: name for name, tasks in task_groups(report).items() for task in tasks}
    lines = list(dict.fromkeys(grouped.get(task, task) for task in report.tasks))
    marks: list[plots.Mark] = []
    chance: dict[str, float] = {}
    for number, run in enumerate(report.runs):
        shown = {name: group.macro for name, group in run.results.groups.items()}
        scores = {name: task for name, task in run.results.tasks.items() if name not in grouped}
        for name, mean in (shown | scores).items():
            if mean is not None and mean.value is not None:
                low, high = mean.ci or (mean.value, mean.value)
                marks.append(plots.Mark(name, number, 100 * mean.value, 100 * low, 100 * high))
        chance |= {name: 100 * task.chance for name, task in scores.items() if task.chance}
    others = [
        (item.task, 100 * item.value)
        for item in report.published
        if item.task in lines and not (item.mean and item.task in report.tasks)  # no mark is at that mean
    ]
    names = [run.name for run in report.runs]
    return Markup(plots.forest("forest", lines, names, marks, chance=chance, published=others))


def _plane(places: Sequence[SafetyPoint]) -> Markup | None:
    """Return the plane of safety, or None if no run has both figures."""
    if not places:
        return None
    found = [(place.name, place.refused.bounds, place.harm.bounds) for place in places]
    return Markup(plots.plane("safety", found))


def _length_plots(report: Report) -> list[tuple[str, Markup]]:
    """Return a title and a plot for each task with prompts of several lengths, and for each heat map."""
    curves = {run.name: {curve.name: curve for curve in length_curves(run.results)} for run in report.runs}
    found: list[tuple[str, Markup]] = []
    for name in dict.fromkeys(name for own in curves.values() for name in own):
        series = [(run, _marks(own[name])) for run, own in curves.items() if name in own]
        if max(len(points) for _, points in series) > 1:
            threshold = 100 * THRESHOLD if name.startswith("ruler") else None
            plot = plots.length_curves(f"by-length{len(found)}", series, threshold)
            found.append((f"{name} by length", Markup(plot)))
    for run in report.runs:
        for task, results in run.results.tasks.items():
            cells = [(cell.length, cell.depth, 100 * cell.value) for cell in heat_cells(results)]
            if cells:
                plot = plots.heat_map(f"heat{len(found)}", cells)
                found.append((f"{task} of {run.name} by length and depth", Markup(plot)))
    return found


def _marks(curve: LengthCurve) -> list[tuple[int, float, float, float]]:
    """Return the points of a curve in points of 100: length, score, lower and upper bound."""
    found = []
    for point in curve.points:
        low, high = point.ci or (point.value, point.value)
        found.append((point.length, 100 * point.value, 100 * low, 100 * high))
    return found


def _statuses(report: Report) -> Markup:
    """Return the bars of statuses: one for each group, and for each task without a group."""
    grouped = {task: name for name, tasks in task_groups(report).items() for task in tasks}
    bars: dict[str, Counter[str]] = {}
    for task in report.tasks:
        for run in report.runs:
            if task in run.results.tasks:
                name = grouped.get(task, task)
                bar = bars.setdefault(f"{name}, {run.name}" if len(report.runs) > 1 else name, Counter())
                bar.update(
                    {str(status): count for status, count in run.results.tasks[task].status_counts.items()}
                )
    return Markup(plots.status_bars("status", list(bars.items())))


_LONG = 1024
"""Tokens of a reply from which a task has a curve of scores at fewer tokens."""


def _budget_plot(name: str, rows: Sequence[Series]) -> Markup | None:
    """Return the scores if replies had ended after fewer tokens, for tasks with long ones."""
    longest = min((max(row.completion, default=0) for row in rows), default=0)
    if longest <= _LONG or any(row.unit != "tokens" for row in rows):
        return None
    chosen = budgets_up_to(longest)
    series = []
    for row in rows:
        scores = np.asarray(row.scores, dtype=float)
        known = ~np.isnan(scores)
        lengths = [np.asarray(own)[known] for own in (row.completion, row.trace)]
        replies = Replies(np.arange(int(known.sum())), lengths[0], lengths[1], scores[known])
        points = [(budget, 100 * float(replies.at(budget)[0].mean())) for budget in chosen]
        series.append((row.run, [(budget, value, value, value) for budget, value in points]))
    return Markup(plots.length_curves(name, series, None, "of a reply, at most"))


def _task_plots(name: str, rows: Sequence[Series]) -> dict[str, Any]:
    unit = "tokens" if all(row.unit == "tokens" for row in rows) else rows[0].unit
    return {
        "unit": unit,
        "budgets": _budget_plot(f"b-{name}", rows),
        "lengths": Markup(
            plots.lengths(f"len-{name}", unit, [(row.run, row.trace, row.answer) for row in rows])
        ),
        "score": Markup(
            plots.score_by_length(f"sc-{name}", unit, [(row.run, row.completion, row.scores) for row in rows])
        ),
    }


def contract_rows(runs: Sequence[ReportedRun]) -> list[dict[str, Any]]:
    """Return the decoding contract as rows: key, one value per run, and whether the values differ."""
    flat = [dict(_leaves(run.terms)) for run in runs]
    keys = list(dict.fromkeys(key for terms in flat for key in terms))
    rows = []
    for key in keys:
        values = [terms.get(key, "(absent)") for terms in flat]
        rows.append({"key": key, "values": values, "differs": len(set(values)) > 1})
    return rows


def _leaves(record: Any, prefix: str = "") -> list[tuple[str, str]]:
    if isinstance(record, Mapping) and record:
        return [
            leaf
            for key, value in record.items()
            for leaf in _leaves(value, f"{prefix}.{key}" if prefix else str(key))
        ]
    return [(prefix, record if isinstance(record, str) else json.dumps(record))]
