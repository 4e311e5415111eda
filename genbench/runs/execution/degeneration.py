"""The alarm of a run whose first replies repeat themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from genbench.store.degenerate import Degeneracy, alarm, degeneracy_of
from genbench.types import Completion, SampleId

FIRST = 50
"""Samples that are looked at."""


class DegenerationMonitor:
    """Looks at the first turns of the first samples of the queue.

    They are not the ones that are finished first, since those are the shortest ones.

    Args:
        samples: the samples in the order in which they are drawn.
    """

    def __init__(self, samples: Iterable[SampleId]) -> None:
        self._waiting = {sample for sample, _ in zip(samples, range(FIRST), strict=False)}
        self._of = len(self._waiting)
        self._counts: Counter[Degeneracy] = Counter()

    def add(self, item: Completion) -> str | None:
        """Count a completion. Return a line for people with the last one, if at least half are degenerate."""
        if item.turn or item.sample not in self._waiting:
            return None
        self._waiting.discard(item.sample)
        found = None if item.choices else degeneracy_of(item.text)
        if found is not None and item.finish_reason != "error":
            self._counts[found] += 1
        return None if self._waiting else alarm(self._counts, self._of, f"the first {self._of} samples")
