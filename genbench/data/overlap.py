"""Search of word n-grams of benchmark texts in batches of training texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from genbench.data.ngrams import Hashes, Places, WordBatch, words

N, SHORTEST = 13, 8
"""Words of an n-gram. A text of 8 to 12 words is searched whole.

Source: Brown et al. 2020 (GPT-3), appendix C.
"""
_WORDING_SHARE, _WORDING_LEAST = 0.1, 3
_BITS = 24


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of a benchmark that is searched: the question or a reference of one problem."""

    task: str
    problem_id: str
    part: Literal["question", "reference"]
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """Consecutive n-grams of a passage that a training text contains.

    `text_index` is the training text's place in its batch. `places` are the n-grams, as places of words in
    the passage. `text` is what the training text has there.
    """

    passage: int
    text_index: int
    places: tuple[int, ...]
    text: str


class PassageIndex:
    """The n-grams of passages by their hash.

    n-grams that more than a tenth of a task's problems share (at least three of them) are the wording of its
    prompt. They are not searched.

    Args:
        passages: what is searched.
        n: words of an n-gram.
    """

    def __init__(self, passages: Sequence[Passage], n: int = N) -> None:
        self.passages, self.n = list(passages), n
        shortest = min(SHORTEST, n)
        self._words = [words(passage.text) for passage in self.passages]
        self.lengths = [min(n, len(found)) if len(found) >= shortest else 0 for found in self._words]
        """Words of each passage's n-grams. 0: the passage is too short to be searched."""
        hashes, owners, places = self._hashed()
        kept = ~self._wording(hashes, owners)
        order = np.argsort(hashes[kept], kind="stable")
        self._hashes = hashes[kept][order]
        self._owners, self._places = owners[kept][order], places[kept][order]
        self.searched = np.bincount(self._owners, minlength=len(self.passages))
        """The number of n-grams of each passage that are searched."""
        self._known = np.zeros(1 << _BITS, dtype=bool)
        self._known[_low(self._hashes)] = True

    def _hashed(self) -> tuple[Hashes, Places, Places]:
        """Return hash, passage and place in it of every n-gram."""
        chosen = [at for at, length in enumerate(self.lengths) if length]
        hashes, owners, places = [], [], []
        for start in range(0, len(chosen), 2000):
            part = chosen[start : start + 2000]
            batch = WordBatch([self.passages[at].text for at in part], range(len(part)))
            first = np.searchsorted(batch.texts, np.arange(len(part)))
            for length in sorted({self.lengths[at] for at in part}):
                found = batch.ngrams(length)
                at = batch.within(np.arange(len(found)), length)
                own = np.array([self.lengths[index] for index in part])[batch.texts[at]] == length
                at = at[own]
                hashes.append(found[at])
                owners.append(np.array(part)[batch.texts[at]])
                places.append(at - first[batch.texts[at]])
        if not hashes:
            return np.zeros(0, np.uint64), np.zeros(0, np.int64), np.zeros(0, np.int64)
        return np.concatenate(hashes), np.concatenate(owners), np.concatenate(places)

    def _wording(self, hashes: Hashes, owners: Places) -> npt.NDArray[np.bool_]:
        """Return which n-grams are shared by too many problems of their task."""
        tasks = sorted({passage.task for passage in self.passages})
        of_task = np.array([tasks.index(passage.task) for passage in self.passages], dtype=np.int64)
        problems = [(passage.task, passage.problem_id) for passage in self.passages]
        numbers = {key: number for number, key in enumerate(dict.fromkeys(problems))}
        problem = np.array([numbers[key] for key in problems], dtype=np.int64)
        found = np.zeros(len(hashes), dtype=bool)
        for number in range(len(tasks)):
            rows = np.flatnonzero(of_task[owners] == number) if len(owners) else np.zeros(0, np.int64)
            pairs = np.unique(np.stack([hashes[rows], problem[owners[rows]].astype(np.uint64)]), axis=1)[0]
            distinct, counts = np.unique(pairs, return_counts=True)
            total = len(set(problem[of_task == number].tolist()))
            most = max(_WORDING_LEAST - 1, _WORDING_SHARE * total)
            found[rows] = np.isin(hashes[rows], distinct[counts > most])
        return found

    def matches(self, batch: WordBatch) -> Iterator[Match]:
        """Yield what a batch of training texts shares with the passages."""
        for length in sorted({length for length in self.lengths if length}):
            found = batch.ngrams(length)
            places = batch.within(np.flatnonzero(self._known[_low(found)]), length)
            if len(places):
                yield from self._confirmed(batch, found[places], places, length)

    def _confirmed(self, batch: WordBatch, hashes: Hashes, places: Places, length: int) -> Iterator[Match]:
        """Yield the matches among candidates, with consecutive ones joined."""
        left = np.searchsorted(self._hashes, hashes, side="left")
        right = np.searchsorted(self._hashes, hashes, side="right")
        by_passage: dict[int, list[tuple[int, int]]] = {}
        for at in np.flatnonzero(right > left):
            for row in range(left[at], right[at]):
                owner = int(self._owners[row])
                if self.lengths[owner] == length:
                    by_passage.setdefault(owner, []).append((int(places[at]), int(self._places[row])))
        for owner, pairs in by_passage.items():
            for run in _runs(pairs):
                first, last = run[0][0], run[-1][0] + length - 1
                shown, begin = batch.shown(first, last), run[0][1]
                # Two n-grams may have one hash, so the words decide.
                if words(shown) == self._words[owner][begin : begin + last - first + 1]:
                    text = int(batch.texts[first])
                    yield Match(owner, text, tuple(place for _, place in run), shown)


def _low(hashes: Hashes) -> Hashes:
    return np.asarray(hashes & np.uint64((1 << _BITS) - 1), dtype=np.uint64)


def _runs(pairs: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield lists of pairs in which both places go on by one."""
    ordered = sorted(pairs, key=lambda pair: (pair[0] - pair[1], pair[0]))
    run = [ordered[0]]
    for pair in ordered[1:]:
        if (pair[0] - run[-1][0], pair[1] - run[-1][1]) == (1, 1):
            run.append(pair)
        else:
            yield run
            run = [pair]
    yield run
