"""The set of samples that a run has drawn, small enough for millions of them."""

from __future__ import annotations

from collections import defaultdict


class Drawn:
    """The set of (problem, sample, turn) of a task's completions, with one bit for each."""

    def __init__(self) -> None:
        self._bits: defaultdict[tuple[str, int], int] = defaultdict(int)
        self.count = 0

    def add(self, problem_id: str, sample_index: int, turn: int) -> bool:
        """Add a turn of a sample. Return False if the set contained it already."""
        bit = 1 << sample_index
        if self._bits[problem_id, turn] & bit:
            return False
        self._bits[problem_id, turn] |= bit
        self.count += 1
        return True

    def has(self, problem_id: str, sample_index: int, turn: int) -> bool:
        """Return whether the set contains a turn of a sample."""
        return bool(self._bits.get((problem_id, turn), 0) >> sample_index & 1)
