"""The size of a generated prompt: the tokens of its pieces, and how many units fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from genbench.errors import DataError
from genbench.types import Message

Tokens = Callable[[Sequence[str]], list[int]]
"""Counts the tokens of each text with a model's own tokenizer, without special tokens."""

_AFTER_WORD, _AFTER_LINE = "a", "a\n"
"""Texts in front of a piece. Some tokenizers add a blank to the beginning of a text, not to its pieces."""
FILLER = (
    "The grass is green.",
    "The sky is blue.",
    "The sun is yellow.",
    "Here we go.",
    "There and back again.",
)
"""The sentences of RULER's noise."""


def nominal_tokens(texts: Sequence[str]) -> list[int]:
    """Count one token for every four characters. This is for models whose tokenizer is not read here."""
    return [-(-len(text) // 4) for text in texts]


class PieceCounts:
    """The number of tokens that each piece adds to a text.

    A piece begins with a blank, or at the beginning of a line. At both places tokenizers begin a new token,
    so that the counts of pieces may be added up. Counting all pieces once takes seconds. Tokenizing every
    prompt would take minutes.

    Args:
        tokens: counts texts with the tokenizer of the model.
        per_message: tokens that the chat template adds to each further message.
    """

    def __init__(self, tokens: Tokens, per_message: int = 0) -> None:
        self._tokens, self.per_message = tokens, per_message
        self._known: dict[str, int] = {}
        after = tokens([_AFTER_WORD, _AFTER_LINE])
        self._before = {_AFTER_WORD: after[0], _AFTER_LINE: after[1]}

    def whole(self, messages: Sequence[Message]) -> int:
        """Return the tokens of the contents of messages, and those of the template from the second one on.

        The beginning of an answer, which is the assistant's message at the end, is not a message of its own.
        """
        contents = [message.content for message in messages if message.content]
        users = sum(message.role != "assistant" for message in messages)
        return sum(self._tokens(contents)) + 2 * self.per_message * (users - 1)

    def each(self, pieces: Sequence[str]) -> list[int]:
        """Return the tokens of each piece. Nothing is kept, so this is for pieces that do not come again."""
        if not pieces:
            return []
        fronts = [_AFTER_WORD if piece.startswith(" ") else _AFTER_LINE for piece in pieces]
        found = self._tokens([front + piece for front, piece in zip(fronts, pieces, strict=True)])
        return [count - self._before[front] for count, front in zip(found, fronts, strict=True)]

    def of(self, pieces: Sequence[str]) -> list[int]:
        """Return the tokens of each piece. Pieces that were counted before are not tokenized again."""
        new = [piece for piece in dict.fromkeys(pieces) if piece not in self._known]
        self._known.update(zip(new, self.each(new), strict=True))
        return [self._known[piece] for piece in pieces]


class CountedPieces:
    """Pieces that many prompts share, with their tokens, which are counted at the first use."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces: Sequence[str] = pieces
        self._counted: tuple[PieceCounts, NDArray[np.int64]] | None = None

    def tokens(self, counts: PieceCounts) -> NDArray[np.int64]:
        """Return the tokens of each piece. Shape: (pieces,)."""
        return np.diff(self.sums(counts))

    def sums(self, counts: PieceCounts) -> NDArray[np.int64]:
        """Return the tokens of the first 0, 1, 2 … pieces. Shape: (pieces + 1,)."""
        if self._counted is None or self._counted[0] is not counts:
            once = list(dict.fromkeys(self._pieces))
            tokens = dict(zip(once, counts.each(once), strict=True))
            each = np.array([tokens[piece] for piece in self._pieces], dtype=np.int64)
            self._counted = (counts, np.concatenate(([0], np.cumsum(each))))
        return self._counted[1]


def most_within(sums: NDArray[np.int64], tokens: int) -> tuple[int, int]:
    """Return how many pieces fit, and their tokens.

    Args:
        sums: tokens of the first 0, 1, 2 … pieces, growing.
        tokens: the tokens that are left.
    """
    pieces = max(0, int(np.searchsorted(sums, tokens, side="right")) - 1)
    return pieces, int(sums[pieces])


def largest(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest number in [low, high] that fits. `low` fits, and numbers above a misfit do not."""
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


@dataclass(frozen=True, slots=True)
class Size:
    """How long a prompt is.

    `units` are the sentences, words or documents of its haystack. `filler` is the number of sentences of the
    noise that fill what no whole unit fills.
    """

    units: int
    filler: int = 0


class MadeRow(Protocol):
    """One generated row, whose length is not fixed yet. Its reference does not depend on the length."""

    @property
    def reference(self) -> Any:
        """Return what the answer is checked against, as JSON."""
        ...

    @property
    def prefix(self) -> str:
        """Return the beginning of the answer that is put into the model's mouth."""
        ...

    @property
    def least(self) -> int:
        """Return the smallest number of units."""
        ...

    @property
    def takes_filler(self) -> bool:
        """Return whether sentences of noise fill the rest."""
        ...

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many units fit, and how many tokens they add to the smallest prompt."""
        ...

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the prompt."""
        ...


def fit(row: MadeRow, counts: PieceCounts, tokens: int, where: str) -> Size:
    """Return the largest size of a row whose prompt has at most so many tokens.

    The answer prefix counts as part of the prompt.

    Raises:
        DataError: the smallest prompt does not fit.
    """
    smallest = Size(row.least)
    base = counts.whole([*row.messages(smallest), Message("assistant", row.prefix)])
    if base > tokens:
        raise DataError(
            f"{where}: its smallest prompt has {base} tokens, and the length leaves {tokens}; "
            "choose a larger length, or leave the task out of 'tasks'"
        )
    units, used = row.units_within(tokens - base, counts)
    left = tokens - base - used
    return Size(units, _fillers(row, left, counts) if row.takes_filler else 0)


def prompt_tokens(row: MadeRow, size: Size, counts: PieceCounts) -> int:
    """Return the tokens of a prompt with its answer prefix, counted as a whole."""
    return counts.whole([*row.messages(size), Message("assistant", row.prefix)])


def filler_text(sentences: int) -> str:
    """Return sentences of the noise, in lines of five."""
    whole = [FILLER[place % len(FILLER)] for place in range(sentences)]
    return "\n".join(
        " ".join(whole[start : start + len(FILLER)]) for start in range(0, sentences, len(FILLER))
    )


def filler_costs(counts: PieceCounts) -> tuple[int, ...]:
    """Return the tokens of the five sentences of the noise, the line's end with the last one."""
    first, *rest = FILLER
    *middle, last = rest
    return tuple(counts.of([first, *(f" {sentence}" for sentence in middle), f" {last}\n"]))


def _fillers(row: MadeRow, tokens: int, counts: PieceCounts) -> int:
    """Return how many sentences of the noise fit, with the text around them."""
    costs: Sequence[int] = filler_costs(counts)
    without, one = (counts.whole(row.messages(Size(row.least, filler))) for filler in (0, 1))
    tokens -= one - without - costs[0]
    rounds, left = divmod(max(0, tokens), sum(costs))
    found = rounds * len(costs)
    for cost in costs:
        left -= cost
        if left < 0:
            break
        found += 1
    return found
