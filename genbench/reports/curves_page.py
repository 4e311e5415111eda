"""A page with the curves of checkpoints: one chart with bands for each task and measure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape

from genbench.analysis.curves_record import Curve, Curves
from genbench.reports.curves_text import shown
from genbench.safetext.printable import printable

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 460, 220, 56, 26, 12
_COLOURS = ("#3366cc", "#cc5533", "#338844", "#885599", "#997700", "#336677")
_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:1000px;padding:0 1em}"
    "figure{display:inline-block;margin:0 1em 1em 0}svg{max-width:100%}text{font-size:11px;fill:#555}"
)


def curves_page(record: Curves) -> str:
    """Return a self-contained page. Charts are in the order of the record, and series share a chart."""
    groups: defaultdict[tuple[str, str], list[Curve]] = defaultdict(list)
    for curve in record.curves:
        groups[curve.task, curve.measure].append(curve)
    series = list(dict.fromkeys(curve.series for curve in record.curves))
    colours = {name: _COLOURS[place % len(_COLOURS)] for place, name in enumerate(series)}
    legend = " ".join(
        f'<span style="color:{colour}">■ {_safe(name)}</span>' for name, colour in colours.items()
    )
    charts = "\n".join(_figure(task, measure, found, colours) for (task, measure), found in groups.items())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Curves</title><style>{_STYLE}</style>'
        "<h1>Checkpoints by training step</h1><p>Bands are 95 % intervals for new problems. Measures that "
        f"tell checkpoints apart best come first. {legend}</p>\n{charts}\n</html>\n"
    )


def _figure(task: str, measure: str, curves: Sequence[Curve], colours: dict[str, str]) -> str:
    better = "lower is better" if curves[0].lower_is_better else "higher is better"
    title = f"{_safe(task)}: {_safe(measure)} ({better})"
    values = [bound for curve in curves for point in curve.points for bound in (point.ci or (point.value,))]
    steps = [point.step for curve in curves for point in curve.points]
    frame = (min(steps), max(steps), min(values), max(values))
    drawn = "".join(_curve(curve, colours[curve.series], frame) for curve in curves)
    low, high = shown(curves[0], frame[2]), shown(curves[0], frame[3])
    axis = (
        f'<text x="2" y="{_TOP + 4}">{high}</text><text x="2" y="{_HEIGHT - _BOTTOM}">{low}</text>'
        f'<text x="{_LEFT}" y="{_HEIGHT - 8}">{frame[0]}</text>'
        f'<text x="{_WIDTH - 6}" y="{_HEIGHT - 8}" text-anchor="end">{frame[1]}</text>'
    )
    return (
        f'<figure><figcaption>{title}</figcaption><svg role="img" aria-label="{title}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}">{drawn}{axis}</svg></figure>'
    )


def _curve(curve: Curve, colour: str, frame: tuple[int, int, float, float]) -> str:
    def at(step: int, value: float) -> str:
        first, last, low, high = frame
        x = _LEFT + (step - first) / max(1, last - first) * (_WIDTH - _LEFT - 8)
        y = _TOP + (high - value) / max(1e-12, high - low) * (_HEIGHT - _TOP - _BOTTOM)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(at(point.step, point.value) for point in curve.points)
    bands = [point for point in curve.points if point.ci is not None]
    edge = [at(point.step, point.ci[0]) for point in bands if point.ci]
    edge += [at(point.step, point.ci[1]) for point in reversed(bands) if point.ci]
    dots = "".join(
        f'<circle cx="{place.split(",")[0]}" cy="{place.split(",")[1]}" r="2.5" fill="{colour}"/>'
        for place in line.split(" ")
    )
    return (
        f'<polygon points="{" ".join(edge)}" fill="{colour}" opacity="0.15"/>'
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>{dots}'
    )


def _safe(text: str) -> str:
    return escape(printable(text))
