"""Scores by the length of the prompt: curves, the effective length, and the heat map of needles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from genbench.analysis.results_record import Results, TaskResults

THRESHOLD = 0.856
"""The score of Llama-2-7B at 4,096 tokens. RULER's authors call a length effective if a model scores more."""
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
    shown = f"{100 * point.value:.1f}"
    return shown if point.ci is None else f"{shown} [{100 * point.ci[0]:.1f}, {100 * point.ci[1]:.1f}]"
