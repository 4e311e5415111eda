"""The set of samples that a run has drawn, small enough for millions of them."""

from __future__ import annotations

from collections import defaultdict

from genbench.types import Completion

_END = -1


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

    def note(self, item: Completion) -> None:
        """Add a completion. One that ends a conversation early stands for all later turns."""
        self.add(item.sample.problem_id, item.sample.sample_index, item.turn)
        if item.final:
            self.end(item.sample.problem_id, item.sample.sample_index)

    def end(self, problem_id: str, sample_index: int) -> None:
        """Note that a sample has no further turns. It counts as having all of them."""
        self._bits[problem_id, _END] |= 1 << sample_index

    def has(self, problem_id: str, sample_index: int, turn: int) -> bool:
        """Return whether the set contains a turn of a sample, or the sample ended before that turn."""
        bits = self._bits.get(_key(problem_id, turn), 0) | self._bits.get((problem_id, _END), 0)
        return bool(bits >> sample_index & 1)


def _key(problem_id: str, turn: int) -> str | tuple[str, int]:
    """Return the key of one turn. The id of a first turn is enough, and a pair would take 72 bytes more."""
    return (problem_id, turn) if turn else problem_id
