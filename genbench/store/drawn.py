"""The set of samples that a run has drawn, small enough for millions of them."""

from __future__ import annotations

from collections import defaultdict


class Drawn:
    """The set of (problem, sample, turn) of a task's completions, with one bit for each."""

    def __init__(self) -> None:
        self._bits: defaultdict[str | tuple[str, int], int] = defaultdict(int)
        self.count = 0

    def add(self, problem_id: str, sample_index: int, turn: int) -> bool:
        """Add a turn of a sample. Return False if the set contained it already."""
        key, bit = _key(problem_id, turn), 1 << sample_index
        if self._bits[key] & bit:
            return False
        self._bits[key] |= bit
        self.count += 1
        return True

    def has(self, problem_id: str, sample_index: int, turn: int) -> bool:
        """Return whether the set contains a turn of a sample."""
        return bool(self._bits.get(_key(problem_id, turn), 0) >> sample_index & 1)


def _key(problem_id: str, turn: int) -> str | tuple[str, int]:
    """Return the key of one turn. The id of a first turn is enough, and a pair would take 72 bytes more."""
    return (problem_id, turn) if turn else problem_id
