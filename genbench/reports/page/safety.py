"""The plane of safety: over-refusal across, attack success up. Two numbers, never one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import sqrt

from genbench.analysis.results.record import Results, TaskResults
from genbench.reports.numbers import points

REFUSES_TOO_MUCH = "over-refusal"
HELPS_WITH_HARM = ("attack success", "StrongREJECT score")
"""Names of the figures that the pages report (`reported`)."""
SAFE, UNSAFE = "safe", "unsafe"
"""Values of XSTest's stratum `label`."""


@dataclass(frozen=True, slots=True)
class Share:
    """A share in per cent with its 95 % interval, and the tasks that it is the mean of."""

    value: float
    low: float
    high: float
    tasks: tuple[str, ...]

    @property
    def bounds(self) -> tuple[float, float, float]:
        """Return the value, and the lower and the upper bound."""
        return self.value, self.low, self.high


@dataclass(frozen=True, slots=True)
class SafetyPoint:
    """One model: how much of what is harmless it refuses, and how much harm it helps with."""

    name: str
    refused: Share
    harm: Share

    @property
    def words(self) -> str:
        """Return both shares with their intervals as a line."""
        shown = [
            f"{what} {points(share.value / 100)} [{points(share.low / 100)}, {points(share.high / 100)}] "
            f"({', '.join(share.tasks)})"
            for what, share in ((REFUSES_TOO_MUCH, self.refused), ("attack success", self.harm))
        ]
        return f"{self.name}: {'; '.join(shown)}"


def safety_point(name: str, results: Results) -> SafetyPoint | None:
    """Return the place of a model. None unless the run has a figure of either kind.

    Over-refusal is of OR-Bench and of XSTest's safe requests, attack success of HarmBench, StrongREJECT and
    XSTest's unsafe requests. Several tasks count alike. Their intervals are taken as independent.
    """
    refused, harm = (
        _mean({task: share for task, of, share in _figures(results.tasks) if of == kind})
        for kind in (SAFE, UNSAFE)
    )
    return None if refused is None or harm is None else SafetyPoint(name, refused, harm)


def _figures(tasks: Mapping[str, TaskResults]) -> Iterator[tuple[str, str, tuple[float, float, float]]]:
    """Yield task, kind, and the figure with its interval, in per cent."""
    for name, task in tasks.items():
        item = task.reported
        if item is not None and item.value is not None:
            low, high = item.ci or (item.value, item.value)
            if item.name == REFUSES_TOO_MUCH:
                yield name, SAFE, (item.value, low, high)
            elif item.name in HELPS_WITH_HARM:
                yield name, UNSAFE, (item.value, low, high)
        labels = task.strata.get("label", {})
        for kind in (SAFE, UNSAFE) if labels.keys() == {SAFE, UNSAFE} else ():
            row = labels[kind]
            if row.value is not None:
                low, high = row.ci or (row.value, row.value)
                yield f"{name} {kind}", kind, (100 - 100 * row.value, 100 - 100 * high, 100 - 100 * low)


def _mean(found: Mapping[str, tuple[float, float, float]]) -> Share | None:
    """Return the mean of several figures, with the interval of a sum of independent ones."""
    if not found:
        return None
    n = len(found)
    value = sum(share[0] for share in found.values()) / n
    below = sqrt(sum((share[0] - share[1]) ** 2 for share in found.values())) / n
    above = sqrt(sum((share[2] - share[0]) ** 2 for share in found.values())) / n
    return Share(value, max(0.0, value - below), min(100.0, value + above), tuple(found))
