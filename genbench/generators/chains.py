"""RULER's variable tracking: a chain of assignments that is scattered over noise."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from typing import ClassVar

from genbench.generators.haystacks import Hidden, Noise
from genbench.generators.sizing import PieceCounts, Size
from genbench.types import Message

_HOPS = 4
_EXAMPLE_SENTENCES = 25
"""Sentences of the noise in the worked example. RULER's has at most 500 tokens."""
_QUESTION = (
    "Memorize and track the chain(s) of variable assignment hidden in the following text.\n\n{text}\n"
    "Question: Find all variables that are assigned the value {value} in the text above."
)
_ANSWER = (
    "Answer: According to the chain(s) of variable assignment in the text above, {count} variables are "
    "assigned the value {value}, they are:"
)


@dataclass(frozen=True, slots=True)
class Chain:
    """Variables that all get one value, with the depths of the assignments, growing."""

    names: tuple[str, ...]
    value: str
    depths: tuple[float, ...]

    @property
    def hidden(self) -> Hidden:
        """Return the assignments with their depths."""
        values = [self.value, *(f"VAR {name}" for name in self.names)]
        lines = [f"VAR {name} = {value}" for name, value in zip(self.names, values, strict=False)]
        return list(zip(self.depths, lines, strict=True))

    def question(self, text: str) -> str:
        """Return the question about the chain after its text."""
        return _QUESTION.format(text=text, value=self.value)

    @property
    def answer(self) -> str:
        """Return the beginning of the answer."""
        return _ANSWER.format(count=len(self.names), value=self.value)


@dataclass(frozen=True, slots=True)
class ChainRow:
    """One prompt with a chain, after a worked example with another one. A unit is a sentence of the noise."""

    least: ClassVar[int] = 0
    """No sentence: the chain is enough."""
    takes_filler: ClassVar[bool] = False
    """The haystack itself is made of short sentences."""
    chain: Chain
    example: Chain
    noise: Noise

    @property
    def reference(self) -> tuple[str, ...]:
        """Return the names of all variables of the chain."""
        return self.chain.names

    @property
    def prefix(self) -> str:
        """Return the beginning of the answer."""
        return self.chain.answer

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many sentences fit, and their tokens."""
        return self.noise.units_within(tokens, counts)

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the worked example and the question."""
        shown = self.example.question(self.noise.text(_EXAMPLE_SENTENCES, self.example.hidden))
        names = ", ".join(self.example.names)
        asked = self.chain.question(self.noise.text(size.units, self.chain.hidden))
        return (Message("user", f"{shown} {self.example.answer} {names}\n\n{asked}"),)


def chain_row(rng: random.Random, noise: Noise) -> ChainRow:
    """Return one row. The names of its example have three letters, so that they are never in the answer."""
    return ChainRow(_chain(5, rng), _chain(3, rng), noise)


def _chain(letters: int, rng: random.Random) -> Chain:
    names: dict[str, None] = {}
    while len(names) < _HOPS + 1:
        names["".join(rng.choices(string.ascii_uppercase, k=letters))] = None
    depths = sorted(rng.random() for _ in names)
    return Chain(tuple(names), str(rng.randrange(10_000, 100_000)), tuple(depths))
