"""Needles in a haystack: RULER's eight tasks, and a needle at a given depth."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from genbench.generators.haystacks import Haystack, hide_in_lines
from genbench.generators.sizing import CountedPieces, PieceCounts, Size, filler_text, most_within
from genbench.generators.words import ValueKind, Walk, draw_values
from genbench.types import Message

HaystackKind = Literal["noise", "prose", "needles"]
_DEPTHS = 40
"""The number of evenly spaced points from which RULER draws the depths of needles in prose."""
_POOL = 4_000
"""The fewest distractors of a task. Each prompt draws some of them, so that their tokens are counted once."""


@dataclass(frozen=True, slots=True)
class NeedleTask:
    """One of the tasks: its haystack, the kinds of its keys and values, and how many there are."""

    haystack: HaystackKind
    keys: ValueKind = "words"
    values: ValueKind = "numbers"
    hidden_keys: int = 1
    values_of_key: int = 1
    queried: int = 1


TASKS: dict[str, NeedleTask] = {
    "niah_single_1": NeedleTask("noise"),
    "niah_single_2": NeedleTask("prose"),
    "niah_single_3": NeedleTask("prose", values="uuids"),
    "niah_multikey_1": NeedleTask("prose", hidden_keys=4),
    "niah_multikey_2": NeedleTask("needles"),
    "niah_multikey_3": NeedleTask("needles", keys="uuids", values="uuids"),
    "niah_multivalue": NeedleTask("prose", values_of_key=4),
    "niah_multiquery": NeedleTask("prose", hidden_keys=4, queried=4),
}
"""The configurations of NVIDIA's synthetic.yaml."""


def needle(kind: ValueKind, key: str, value: str) -> str:
    """Return the sentence that hides a value."""
    return f"One of the special magic {kind} for {key} is: {value}."


@dataclass(frozen=True)
class Distractors:
    """Needles that are not asked for, from which the prompts of a task draw."""

    task: NeedleTask
    keys: tuple[str, ...]
    values: tuple[str, ...]

    @classmethod
    def drawn(cls, task: NeedleTask, length: int, rng: random.Random) -> Distractors:
        """Return enough distractors for prompts of so many tokens."""
        size = max(_POOL, length // 8)
        return cls(task, *(tuple(draw_values(kind, size, rng)) for kind in (task.keys, task.values)))

    @cached_property
    def _counted(self) -> tuple[CountedPieces, CountedPieces]:
        keys, values = ([f" {item}" for item in part] for part in (self.keys, self.values))
        return CountedPieces(keys), CountedPieces(values)

    def walks(self, seed: str) -> tuple[Walk, Walk]:
        """Return the orders in which a prompt takes keys and values."""
        rng = random.Random(seed)
        return Walk.drawn(len(self.keys), rng), Walk.drawn(len(self.values), rng)

    def sums(self, seed: str, counts: PieceCounts) -> NDArray[np.int64]:
        """Return the tokens of the first 0, 1, 2 … distractors of a prompt, one on each line."""
        keys, values = (pieces.tokens(counts) for pieces in self._counted)
        first = needle(self.task.values, self.keys[0], self.values[0])
        around = counts.of([f"{first}\n"])[0] - int(keys[0] + values[0])
        of_key, of_value = (walk.places(walk.size) for walk in self.walks(seed))
        return np.concatenate(([0], np.cumsum(keys[of_key] + values[of_value] + around)))

    def lines(self, seed: str, units: int) -> list[str]:
        """Return the first distractors of a prompt."""
        of_key, of_value = (walk.places(units) for walk in self.walks(seed))
        return [
            needle(self.task.values, self.keys[key], self.values[value])
            for key, value in zip(of_key.tolist(), of_value.tolist(), strict=True)
        ]


@dataclass(frozen=True, slots=True)
class NeedleRow:
    """One prompt with hidden needles. `hidden` are their sentences with their depths in [0, 1]."""

    least: ClassVar[int] = 0
    """No unit: the needles are enough."""
    task: NeedleTask
    queried: tuple[str, ...]
    reference: tuple[str, ...]
    hidden: tuple[tuple[float, str], ...]
    haystack: Haystack | None
    distractors: Distractors | None
    seed: str
    """The seed of the distractors' order."""

    @property
    def takes_filler(self) -> bool:
        """Return whether the units are long: an identifier has more than 20 tokens."""
        return self.distractors is not None

    @property
    def prefix(self) -> str:
        """Return the beginning of the answer."""
        return (
            f"The special magic {self._asked} for {self._query} mentioned in the provided text {self._verb}"
        )

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many words, sentences or distractors fit, and their tokens."""
        if self.haystack is not None:
            return self.haystack.units_within(tokens, counts)
        assert self.distractors is not None
        sums = self.distractors.sums(self.seed, counts)
        return most_within(sums, tokens)

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the prompt: the haystack with its needles, and the question."""
        text = self._haystack_text(size)
        kind = self._asked
        some = "A special magic" if self._single else "Some special magic"
        are = "is" if self._single else "are"
        what = "What is" if self._single else "What are all"
        return (
            Message(
                "user",
                f"{some} {kind} {are} hidden within the following text. Make sure to memorize it. I "
                f"will quiz you about the {kind} afterwards.\n{text}\n{what} the special magic {kind} for "
                f"{self._query} mentioned in the provided text?",
            ),
        )

    def _haystack_text(self, size: Size) -> str:
        if self.haystack is not None:
            return self.haystack.text(size.units, self.hidden)
        assert self.distractors is not None
        text = hide_in_lines(self.distractors.lines(self.seed, size.units), self.hidden)
        return f"{text}\n{filler_text(size.filler)}" if size.filler else text

    @property
    def _single(self) -> bool:
        return len(self.reference) == 1

    @property
    def _asked(self) -> str:
        return self.task.values[:-1] if self._single else self.task.values

    @property
    def _verb(self) -> str:
        return "is" if self._single else "are"

    @property
    def _query(self) -> str:
        *first, last = self.queried
        return f"{', '.join(first)}, and {last}" if first else last


def needle_row(
    task: NeedleTask,
    rng: random.Random,
    *,
    haystack: Haystack | None = None,
    distractors: Distractors | None = None,
    depth: float | None = None,
) -> NeedleRow:
    """Return one row of a task.

    Args:
        haystack: the text around the needles, or None if it is made of distractors.
        distractors: further needles, if they are the haystack.
        depth: the depth of the only needle, from 0 to 1. None draws depths.
    """
    keys = draw_values(task.keys, task.hidden_keys, rng)
    values = draw_values(task.values, task.hidden_keys * task.values_of_key, rng)
    of_key = {key: values[start :: task.hidden_keys] for start, key in enumerate(keys)}
    sentences = [needle(task.values, key, value) for key in keys for value in of_key[key]]
    rng.shuffle(sentences)
    depths = [place / (_DEPTHS - 1) for place in rng.sample(range(_DEPTHS), len(sentences))]
    if task.haystack != "prose":
        depths = [rng.random() for _ in sentences]
    if depth is not None:
        depths = [depth] * len(sentences)
    queried = tuple(rng.sample(keys, task.queried))
    reference = tuple(value for key in queried for value in of_key[key])
    hidden = tuple(zip(depths, sentences, strict=True))
    return NeedleRow(task, queried, reference, hidden, haystack, distractors, str(rng.getrandbits(64)))
