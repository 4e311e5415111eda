"""A value of a long JSON object, by its key: the task `json_kv` of HELMET and of "Lost in the Middle"."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from genbench.generators.sizing import CountedPieces, PieceCounts, Size, filler_text, most_within
from genbench.generators.words import Walk, draw_values
from genbench.types import Message

_LEAST_POOL = 2_000
_QUESTION = (
    "Extract the value corresponding to the specified key in the JSON object below.\n\n"
    "JSON data:\n{data}\n\nKey: {key}\n"
)


@dataclass(frozen=True, slots=True)
class PairPool:
    """Pairs of identifiers, of which each prompt takes some."""

    lines: tuple[str, ...]
    counted: CountedPieces

    @classmethod
    def drawn(cls, length: int, rng: random.Random) -> PairPool:
        """Return enough pairs for prompts of so many tokens."""
        keys, values = (draw_values("uuids", max(_LEAST_POOL, length // 16), rng) for _ in range(2))
        lines = tuple(map(_pair, keys, values))
        return cls(lines, CountedPieces([f" {line},\n" for line in lines]))


@dataclass(frozen=True, slots=True)
class JsonLookupRow:
    """One prompt with a JSON object. A unit is one pair that is not asked for."""

    prefix: ClassVar[str] = "Corresponding value:"
    """The beginning of the answer."""
    least: ClassVar[int] = 0
    """No other pair."""
    takes_filler: ClassVar[bool] = True
    """A pair has more than 50 tokens. The noise is behind the object."""
    pool: PairPool
    key: str
    value: str
    depth: float
    order: Walk

    @property
    def reference(self) -> tuple[str, ...]:
        """Return the value of the key."""
        return (self.value,)

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many other pairs fit, and their tokens."""
        costs = self.pool.counted.tokens(counts)[self.order.places(self.order.size)]
        sums = np.concatenate(([0], np.cumsum(costs)))
        return most_within(sums, tokens)

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the question. The pair that is asked for is among the others at its depth."""
        lines = [self.pool.lines[place] for place in self.order.places(size.units).tolist()]
        lines.insert(min(int(self.depth * (len(lines) + 1)), len(lines)), _pair(self.key, self.value))
        data = _object(lines) + (f"\n\n{filler_text(size.filler)}" if size.filler else "")
        return (Message("user", _QUESTION.format(data=data, key=f'"{self.key}"')),)


def json_lookup_row(pool: PairPool, rng: random.Random) -> JsonLookupRow:
    """Return one row."""
    key, value = draw_values("uuids", 2, rng)
    return JsonLookupRow(pool, key, value, rng.random(), Walk.drawn(len(pool.lines), rng))


def _pair(key: str, value: str) -> str:
    return f'"{key}": "{value}"'


def _object(lines: Sequence[str]) -> str:
    """Return a JSON object with one pair on each line."""
    return "{" + ",\n".join(f" {line}" for line in lines) + "}"
