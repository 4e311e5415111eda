"""Counts of corpus metrics, summed over the samples of each problem while verdicts are read."""

from __future__ import annotations

from genbench.types import Verdict


class CorpusCounts:
    """Sums of counts by metric and problem.

    Args:
        problems: how many problems the task has.
    """

    def __init__(self, problems: int) -> None:
        self._problems = problems
        self._sums: dict[str, list[list[float]]] = {}
        self._scored = self._counted = 0

    def add(self, row: int, verdict: Verdict) -> None:
        """Add the counts of a verdict to those of its problem. An excluded sample has none."""
        if verdict.score is None:
            return
        self._scored += 1
        counts = verdict.detail.get("corpus")
        if not counts:
            return
        self._counted += 1
        for name, values in counts.items():
            if name not in self._sums:
                self._sums[name] = [[0.0] * len(values) for _ in range(self._problems)]
            own = self._sums[name][row]
            own[:] = [before + value for before, value in zip(own, values, strict=True)]

    @property
    def sums(self) -> dict[str, tuple[tuple[float, ...], ...]]:
        """Return the sums by metric, one sequence for each problem."""
        return {name: tuple(tuple(row) for row in rows) for name, rows in self._sums.items()}

    @property
    def lacking(self) -> int:
        """Return how many scored samples have no counts, if any sample has."""
        return self._scored - self._counted if self._counted else 0
