"""A ranking for the terminal: one table per task, strongest model first."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.analysis.ranking_record import RankedModel, RankedTask, Ranking
from genbench.reports.figures import interval, points
from genbench.reports.table import aligned
from genbench.safetext.printable import printable

_HEAD = ("model", "strength", "95% CI", "beats reference", "95% CI of it", "pairs", "won", "tied", "lost")
_RIGHT = frozenset({"strength", "beats reference", "pairs", "won", "tied", "lost"})


def rank_text(ranking: Ranking) -> str:
    """Return the ranking as text."""
    parts = [f"let through: {line}" for line in ranking.allowed]
    for name, task in ranking.tasks.items():
        parts += _task(name, task)
    parts.append(
        "strength: log odds over the reference (Bradley-Terry, ties as half a win each, intervals clustered\n"
        "by problem). beats reference: the chance of winning a pair, in points of 100."
    )
    return printable("\n".join(parts))


def _task(name: str, task: RankedTask) -> Iterator[str]:
    """Yield the lines of one task."""
    pin = ", UNPINNED" if task.judge.unpinned else ""
    over = f"{task.pairs} pairs over {task.problems} problems"
    yield f"{name}: {over}, judge {task.judge.name} {task.judge.digest}{pin}"
    if task.missing:
        yield f"  no strengths: {task.missing}"
    if task.itself:
        yield f"  {task.itself} run(s) were compared with their own answers and left out"
    if task.models:
        yield f"  reference: {task.reference}"
        yield aligned(_HEAD, [_row(model) for model in task.models], _RIGHT, indent="  ")
    yield ""


def _row(model: RankedModel) -> tuple[str, ...]:
    """Return the cells of one model."""
    return (
        model.name,
        "-" if model.strength is None else f"{model.strength:+.2f}",
        "-" if model.ci is None else f"[{model.ci[0]:+.2f}, {model.ci[1]:+.2f}]",
        "-" if model.beats_reference is None else points(model.beats_reference),
        interval(model.beats_reference_ci),
        *(str(count) for count in (model.pairs, model.wins, model.ties, model.losses)),
    )
