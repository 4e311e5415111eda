"""Haystacks: the texts in which generated prompts hide what they ask for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from genbench.errors import DataError
from genbench.generators.sizing import (
    FILLER,
    CountedPieces,
    PieceCounts,
    filler_costs,
    filler_text,
    most_within,
)

Hidden = Sequence[tuple[float, str]]
"""Sentences with their depths. 0 is the beginning of the haystack, 1 is its end."""
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*$")  # a word such as `end.` or `end?")`


class Haystack(Protocol):
    """A text that may be made as long as it is needed."""

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many units fit, and their tokens."""
        ...

    def text(self, units: int, hidden: Hidden) -> str:
        """Return the text with the hidden sentences in it."""
        ...


class Noise:
    """RULER's noise: five short sentences, again and again. A unit is one sentence."""

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many sentences fit, and their tokens."""
        costs = filler_costs(counts)
        rounds, left = divmod(tokens, sum(costs))
        units = rounds * len(FILLER)
        for cost in costs:
            if left < cost:
                break
            left, units = left - cost, units + 1
        return units, tokens - left

    def text(self, units: int, hidden: Hidden) -> str:
        """Return the lines of the noise with each hidden sentence on a line of its own."""
        return hide_in_lines(filler_text(units).split("\n") if units else [], hidden)


class Prose:
    """Running text. A unit is one word. The text begins again if it is not long enough.

    Args:
        text: the whole text. Runs of white space count as one blank.

    Raises:
        DataError: the text has no word.
    """

    def __init__(self, text: str) -> None:
        self.words = tuple(text.split())
        if not self.words:
            raise DataError("the text of the haystack has no words; give one that has")
        ends = [place for place, word in enumerate(self.words, start=1) if _SENTENCE_END.search(word)]
        self.ends = np.array(ends or [len(self.words)], dtype=np.int64)
        self._pieces = CountedPieces([f" {word}" for word in self.words])

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many words fit, and their tokens."""
        sums = self._pieces.sums(counts)
        rounds, left = divmod(tokens, int(sums[-1]))
        words, used = most_within(sums, left)
        return rounds * len(self.words) + words, rounds * int(sums[-1]) + used

    def text(self, units: int, hidden: Hidden) -> str:
        """Return the first words. Each hidden sentence is between two sentences of them."""
        rounds = -(-units // len(self.words)) if units else 0
        words = (self.words * rounds)[:units]
        ends = np.concatenate(
            [self.ends + turn * len(self.words) for turn in range(rounds)] or [self.ends[:0]]
        )
        ends = np.concatenate(([0], ends[ends < units], [units])).astype(np.int64)
        found: list[str] = []
        done = 0
        for depth, sentence in sorted(hidden, key=lambda item: item[0]):
            place = int(ends[min(int(depth * len(ends)), len(ends) - 1)])
            found += [*words[done:place], sentence]
            done = place
        return " ".join([*found, *words[done:]])


def hide_in_lines(lines: Sequence[str], hidden: Hidden) -> str:
    """Return lines with each hidden sentence as a further line at its depth. Equal depths keep the order."""
    found: list[str] = []
    done = 0
    for depth, sentence in sorted(hidden, key=lambda item: item[0]):
        place = min(int(depth * (len(lines) + 1)), len(lines))
        found += [*lines[done:place], sentence]
        done = place
    return "\n".join([*found, *lines[done:]])
