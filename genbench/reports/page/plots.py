"""Plots of a report as inline SVG. matplotlib draws them, and the page's style sheets colour them."""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from genbench.safetext.printable import one_line
from genbench.types import STATUSES

WIDTH = 4.9
"""Width in inches. It is narrow, so that a phone (about 370 px) shrinks the letters little."""
_EM = 9.0 / 72
"""Size of the letters in inches."""
MODELS = 6
"""Colours of models. A seventh model gets the first colour again."""
_NAMES = ("ink", "soft", "rule", *(f"m{i}" for i in range(MODELS)), *(f"s-{status}" for status in STATUSES))
_COLOURS = {name: f"#0100{number:02x}" for number, name in enumerate(_NAMES, start=1)}
"""Placeholder colours that matplotlib draws with. Each becomes a CSS variable, so that dark mode and print
work."""
_STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "genbench",
    "text.parse_math": False,  # show a `$` in a name as it is
    "font.size": 9.0,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.color": _COLOURS["ink"],
    "axes.labelcolor": _COLOURS["ink"],
    "axes.edgecolor": _COLOURS["rule"],
    "xtick.color": _COLOURS["ink"],
    "ytick.color": _COLOURS["ink"],
    "grid.color": _COLOURS["rule"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


_XLINK = "http://www.w3.org/1999/xlink"


@dataclass(frozen=True, slots=True)
class Mark:
    """One estimate of a forest plot, in points of 100."""

    task: str
    model: int
    value: float
    low: float
    high: float


def forest(
    name: str,
    tasks: Sequence[str],
    models: Sequence[str],
    marks: Sequence[Mark],
    *,
    chance: Mapping[str, float],
    published: Sequence[tuple[str, float]] = (),
) -> str:
    """Plot all tasks with 95 % intervals, with the models of a task next to each other.

    Ticks mark chance, and diamonds mark published scores. `published` is (task, points of 100), as often as
    a task has such scores.
    """
    spread = 0.5 / max(len(models), 1)
    others = [label for label, there in (("chance", chance), ("published", published)) if there]

    def draw(axes: Axes) -> None:
        for row, task in enumerate(tasks):
            if task in chance:
                axes.plot([chance[task]], [row], marker="|", ms=14, color=_COLOURS["soft"], mew=2)
        for model, label in enumerate(models):
            own = [mark for mark in marks if mark.model == model]
            y = [tasks.index(mark.task) + (model - (len(models) - 1) / 2) * spread for mark in own]
            x = [mark.value for mark in own]
            reach = [[m.value - m.low for m in own], [m.high - m.value for m in own]]
            axes.errorbar(x, y, xerr=reach, fmt="o", ms=4, lw=1.4, color=_model(model), label=_short(label))
        if chance:
            axes.plot([], [], marker="|", ls="", ms=10, mew=2, color=_COLOURS["soft"], label="chance")
        if published:
            y = [tasks.index(task) + 0.34 for task, _ in published]
            x = [value for _, value in published]
            ink = _COLOURS["ink"]
            axes.plot(x, y, marker="D", ls="", ms=4, mew=1, mfc="none", color=ink, label="published")
        for row in range(1, len(tasks)):
            axes.axhline(row - 0.5, lw=0.5, color=_COLOURS["rule"])
        _rows(axes, tasks)
        axes.set_xlim(0, 100)
        axes.set_xlabel("points of 100, 95% interval")
        axes.grid(axis="x", lw=0.5)

    lines = len(tasks) * (0.24 + 0.13 * len(models))
    return _svg(name, draw, 0.85 + lines + _legend_height(len(models) + len(others)))


def status_bars(name: str, rows: Sequence[tuple[str, Mapping[str, int]]]) -> str:
    """Plot the shares of the statuses of each row's samples, as stacked bars in the order of STATUSES."""
    shown = [status for status in STATUSES if any(counts.get(status) for _, counts in rows)]

    def draw(axes: Axes) -> None:
        left = np.zeros(len(rows))
        totals = np.array([max(sum(counts.values()), 1) for _, counts in rows])
        for status in shown:
            share = 100 * np.array([counts.get(status, 0) for _, counts in rows]) / totals
            label = status.replace("_", " ")
            axes.barh(
                range(len(rows)), share, left=left, height=0.7, color=_COLOURS[f"s-{status}"], label=label
            )
            left += share
        _rows(axes, [label for label, _ in rows])
        axes.set_xlim(0, 100)
        axes.set_xlabel("% of the samples")

    return _svg(name, draw, 0.85 + 0.26 * len(rows) + _legend_height(len(shown)))


def lengths(name: str, unit: str, series: Sequence[tuple[str, Sequence[int], Sequence[int]]]) -> str:
    """Plot cumulative shares of trace length (left) and answer length (right), one line per model."""

    def draw(left: Axes, right: Axes) -> None:
        for axes, column, title in ((left, 1, "trace"), (right, 2, "answer")):
            for model, row in enumerate(series):
                values = np.asarray(row[column])
                if values.size:
                    at = np.linspace(0, 100, min(values.size, 60) + 1)
                    axes.plot(
                        np.percentile(values, at), at, color=_model(model), lw=1.4, label=_short(row[0])
                    )
            axes.set_xlabel(f"{title}, {unit}")
            longest = max((int(max(row[column], default=0)) for row in series), default=0)
            axes.set_xlim(0, max(1.02 * longest, 1))
            if not longest:
                axes.text(0.5, 0.62, f"no {title}s", transform=axes.transAxes, ha="center", va="center")
            axes.set_ylim(0, 101)
            axes.locator_params(axis="x", nbins=4, integer=True)
            axes.grid(lw=0.5)
        left.set_ylabel("% of samples up to")
        right.set_yticklabels([])

    return _svg(name, draw, 2.0 + _legend_height(len(series)), columns=2)


def score_by_length(
    name: str, unit: str, series: Sequence[tuple[str, Sequence[int], Sequence[float]]]
) -> str:
    """Plot the mean score of the samples in each length group (see length_groups), one line per model."""

    def draw(axes: Axes) -> None:
        for model, (label, sizes, scores) in enumerate(series):
            if not len(sizes):
                continue
            groups = length_groups(sizes)
            x = [float(np.median(np.asarray(sizes)[group])) for group in groups]
            y = [100 * float(np.mean(np.asarray(scores)[group])) for group in groups]
            axes.plot(x, y, "o-", ms=4, lw=1.2, color=_model(model), label=_short(label))
        axes.set_ylim(-3, 103)
        axes.set_xlabel(f"completion, {unit} (medians of groups)")
        axes.set_ylabel("mean score")
        axes.grid(lw=0.5)

    return _svg(name, draw, 2.0 + _legend_height(len(series)))


def length_groups(sizes: Sequence[int]) -> list[np.ndarray[Any, Any]]:
    """Return the indices of the samples in up to eight groups of about equal size.

    Equal lengths are in one group.
    """
    values = np.asarray(sizes)
    count = max(1, min(8, len(values) // 5))
    edges = np.unique(np.quantile(values, np.linspace(0, 1, count + 1)[1:-1]))
    group = np.searchsorted(edges, values, side="left")
    return [np.flatnonzero(group == number) for number in np.unique(group)]


def length_curves(
    name: str,
    series: Sequence[tuple[str, Sequence[tuple[int, float, float, float]]]],
    threshold: float | None,
    of: str = "of the prompt",
) -> str:
    """Plot scores by a number of tokens with 95 % intervals, one line per model.

    Args:
        series: (model, points). A point is length, score, lower and upper bound, in points of 100.
        threshold: a score to mark, or None.
        of: what has so many tokens.
    """
    sizes = sorted({point[0] for _, points in series for point in points})

    def draw(axes: Axes) -> None:
        for model, (label, points) in enumerate(series):
            x, y = [sizes.index(point[0]) for point in points], [point[1] for point in points]
            reach = [[p[1] - p[2] for p in points], [p[3] - p[1] for p in points]]
            axes.errorbar(x, y, yerr=reach, fmt="o-", ms=4, lw=1.2, color=_model(model), label=_short(label))
        if threshold is not None:
            axes.axhline(threshold, lw=1, ls="--", color=_COLOURS["soft"])
        axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
        axes.set_ylim(-3, 103)
        axes.set_xlabel(f"tokens {of}")
        axes.set_ylabel("points of 100")
        axes.grid(axis="y", lw=0.5)

    return _svg(name, draw, 2.6 + _legend_height(len(series)))


def heat_map(name: str, cells: Sequence[tuple[int, float, float]]) -> str:
    """Plot scores by length (across) and depth (down). A cell is length, depth and score in points of 100."""
    sizes, depths = (sorted({cell[column] for cell in cells}) for column in (0, 1))

    def draw(axes: Axes) -> None:
        for length, depth, value in cells:
            x, y = sizes.index(length), depths.index(depth)
            axes.barh(y, 1, left=x - 0.5, height=1, color=_model(0), alpha=0.08 + 0.8 * value / 100)
            axes.text(x, y, f"{value:.0f}", ha="center", va="center", fontsize=8)
        axes.set_xticks(range(len(sizes)), [f"{size:,}" for size in sizes])
        axes.set_xlabel("tokens of the prompt")
        axes.set_ylabel("depth, %")
        _rows(axes, [f"{depth:g}" for depth in depths])

    return _svg(name, draw, 0.8 + 0.24 * len(depths))


def plane(name: str, places: Sequence[tuple[str, tuple[float, ...], tuple[float, ...]]]) -> str:
    """Plot models by over-refusal (across) and attack success (up), with both 95 % intervals.

    The corners of a model that refuses everything and of one that helps with everything are named, since
    neither is good.

    Args:
        places: (model, across, up). Each of the two is value, lower and upper bound, in per cent.
    """

    def draw(axes: Axes) -> None:
        for model, (label, across, up) in enumerate(places):
            left, down = ([[one[0] - one[1]], [one[2] - one[0]]] for one in (across, up))
            colour, text = _model(model), _short(label)
            axes.errorbar([across[0]], [up[0]], down, left, fmt="o", ms=5, lw=1.4, color=colour, label=text)
        soft: Any = {"color": _COLOURS["soft"], "fontsize": 8}
        axes.plot([100, 0], [0, 100], marker="x", ls="", ms=7, color=_COLOURS["soft"], clip_on=False)
        axes.text(97, 3, "refuses everything", ha="right", va="bottom", **soft)
        axes.text(3, 97, "helps with everything", ha="left", va="top", **soft)
        axes.text(2, 2, "better", ha="left", va="bottom", **soft)
        axes.set_xlim(-2, 102)
        axes.set_ylim(-2, 102)
        axes.set_xlabel("over-refusal, % of harmless requests")
        axes.set_ylabel("attack success, %")
        axes.grid(lw=0.5)

    return _svg(name, draw, 3.4 + _legend_height(len(places)))


def _rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [_short(label) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def _model(number: int) -> str:
    return _COLOURS[f"m{number % MODELS}"]


def _short(text: str) -> str:
    """Return a label short enough for the plot.

    A leading underscore is changed, because matplotlib hides such labels.
    """
    plain = one_line(text, 400)
    cut = plain if len(plain) <= 26 else f"{plain[:12]}…{plain[-13:]}"
    return f"\u200b{cut}" if cut.startswith("_") else cut


def _legend_height(entries: int) -> float:
    return 0.0 if entries < 2 else 0.22 * -(-entries // 3)


def _svg(name: str, draw: Callable[..., None], height: float, columns: int = 1) -> str:
    """Return the figure as an `<svg>` element whose ids begin with `name`."""
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # The browser has its own fonts, so a letter that the measuring font lacks is not a defect.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(WIDTH, height))
        canvas: Any = FigureCanvasSVG(figure)  # matplotlib's printers are not typed
        axes: Any = figure.subplots(1, columns, squeeze=False)[0]
        draw(*axes)
        handles, labels = axes[0].get_legend_handles_labels()
        _place(figure, axes[0], height, _legend_height(len(labels)))
        if len(labels) > 1:
            figure.legend(handles, labels, loc="upper center", ncols=3, fontsize=8, borderaxespad=0.1)
        buffer = io.StringIO()
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return _inline(buffer.getvalue(), name)


def _place(figure: Figure, axes: Axes, height: float, legend: float) -> None:
    """Leave room for the labels around the axes, in inches.

    A layout engine of matplotlib draws everything once more to measure it, with other fonts than the
    browser's. That takes more than half of the time of a plot.
    """
    longest = max((_em(label.get_text()) for label in axes.get_yticklabels()), default=0.0)
    left = 0.12 + longest * _EM + (0.2 if axes.get_ylabel() else 0.0)
    figure.subplots_adjust(
        left=left / WIDTH,
        right=1 - 0.16 / WIDTH,
        bottom=0.44 / height,
        top=1 - (0.1 + legend) / height,
        wspace=0.14,
    )


def _em(text: str) -> float:
    """Return about how wide a text is, in heights of its letters."""
    return sum(1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.6 for letter in text)


def _inline(text: str, name: str) -> str:
    """Remove prologue, style and fonts, which the page has.

    Make ids unique and replace colours by CSS variables.
    """
    box = re.search(r'viewBox="[\d. ]+"', text)
    body = text[text.index("<g id=") :]
    view = box.group() if box else ""
    # What it shows is in the caption that follows, and its numbers are in a table next to it.
    head = f'<svg class="plot" role="img" aria-label="Plot, see its caption" {view} xmlns:xlink="{_XLINK}">'
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r'(url\(#|href="#)', rf"\g<1>{name}-", body)
    body = re.sub(r" font-family: [^;\"]*;?", "", body)
    body = re.sub(r"\n\s*", "\n", body)
    for variable, colour in _COLOURS.items():
        body = body.replace(colour, f"var(--{variable})")
    return head + body
