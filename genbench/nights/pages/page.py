"""The page of a track with its charts: one static file that works without a network and without
JavaScript.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from genbench.nights.pages.text import (
    TASKS,
    best_words,
    budget_words,
    epoch_starts,
    epoch_words,
    evidence_words,
    house_words,
    is_shown_by_difference,
    part_words,
)
from genbench.nights.trend.record import Numbers, Trend, TrendChange, TrendColumns, TrendTask
from genbench.nights.trend.sentence import change_words, state_words
from genbench.reports.numbers import interval, points, signed
from genbench.reports.page.templates import page_environment, template_source
from genbench.reports.table import PAGE, Column, Table
from genbench.safetext.printable import printable
from genbench.store.json_files import replace

WIDTH, HEIGHT = 560, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 8, 14, 26


@dataclass(frozen=True, slots=True)
class _Frame:
    """The area of a chart: positions along it, and points of 100 up it."""

    first: int
    last: int
    low: float
    high: float

    def x(self, position: int) -> float:
        """Return where a position is."""
        span = max(1, self.last - self.first)
        return round(_LEFT + (position - self.first) / span * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        """Return where a value, in points of 100, is."""
        span = max(1e-9, self.high - self.low)
        return round(_TOP + (self.high - value) / span * (HEIGHT - _TOP - _BOTTOM), 1)


def trend_chart(name: str, columns: TrendColumns, changes: Sequence[TrendChange]) -> Markup:
    """Return the chart of one task, as its difference to the base or, without a base, as its score.

    The dark band is the 95 % interval for a re-run, and the light one that for new questions.

    Args:
        name: the task, for readers who cannot see the chart.
        changes: the changes of this task.
    """
    differs = is_shown_by_difference(columns)
    line = columns.difference if differs else columns.value
    inner = (
        (columns.difference_rerun_low, columns.difference_rerun_high)
        if differs
        else (columns.rerun_low, columns.rerun_high)
    )
    outer = (
        (columns.difference_low, columns.difference_high) if differs else (columns.ci_low, columns.ci_high)
    )
    if not any(value is not None for value in line):
        return Markup("")
    frame = _frame(columns, [line, *inner])
    parts = [
        *_grid(frame, differs=differs),
        *_ends(columns),
        *_bands(frame, columns, outer, "outer"),
        *_bands(frame, columns, inner, "inner"),
        *_epochs(frame, columns),
        *_marks(frame, columns, changes),
        *_line(frame, columns, line),
    ]
    what = "difference to the base" if differs else "score"
    title = printable(f"{name}: {what} in points of 100, {columns.label[0]} to {columns.label[-1]}")
    return Markup(
        f'<svg class="plot trend" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        + "".join(parts)
        + "</svg>"
    )


def plot_data(columns: TrendColumns, changes: Sequence[TrendChange], *, kind: str, is_small: bool) -> str:
    """Return as JSON what the script of a page draws instead of `trend_chart`. Scores are fractions of 1.

    Args:
        kind: night or step, of the track.
        is_small: whether the chart is one of many.
    """
    differs = is_shown_by_difference(columns)
    prefix = "difference" if differs else ""
    value = columns.difference if differs else columns.value
    bounds = {
        name: getattr(
            columns, f"{prefix}_{name}" if differs else {"low": "ci_low", "high": "ci_high"}.get(name, name)
        )
        for name in ("low", "high", "rerun_low", "rerun_high")
    }
    places = columns.label if kind == "night" else columns.position
    by_uid = dict(zip(columns.uid, places, strict=True))
    data = {
        "x": places,
        "value": value,
        **bounds,
        "epoch": columns.epoch,
        "uid": columns.uid,
        "text": [
            _point_words(columns, value, bounds, row, differs=differs) for row in range(len(columns.uid))
        ],
        "changes": [
            {
                "x": by_uid[change.first.uid],
                "direction": change.direction,
                "is_open": change.state == "open",
                "label": f"{100 * change.size:+.1f}",
            }
            for change in changes
            if change.first.uid in by_uid
        ],
        "is_dates": kind == "night",
        "is_small": is_small,
        "title": "to the base" if differs else "score",
    }
    return json.dumps(data)


def _point_words(
    columns: TrendColumns, value: Numbers, bounds: Mapping[str, Numbers], row: int, *, differs: bool
) -> str:
    """Return what a point says when it is pointed at, as lines of the script's own markup."""
    number = value[row]
    if number is None:
        return ""
    shown = signed(number) if differs else points(number)
    lines = [f"{columns.label[row]}: {shown}"]
    for words, low, high in (("re-run", "rerun_low", "rerun_high"), ("new questions", "low", "high")):
        pair = bounds[low][row], bounds[high][row]
        if pair[0] is not None and pair[1] is not None:
            lines.append(f"{words} {interval((pair[0], pair[1]))}")
    if differs:
        lines.append(f"score {points(columns.value[row])}")
    return "<br>".join(lines)


def _frame(columns: TrendColumns, lines: Sequence[Numbers]) -> _Frame:
    """Return a frame around the values and their re-run bands. Wider bands are clipped by it."""
    known = [100 * value for line in lines for value in line if value is not None]
    low, high = min(known), max(known)
    spare = max(0.5, 0.25 * (high - low))
    return _Frame(columns.position[0], columns.position[-1], low - spare, high + spare)


def _grid(frame: _Frame, *, differs: bool) -> Iterator[str]:
    step = next(
        size for size in (0.5, 1, 2, 5, 10, 20, 50) if (frame.high - frame.low) / size <= 5 or size == 50
    )
    tick = step * -(-frame.low // step)
    while tick <= frame.high:
        y = frame.y(tick)
        kind = "zero" if differs and abs(tick) < 1e-9 else "rule"
        yield f'<path class="{kind}" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>'
        label = f"{tick:+g}" if differs and tick else f"{tick:g}"
        yield f'<text x="{_LEFT - 5}" y="{y + 5}" text-anchor="end">{label}</text>'
        tick = round(tick + step, 6)


def _ends(columns: TrendColumns) -> Iterator[str]:
    y = HEIGHT - 6
    yield f'<text x="{_LEFT}" y="{y}">{escape(columns.label[0])}</text>'
    yield f'<text x="{WIDTH - _RIGHT}" y="{y}" text-anchor="end">{escape(columns.label[-1])}</text>'


def _bands(frame: _Frame, columns: TrendColumns, bounds: tuple[Numbers, Numbers], kind: str) -> Iterator[str]:
    """Yield one filled shape for each stretch of an epoch without gaps."""
    for rows in _stretches(columns, [low is not None for low in bounds[0]]):
        upper = [(columns.position[row], bounds[1][row]) for row in rows]
        lower = [(columns.position[row], bounds[0][row]) for row in reversed(rows)]
        corners = (
            f"{frame.x(position)} {frame.y(min(frame.high, max(frame.low, 100 * value)))}"
            for position, value in [*upper, *lower]
            if value is not None
        )
        yield f'<path class="{kind}" d="M{"L".join(corners)}Z"/>'


def _line(frame: _Frame, columns: TrendColumns, values: Numbers) -> Iterator[str]:
    for rows in _stretches(columns, [value is not None for value in values]):
        places = [
            (frame.x(columns.position[row]), frame.y(100 * value))
            for row in rows
            if (value := values[row]) is not None
        ]
        if len(places) > 1:
            yield f'<path class="line" d="M{"L".join(f"{x} {y}" for x, y in places)}"/>'
        for row, (x, y) in zip(rows, places, strict=True):
            value = values[row]
            assert value is not None
            title = escape(f"{columns.label[row]}: {100 * value:+.1f}")
            yield f'<circle class="point" cx="{x}" cy="{y}" r="2.4"><title>{title}</title></circle>'


def _epochs(frame: _Frame, columns: TrendColumns) -> Iterator[str]:
    for position, starts in zip(columns.position, epoch_starts(columns), strict=True):
        if starts:
            yield f'<path class="epoch" d="M{frame.x(position)} {_TOP}V{HEIGHT - _BOTTOM}"/>'


def _marks(frame: _Frame, columns: TrendColumns, changes: Sequence[TrendChange]) -> Iterator[str]:
    """Yield a mark at the first run after each change that is in the frame, with its size."""
    for change in changes:
        if change.first.position < frame.first:
            continue
        x = frame.x(change.first.position)
        kind = f"mark {change.direction}" + ("" if change.state == "open" else " over")
        anchor = "end" if x > WIDTH * 0.8 else "start"
        shift = -4 if anchor == "end" else 4
        title = escape(f"{change.direction} of {100 * abs(change.size):.1f} points, {state_words(change)}")
        yield f'<path class="{kind}" d="M{x} {_TOP}V{HEIGHT - _BOTTOM}"><title>{title}</title></path>'
        yield (
            f'<text class="{kind}" x="{x + shift}" y="{_TOP + 11}" text-anchor="{anchor}">'
            f"{100 * change.size:+.1f}</text>"
        )


def _stretches(columns: TrendColumns, known: Sequence[bool]) -> Iterator[list[int]]:
    """Yield the rows of each stretch of one epoch in which every value is known."""
    rows: list[int] = []
    for row, (starts, is_known) in enumerate(zip(epoch_starts(columns), known, strict=True)):
        if rows and (starts or not is_known):
            yield rows
            rows = []
        if is_known:
            rows.append(row)
    if rows:
        yield rows


def _state(change: TrendChange) -> str:
    house = ", the house moved" if change.house else ""
    return f"{state_words(change)}{house}{'' if change.gating else ' (watch list)'}"


def _note(change: TrendChange) -> str:
    if change.note:
        return f"{change.note} ({change.by})"
    return f"on {change.closed.label}" if change.closed else ""


CHANGES = Table[TrendChange](
    Column("task", lambda change: change.task or "all gating tasks"),
    Column(
        "state",
        _state,
        style=lambda change: "bad" if change.state == "open" and change.direction == "drop" else None,
    ),
    Column("size", lambda change: signed(change.size), right=PAGE),
    Column("95% CI", lambda change: interval(change.ci), right=PAGE),
    Column("since", lambda change: change.first.label),
    Column("model", lambda change: change.first.model, style="wrap"),
    Column("found", lambda change: change.found.label),
    Column("z", lambda change: f"{change.z:.1f}", right=PAGE),
    Column("note", _note, style="wrap"),
)


@dataclass(frozen=True, slots=True)
class TrackLinks:
    """The addresses of what a track's page names, on the pages of a service."""

    track: str

    def series(self, task: str) -> str:
        """Return the address of one task."""
        return f"/tracks/{quote(self.track, safe='')}/series/{quote(task, safe='')}"

    def change(self, change: TrendChange) -> str:
        """Return the address of a change."""
        return f"/tracks/{quote(self.track, safe='')}/changes/{quote(change.id, safe='')}"

    @staticmethod
    def run(uid: str) -> str:
        """Return the address of a run."""
        return f"/runs/{quote(uid, safe='')}"

    def changes(self) -> Table[TrendChange]:
        """Return the table of changes, with each change and its first run linked."""
        pages: dict[str, Callable[[TrendChange], object]] = {
            "task": lambda change: linked(self.change(change), change.task or "all gating tasks"),
            "since": lambda change: linked(self.run(change.first.uid), change.first.label),
        }
        return Table(*(replace_field(own, page=pages.get(own.head, own.page)) for own in CHANGES.columns))

    def tasks(self) -> Table[TrendTask]:
        """Return the table of tasks, with each task linked to its series."""
        pages: dict[str, Callable[[TrendTask], object]] = {
            "task": lambda task: linked(self.series(task.task), task.task)
        }
        return Table(*(replace_field(own, page=pages.get(own.head, own.page)) for own in TASKS.columns))


def linked(address: str, text: str) -> Markup:
    """Return a link."""
    return Markup('<a href="{}">{}</a>').format(address, printable(text))


def trend_values(trend: Trend, links: TrackLinks | None = None) -> dict[str, Any]:
    """Return what the templates of a track's page are filled with.

    Args:
        links: the pages of a service, None for a page that has no others.
    """
    return {
        "trend": trend,
        "charts": {
            task.task: trend_chart(
                task.task, task.points, [change for change in trend.changes if change.task == task.task]
            )
            for task in trend.tasks
        },
        "plots": {
            task.task: plot_data(
                task.points,
                [change for change in trend.changes if change.task == task.task],
                kind=trend.kind,
                is_small=True,
            )
            for task in (trend.tasks if links else ())
        },
        "links": links,
        "words": change_words,
        "evidence": evidence_words,
        "best_words": best_words,
        "epoch_words": epoch_words,
        "part_words": part_words,
        "budget": budget_words(trend.budget),
        "house": house_words(trend),
        "change_table": links.changes() if links else CHANGES,
        "task_table": links.tasks() if links else TASKS,
    }


def trend_page(trend: Trend) -> str:
    """Return the page of a track as HTML."""
    environment = page_environment("genbench.nights")
    css = template_source(environment, "report.css") + template_source(environment, "trend.css")
    return environment.get_template("trend.html.j2").render(css=Markup(css), **trend_values(trend))


def write_trend_page(trend: Trend, path: Path) -> Path:
    """Write the page of a track, replacing an older one. Return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, trend_page(trend).encode("utf-8", "backslashreplace"))
    return path
