"""The curves of checkpoints by training step: tables for the terminal, and a static page with charts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from genbench.analysis.curves import Curve, CurvePoint, Curves, Ranks
from genbench.reports.page.templates import page_environment, template_source
from genbench.reports.table import EVERYWHERE, TERMINAL, Column, Table, aligned
from genbench.safetext.printable import printable
from genbench.store.json_files import replace

_ALL_STEPS = 3
"""Up to so many curves the values of each step are shown."""


def curves_text(record: Curves) -> str:
    """Return the curves as text: one row each, the values by step of a few, and the order of several runs."""
    parts = [CURVES.text(record.curves)]
    parts += ["", "Shares are in points of 100.", *NOTES]
    if len(record.curves) <= _ALL_STEPS:
        parts += [_steps(curve) for curve in record.curves]
    parts += list(_ranks(record.ranks))
    return printable("\n".join(parts))


def shown(curve: Curve, value: float) -> str:
    """Return a value of a curve for people."""
    return f"{100 * value:.1f}" if curve.is_share else f"{value:.4g}"


def number(value: float | None) -> str:
    """Return a ratio or correlation with two decimals, or `-` for None."""
    return "-" if value is None else f"{value:.2f}"


def _measure(curve: Curve) -> str:
    return f"{curve.measure} (lower is better)" if curve.lower_is_better else curve.measure


def _shrunk(curve: Curve) -> str:
    return "-" if curve.best.shrunk is None else shown(curve, curve.best.shrunk)


CURVES = Table[Curve](
    Column("series", lambda curve: curve.series),
    Column("task", lambda curve: curve.task),
    Column("measure", lambda curve: curve.measure, page=_measure),
    Column("steps", lambda curve: len(curve.points), right=EVERYWHERE),
    Column("first", lambda curve: shown(curve, curve.points[0].value), right=EVERYWHERE),
    Column("last", lambda curve: shown(curve, curve.points[-1].value), right=EVERYWHERE),
    Column(
        "signal/noise",
        lambda curve: number(curve.signal_to_noise),
        right=EVERYWHERE,
    ),
    Column(
        "monotonic",
        lambda curve: number(curve.monotonicity),
        right=EVERYWHERE,
    ),
    Column("best", lambda curve: shown(curve, curve.best.value), right=EVERYWHERE),
    Column(
        "without luck",
        _shrunk,
        right=EVERYWHERE,
    ),
    Column("at step", lambda curve: curve.best.step, right=EVERYWHERE),
)
NOTES = (CURVES.legend("signal/noise", "monotonic"), CURVES.legend("without luck"))
"""What the columns mean."""


def _with_ci(curve: Curve, point: CurvePoint) -> str:
    return "-" if point.ci is None else f"[{shown(curve, point.ci[0])}, {shown(curve, point.ci[1])}]"


_POINTS = Table[tuple[Curve, CurvePoint]](
    Column("step", lambda row: row[1].step, right=TERMINAL),
    Column("value", lambda row: shown(row[0], row[1].value), right=TERMINAL),
    Column("95% CI", lambda row: _with_ci(*row)),
    Column("model", lambda row: row[1].model),
)


def _steps(curve: Curve) -> str:
    table = _POINTS.text([(curve, point) for point in curve.points], indent="  ")
    return f"\n{curve.series}: {curve.task} {curve.measure}\n{table}"


def _ranks(ranks: tuple[Ranks, ...]) -> Iterator[str]:
    """Yield, for each measure, how early the order of training runs is that of the last step."""
    if not ranks:
        return
    steps = [str(point.step) for point in ranks[0].points]
    yield "\nShare of pairs of series in the order of the last step, by step:"
    rows = [
        (item.task, item.measure, *(f"{point.agreement:.2f}" for point in item.points))
        for item in ranks
        if [str(point.step) for point in item.points] == steps
    ]
    yield aligned(("task", "measure", *steps), rows, frozenset(steps))


WIDTH, HEIGHT = 560, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 10, 12, 28
_COLOURS = 6
"""Colours of the style sheet. A seventh series has the first colour again."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """The area of a chart: steps along it, and values in the unit of the axis up it."""

    first: int
    last: int
    low: float
    high: float
    scale: float
    """Unit of the axis in values: 100 for shares."""

    def x(self, step: int) -> float:
        """Return where a step is."""
        return round(_LEFT + (step - self.first) / max(1, self.last - self.first) * _INNER, 1)

    def y(self, value: float) -> float:
        """Return where a value is. Values beyond the frame are at its edge."""
        share = (self.high - self.scale * value) / (self.high - self.low)
        return round(_TOP + min(1.0, max(0.0, share)) * (HEIGHT - _TOP - _BOTTOM), 1)


_INNER = WIDTH - _LEFT - _RIGHT


def curves_chart(title: str, curves: Sequence[Curve], places: Mapping[str, int]) -> Markup:
    """Return the chart of one measure of one task.

    Args:
        title: what the chart shows, for readers who cannot see it.
        curves: the same measure of one or more series.
        places: the number of each series, from which it has its colour.
    """
    frame = _frame(curves)
    parts = [*_grid(frame), *_ends(frame)]
    for curve in curves:
        drawn = "".join([*_band(frame, curve), *_line(frame, curve)])
        parts.append(f'<g class="k{places[curve.series] % _COLOURS}">{drawn}</g>')
    return Markup(
        f'<svg class="plot curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(printable(title))}">{"".join(parts)}</svg>'
    )


def _frame(curves: Sequence[Curve]) -> _Frame:
    scale = 100.0 if curves[0].is_share else 1.0
    points = [point for curve in curves for point in curve.points]
    values = [scale * bound for point in points for bound in (point.ci or (point.value,))]
    values += [scale * point.value for point in points]
    low, high = min(values), max(values)
    spare = 0.04 * (high - low) or max(abs(high) * 0.01, 1e-6)
    steps = [point.step for point in points]
    return _Frame(min(steps), max(steps), low - spare, high + spare, scale)


def _grid(frame: _Frame) -> Iterator[str]:
    """Yield three to six lines at round values."""
    step = 10 ** math.floor(math.log10(frame.high - frame.low))
    step = next(size for size in (step / 5, step / 2, step, 2 * step) if (frame.high - frame.low) / size <= 6)
    for multiple in range(math.ceil(frame.low / step), math.floor(frame.high / step) + 1):
        y = frame.y(multiple * step / frame.scale)
        yield f'<path class="rule" d="M{_LEFT} {y}H{WIDTH - _RIGHT}"/>'
        yield f'<text x="{_LEFT - 5}" y="{y + 5}" text-anchor="end">{multiple * step:.4g}</text>'


def _ends(frame: _Frame) -> Iterator[str]:
    y = HEIGHT - 6
    yield f'<text x="{_LEFT}" y="{y}">step {frame.first}</text>'
    yield f'<text x="{WIDTH - _RIGHT}" y="{y}" text-anchor="end">step {frame.last}</text>'


def _band(frame: _Frame, curve: Curve) -> Iterator[str]:
    bounds = [(point.step, point.ci) for point in curve.points if point.ci is not None]
    if len(bounds) < 2:
        return
    upper = [f"{frame.x(step)} {frame.y(ci[1])}" for step, ci in bounds]
    lower = [f"{frame.x(step)} {frame.y(ci[0])}" for step, ci in reversed(bounds)]
    yield f'<path class="band" d="M{"L".join([*upper, *lower])}Z"/>'


def _line(frame: _Frame, curve: Curve) -> Iterator[str]:
    places = [(frame.x(point.step), frame.y(point.value)) for point in curve.points]
    yield f'<path class="line" d="M{"L".join(f"{x} {y}" for x, y in places)}"/>'
    for point, (x, y) in zip(curve.points, places, strict=True):
        words = f"{curve.series}, step {point.step}: {shown(curve, point.value)}"
        if point.ci is not None:
            words += f" [{shown(curve, point.ci[0])}, {shown(curve, point.ci[1])}]"
        kind, size = ("best", 4) if point.step == curve.best.step else ("point", 3)
        title = escape(printable(words))
        yield f'<circle class="{kind}" cx="{x}" cy="{y}" r="{size}"><title>{title}</title></circle>'


def curves_page(record: Curves) -> str:
    """Return the curves as HTML. Series of one measure share a chart, and charts are grouped by task."""
    environment = page_environment()
    css = template_source(environment, "report.css") + template_source(environment, "curves.css")
    names = list(dict.fromkeys(sorted(curve.series for curve in record.curves)))
    return environment.get_template("curves.html.j2").render(
        names=names,
        css=Markup(css),
        table=CURVES,
        curves=record.curves,
        tasks=_charts(record.curves, {name: place for place, name in enumerate(names)}),
        ranks=ranks_by_steps(record.ranks),
        notes=NOTES,
    )


def write_curves_page(record: Curves, path: Path) -> Path:
    """Write the page, replacing an older one. Return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    replace(path, curves_page(record).encode("utf-8", "backslashreplace"))
    return path


def ranks_by_steps(ranks: Sequence[Ranks]) -> dict[tuple[int, ...], list[Ranks]]:
    """Return the orders grouped by the steps that they are about, so that each group makes one table."""
    found: defaultdict[tuple[int, ...], list[Ranks]] = defaultdict(list)
    for item in ranks:
        found[tuple(point.step for point in item.points)].append(item)
    return dict(found)


def _charts(curves: Sequence[Curve], places: Mapping[str, int]) -> dict[str, list[tuple[str, Markup]]]:
    """Return titles and charts by task, in the order of the record."""
    groups: defaultdict[tuple[str, str], list[Curve]] = defaultdict(list)
    for curve in curves:
        groups[curve.task, curve.measure].append(curve)
    found: defaultdict[str, list[tuple[str, Markup]]] = defaultdict(list)
    for (task, measure), own in groups.items():
        better = "lower is better" if own[0].lower_is_better else "higher is better"
        title = f"{measure} ({better})"
        found[task].append((title, curves_chart(f"{task}: {title}", own, places)))
    return dict(found)
