"""Compact sets and indexes of the samples of a run, small enough for millions of them.

The index of a task's samples that comparisons read takes about 40 bytes for each sample.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from genbench.store.seal import completion_words
from genbench.types import Completion

T = TypeVar("T")
SampleKey = tuple[str, int]
"""The pair (problem_id, sample_index)."""
_MASK = (1 << 64) - 1
_ABSENT, _USUAL, _SEVERAL = -1, -2, -3
_LONGEST = 1 << 31


class Column(Mapping[SampleKey, T], Generic[T]):
    """A mapping from samples to values, in the order of problems and sample indices.

    Samples without a value are not in it.
    """

    def __init__(self, index: SampleIndex, read: Callable[[int], T | None]) -> None:
        self._index, self._read = index, read

    def __getitem__(self, key: SampleKey) -> T:
        at = self._index.position(*key)
        value = None if at is None else self._read(at)
        if value is None:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[SampleKey]:
        return (key for at, key in enumerate(self._index.keys()) if self._read(at) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class SampleIndex:
    """The prompts, seeds and text digests of a task's samples.

    Args:
        problems: the lines of problems.jsonl by id, in order.
        k: samples of each problem.
        end_tokens: the special tokens that are cut from the end of answers.
        counts: the samples of each problem in an adaptive run. None: each problem has k.
    """

    def __init__(
        self,
        problems: Mapping[str, Mapping[str, Any]],
        k: int,
        end_tokens: Sequence[str] = (),
        counts: Mapping[str, int] | None = None,
    ) -> None:
        self._problems, self.k, self._counts = problems, k, counts
        self._ids: Sequence[str] = list(problems)
        self._rows = {name: row for row, name in enumerate(self._ids)}
        size = len(self._ids) * k
        self._prompts = array("i", [_ABSENT]) * size
        self._other_prompts: dict[str, int] = {}
        self._prompt_names: list[str] = []
        self._seeds, self._texts = array("Q", [0]) * size, array("Q", [0]) * size
        self._has_seed, self._has_text = bytearray(size), bytearray(size)
        self._tokens, self._traces = array("i", [_ABSENT]) * size, array("i", [_ABSENT]) * size
        self._end_tokens = tuple(token for token in end_tokens if token)
        self.cut_tokens: set[str] = set()
        """The end tokens that at least one completion ends with."""
        self.completion_tokens: int | None = None
        """Completion tokens of all samples, or None if they were not counted."""

    def add(self, item: Completion) -> None:
        """Add one completion.

        Raises:
            ValueError: the sample is not in the index.
        """
        at = self.position(item.sample.problem_id, item.sample.sample_index)
        if at is None:
            raise ValueError(f"{item.sample} is not a sample of this index")
        # A sum does not depend on the order in which the turns of a conversation come.
        self._texts[at] = (self._texts[at] + _digest(item)) & _MASK
        self._has_text[at] = 1
        self._note_ends(item.text)
        for column, count in ((self._tokens, item.completion_tokens), (self._traces, item.trace_tokens)):
            if (
                item.turn
            ):  # a further turn is not a beginning of the same reply, so a conversation has no length
                column[at] = _SEVERAL
            elif column[at] != _SEVERAL and count is not None and count < _LONGEST:
                column[at] = count
        if item.turn == 0:
            self._prompts[at] = self._prompt_number(item)
            if item.seed is not None:
                self._seeds[at], self._has_seed[at] = item.seed & _MASK, 1

    def _note_ends(self, text: str) -> None:
        """Add the end tokens at the end of a text to `cut_tokens`. There may be several in a row."""
        text = text.rstrip()
        while self._end_tokens and text.endswith(self._end_tokens):
            token = max((token for token in self._end_tokens if text.endswith(token)), key=len)
            self.cut_tokens.add(token)
            text = text.removesuffix(token).rstrip()

    def _prompt_number(self, item: Completion) -> int:
        """Return the number of the sample's own prompt, or _USUAL if it has the prompt of its problem."""
        found = item.prompt_digest
        if found is None or found == self._problems[item.sample.problem_id].get("prompt_digest"):
            return _USUAL
        if found not in self._other_prompts:
            self._other_prompts[found] = len(self._prompt_names)
            self._prompt_names.append(found)
        return self._other_prompts[found]

    def position(self, problem_id: str, sample_index: int) -> int | None:
        """Return the position of a sample in the index, or None if the sample is not in it."""
        row = self._rows.get(problem_id)
        return None if row is None or sample_index >= self.k else row * self.k + sample_index

    def without_prompt(self, other: SampleIndex) -> tuple[int, int]:
        """Count the samples in both indexes that lack their first turn in one, and the samples in both."""
        lost = shared = 0
        for name, row in self._rows.items():
            place = other._rows.get(name)
            if place is None:
                continue
            k = min(self._count(name), other._count(name))
            shared += k
            ours = self._prompts[row * self.k : row * self.k + k]
            theirs = other._prompts[place * other.k : place * other.k + k]
            lost += sum(_ABSENT in pair for pair in zip(ours, theirs, strict=True))
        return lost, shared

    def _count(self, problem_id: str) -> int:
        return self.k if self._counts is None else self._counts[problem_id]

    @property
    def problems(self) -> int:
        """The number of problems."""
        return len(self._ids)

    def keys(self) -> Iterator[SampleKey]:
        """Yield (problem_id, sample_index) of every position in order."""
        return ((name, index) for name in self._ids for index in range(self.k))

    @property
    def prompts(self) -> Column[str]:
        """Digest of the first turn's prompt of each sample that was drawn."""
        return Column(self, self._prompt)

    @property
    def seeds(self) -> Column[int]:
        """Seed of the first turn, modulo 2^64, of each sample that has one."""
        return Column(self, lambda at: self._seeds[at] if self._has_seed[at] else None)

    @property
    def texts(self) -> Column[int]:
        """Digest of all completions of each sample that was drawn."""
        return Column(self, lambda at: self._texts[at] if self._has_text[at] else None)

    @property
    def lengths(self) -> Column[tuple[int, int]]:
        """Tokens of the reply and of its trace, of each sample of one turn whose tokens were counted."""
        return Column(self, self._length)

    def _length(self, at: int) -> tuple[int, int] | None:
        tokens, trace = self._tokens[at], self._traces[at]
        return None if min(tokens, trace) < 0 else (tokens, trace)

    @property
    def max_tokens(self) -> dict[str, int]:
        """Token limit of the first turn by problem. It may have been lowered to fit the context."""
        return {name: record["max_tokens"] for name, record in self._problems.items()}

    @property
    def references(self) -> dict[str, str]:
        """Digest of the reference by problem."""
        return {name: record["reference_digest"] for name, record in self._problems.items()}

    def _prompt(self, at: int) -> str | None:
        number = self._prompts[at]
        if number == _ABSENT:
            return None
        usual = number == _USUAL
        return (
            self._problems[self._ids[at // self.k]].get("prompt_digest")
            if usual
            else self._prompt_names[number]
        )


def _digest(item: Completion) -> int:
    text = f"{item.turn}\0{completion_words(item)}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


_END = -1


class DrawnSamples:
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
