"""Curves of checkpoints as tables: which measures tell them apart, and the values by step."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.curves import Curve, Curves, Ranks
from genbench.reports.terminal.table import aligned
from genbench.safetext.printable import printable

_HEAD = (
    "series",
    "task",
    "measure",
    "steps",
    "first",
    "last",
    "signal/noise",
    "monotonic",
    "best",
    "without luck",
    "at step",
)
_RIGHT = frozenset({*_HEAD[3:], "step", "value"})
_ALL_STEPS = 3
"""Up to so many curves the values of each step are shown."""
NOTES = (
    "signal/noise: change from the first to the last step over the noise of one step, from second "
    "differences. monotonic: rank correlation of step and improvement.",
    "without luck: the best value, drawn towards the mean of the checkpoints by the share of noise. The best "
    "of several was also lucky. The noise is that of a re-run. For scored texts, which "
    "a re-run gives again, it is the noise of one step.",
)
"""What the columns mean."""


def curves_text(record: Curves) -> str:
    """Return the curves as text: one row each, the values by step of a few, and the order of several runs."""
    parts = [aligned(_HEAD, [_row(curve) for curve in record.curves], _RIGHT)]
    parts += ["", "Shares are in points of 100.", *NOTES]
    if len(record.curves) <= _ALL_STEPS:
        parts += [_steps(curve) for curve in record.curves]
    parts += list(_ranks(record.ranks))
    return printable("\n".join(parts))


def _row(curve: Curve) -> tuple[str, ...]:
    first, last = curve.points[0], curve.points[-1]
    return (
        curve.series,
        curve.task,
        curve.measure,
        str(len(curve.points)),
        shown(curve, first.value),
        shown(curve, last.value),
        number(curve.signal_to_noise),
        number(curve.monotonicity),
        shown(curve, curve.best.value),
        "-" if curve.best.shrunk is None else shown(curve, curve.best.shrunk),
        str(curve.best.step),
    )


def shown(curve: Curve, value: float) -> str:
    """Return a value of a curve for people."""
    return f"{100 * value:.1f}" if curve.is_share else f"{value:.4g}"


def number(value: float | None) -> str:
    """Return a ratio or correlation with two decimals, or `-` for None."""
    return "-" if value is None else f"{value:.2f}"


def _steps(curve: Curve) -> str:
    rows = [
        (
            str(point.step),
            shown(curve, point.value),
            "-" if point.ci is None else f"[{shown(curve, point.ci[0])}, {shown(curve, point.ci[1])}]",
            point.model,
        )
        for point in curve.points
    ]
    table = aligned(("step", "value", "95% CI", "model"), rows, _RIGHT, indent="  ")
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
