"""RULER's aggregation tasks: the most common words of a list, and the most frequent coded words."""

from __future__ import annotations

import math
import random
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from genbench.generators.sizing import CountedPieces, PieceCounts, Size, largest, most_within
from genbench.generators.words import Walk
from genbench.types import Message

_SHORT = 4096
"""Below this length RULER repeats words less often."""
_COMMON = 10
_COMMON_QUESTION = (
    "Below is a numbered list of words. In these words, some appear more often than others. Memorize the "
    "ones that appear most often.\n{words}\nQuestion: What are the 10 most common words in the above list?"
)
_COMMON_ANSWER = "Answer: The top 10 words that appear most often in the list are:"
_CODED_QUESTION = (
    "Read the following coded text and track the frequency of each coded word. Find the three most "
    "frequently appeared coded words. {words}\nQuestion: Do not provide any explanation. "
    "Please ignore the dots '....'. What are the three most frequently appeared words in the above coded "
    "text?"
)
_CODED_ANSWER = "Answer: According to the coded text above, the three most frequently appeared words are:"
_DOTS = "..."
_ASKED_CODED = 3
"""Words of the ranks that are asked for."""
_LEAST_CODED = 100


@dataclass(frozen=True, slots=True)
class NumberedWords:
    """Words of a list: some appear often, the others seldom."""

    common: tuple[str, ...]
    others: tuple[str, ...]
    often: int
    seldom: int
    seed: str

    def text(self) -> str:
        """Return the numbered list."""
        words = list(self.common) * self.often + list(self.others) * self.seldom
        random.Random(self.seed).shuffle(words)
        return " ".join(f"{number}. {word}" for number, word in enumerate(words, start=1))


@dataclass(frozen=True, slots=True)
class WordPool:
    """The words of which lists are made, and the numbers of the longest list."""

    words: tuple[str, ...]
    counted: CountedPieces
    numbers: CountedPieces

    @classmethod
    def of(cls, words: Sequence[str]) -> WordPool:
        """Return the pool of some different words."""
        longest = _COMMON * 30 + 3 * len(words)
        numbers = CountedPieces([f" {number}." for number in range(1, longest + 1)])
        return cls(tuple(words), CountedPieces([f" {word}" for word in words]), numbers)


@dataclass(frozen=True, slots=True)
class CommonWordsRow:
    """One prompt that asks for the common words of a list. A unit is one of the other words."""

    prefix: ClassVar[str] = _COMMON_ANSWER
    """The beginning of the answer."""
    least: ClassVar[int] = 0
    """No other word."""
    takes_filler: ClassVar[bool] = False
    """The units are short."""
    pool: WordPool
    common: tuple[int, ...]
    order: Walk
    """The order in which the other words are taken: first those of the example."""
    short: bool
    seed: str

    @property
    def reference(self) -> tuple[str, ...]:
        """Return the ten common words."""
        return tuple(self.pool.words[place] for place in self.common)

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many other words fit, and their tokens with the numbers in front of them."""
        often, seldom = self._repeats
        others = self._places[self._shown :]
        words = np.concatenate(([0], np.cumsum(self.pool.counted.tokens(counts)[others]))) * seldom
        numbers = self.pool.numbers.sums(counts)[_COMMON * often :: seldom][: len(words)]
        sums = words + numbers - numbers[0]
        return most_within(sums, tokens)

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the worked example and the question."""
        often, seldom = self._repeats
        common, others = self._words(0, _COMMON), self._words(_COMMON, self._shown - _COMMON)
        example = NumberedWords(common, others, *((3, 1) if self.short else (10, 3)), f"{self.seed}/example")
        others = self._words(self._shown, size.units)
        asked = NumberedWords(self.reference, others, often, seldom, self.seed)
        answer = " ".join(f"{number}. {word}" for number, word in enumerate(common, start=1))
        shown = f"{_COMMON_QUESTION.format(words=example.text())} {_COMMON_ANSWER} {answer}"
        return (Message("user", f"{shown}\n\n{_COMMON_QUESTION.format(words=asked.text())}"),)

    @property
    def _shown(self) -> int:
        return 20 if self.short else 40

    @property
    def _repeats(self) -> tuple[int, int]:
        return (6, 1) if self.short else (30, 3)

    @property
    def _places(self) -> NDArray[np.int64]:
        """Return all words but the common ones, in their order."""
        every = self.order.places(self.order.size)
        return every[~np.isin(every, self.common)]

    def _words(self, first: int, count: int) -> tuple[str, ...]:
        return tuple(self.pool.words[place] for place in self._places[first : first + count].tolist())


def common_words_row(length: int, index: int, pool: WordPool, rng: random.Random) -> CommonWordsRow:
    """Return one row for prompts of so many tokens.

    Rows have different common words until all words of the pool were common once.
    """
    size = len(pool.words)
    common = tuple((index * _COMMON + place) % size for place in range(_COMMON))
    return CommonWordsRow(pool, common, Walk.drawn(size, rng), length < _SHORT, str(rng.getrandbits(64)))


@dataclass(frozen=True, slots=True)
class CodePool:
    """Coded words, of which each prompt takes some."""

    words: tuple[str, ...]
    counted: CountedPieces
    dots: CountedPieces

    @classmethod
    def drawn(cls, length: int, rng: random.Random) -> CodePool:
        """Return enough coded words for prompts of so many tokens."""
        wanted = max(2_000, length // 10)
        words: dict[str, None] = {}
        while len(words) < wanted:
            words["".join(rng.choices(string.ascii_lowercase, k=6))] = None
        return cls(tuple(words), CountedPieces([f" {word}" for word in words]), CountedPieces([f" {_DOTS}"]))


@dataclass(frozen=True, slots=True)
class CodedWordsRow:
    """One prompt that asks for the three most frequent coded words. A unit is one word of the text.

    The frequencies follow a zeta distribution with exponent 2. The most frequent word is only dots.
    """

    prefix: ClassVar[str] = _CODED_ANSWER
    """The beginning of the answer."""
    least: ClassVar[int] = _LEAST_CODED
    """The smallest text, in which the three words have different frequencies."""
    takes_filler: ClassVar[bool] = False
    """The units are short."""
    pool: CodePool
    places: tuple[int, ...]
    """The words in the order of their frequency, after the dots."""
    seed: str

    @property
    def reference(self) -> tuple[str, ...]:
        """Return the words of the ranks 2 to 4."""
        return tuple(self.pool.words[place] for place in self.places[:_ASKED_CODED])

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many words fit, and the tokens that they add to the smallest text."""
        own = self.pool.counted.tokens(counts)[list(self.places)]
        costs = np.concatenate((self.pool.dots.tokens(counts), own))
        smallest = int(self._frequencies(self.least) @ costs)

        def added(units: int) -> int:
            return int(self._frequencies(units) @ costs) - smallest

        units = largest(lambda size: added(size) <= tokens, self.least, self.least + 2 * tokens)
        return units, added(units)

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the question."""
        vocabulary = [_DOTS, *(self.pool.words[place] for place in self.places)]
        times = self._frequencies(size.units).tolist()
        words = [word for word, count in zip(vocabulary, times, strict=True) for _ in range(count)]
        random.Random(self.seed).shuffle(words)
        return (Message("user", _CODED_QUESTION.format(words=" ".join(words))),)

    def _frequencies(self, units: int) -> NDArray[np.int64]:
        ranks = np.arange(1, len(self.places) + 2, dtype=np.float64)
        return (units / ranks**2 * (6 / math.pi**2)).astype(np.int64)


def coded_words_row(length: int, index: int, pool: CodePool, rng: random.Random) -> CodedWordsRow:
    """Return one row for prompts of so many tokens.

    Rows ask for different words until all words of the pool were asked for once. So the answer to one row is
    never right for another one.
    """
    size = len(pool.words)
    asked = [(index * _ASKED_CODED + place) % size for place in range(_ASKED_CODED)]
    walk = Walk.drawn(size, rng).places(max(50, length // 50)).tolist()
    places = [*asked, *(place for place in walk if place not in asked)][: len(walk)]
    return CodedWordsRow(pool, tuple(places), str(rng.getrandbits(64)))
