"""Search of word n-grams of benchmark texts in whole batches of training texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

NORMALISATION = "lower case, words of letters and digits, NFKC"
"""The name of what `words` does, for records."""
_OTHER = re.compile(r"[\W_]+")
_SINGLE = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")
"""Characters of scripts without spaces. Each counts as a word."""
_TEXT_END = b"\n"
_BASE, _WORD_BASE = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F
_INVERSE, _WORD_INVERSE = pow(_BASE, -1, 1 << 64), pow(_WORD_BASE, -1, 1 << 64)
_LEAST_POWERS = 1 << 20


def normalised(text: str) -> str:
    """Return a text whose words are runs of letters and digits, in any case if it is ASCII.

    Other texts are brought into NFKC and lower case. What is neither letter nor digit becomes a space, and a
    Chinese or Japanese character is a word.
    """
    if text.isascii():
        return text
    plain = _OTHER.sub(" ", unicodedata.normalize("NFKC", text).lower())
    return _SINGLE.sub(r" \1 ", plain)


def words(text: str) -> list[str]:
    """Return the words of a text as n-grams see them."""
    return _OTHER.sub(" ", normalised(text).lower()).split()


class Powers:
    """Powers of two odd numbers and of their inverses modulo 2^64, kept from batch to batch."""

    def __init__(self) -> None:
        self._tables: dict[int, Hashes] = {}

    def of(self, base: int, count: int) -> Hashes:
        """Return base^0, base^1 … as an array of `count` numbers."""
        table = self._tables.get(base)
        if table is None or len(table) < count:
            factors = np.full(max(count, _LEAST_POWERS), np.uint64(base), dtype=np.uint64)
            factors[:1] = 1
            table = self._tables[base] = np.multiply.accumulate(factors)
        return table[:count]


class WordBatch:
    """The words of several texts, hashed.

    Args:
        texts: the texts.
        documents: the document of each text. An n-gram may go on into the next text of the same document.
        powers: the powers of an earlier batch, which save a third of the time.
    """

    def __init__(self, texts: Sequence[str], documents: Sequence[int], powers: Powers | None = None) -> None:
        powers = powers or Powers()
        parts = [normalised(text).encode("utf-8", "replace") for text in texts]
        self._data = _TEXT_END.join(parts)
        sizes = np.array([len(part) + 1 for part in parts], dtype=np.int64)
        raw = np.frombuffer(self._data, dtype=np.uint8)
        inside = _IS_WORD[raw]
        edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
        self._starts, self._ends = edges[::2], edges[1::2]
        self.texts: Places = np.searchsorted(np.cumsum(sizes), self._starts, side="right")
        """The index of each word's text."""
        self._documents = np.asarray(documents, dtype=np.int64)[self.texts]
        sums = _sums(_LETTERS[raw], powers.of(_BASE, len(raw)))
        spelled = (sums[self._ends] - sums[self._starts]) * powers.of(_INVERSE, len(raw) + 1)[self._starts]
        self._sums = _sums(_mixed(spelled), powers.of(_WORD_BASE, self.count))
        self._inverse = powers.of(_WORD_INVERSE, self.count)

    @property
    def count(self) -> int:
        """Return the number of words."""
        return len(self._starts)

    def ngrams(self, length: int) -> Hashes:
        """Return the hash of the n-gram that starts at each word. The last words start none."""
        last = self.count - length + 1
        if last <= 0:
            return np.zeros(0, dtype=np.uint64)
        found = self._sums[length : length + last] - self._sums[:last]
        return _mixed(found * self._inverse[:last])

    def within(self, places: Places, length: int) -> Places:
        """Return those of the places whose n-gram does not cross the end of a document."""
        kept: Places = places[self._documents[places] == self._documents[places + length - 1]]
        return kept

    def shown(self, first: int, last: int) -> str:
        """Return the text from word `first` to word `last`."""
        return self._data[self._starts[first] : self._ends[last]].decode("utf-8", "replace")


def _mixed(values: Hashes) -> Hashes:
    """Return values whose bits all depend on all bits (the finalizer of MurmurHash3, Appleby 2011)."""
    values = values ^ (values >> np.uint64(33))
    values = values * np.uint64(0xFF51AFD7ED558CCD)
    values = values ^ (values >> np.uint64(33))
    values = values * np.uint64(0xC4CEB9FE1A85EC53)
    return np.asarray(values ^ (values >> np.uint64(33)), dtype=np.uint64)


def _sums(values: Hashes, powers: Hashes) -> Hashes:
    """Return the sums (n + 1,) of values * powers before each place."""
    found = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum(values * powers, out=found[1:])
    return found


def _letters() -> Hashes:
    """Return a random number for each byte. Both cases of a letter have the same one."""
    table = np.random.default_rng(20260101).integers(1, 1 << 63, size=256, dtype=np.uint64)
    upper = np.arange(ord("A"), ord("Z") + 1)
    table[upper] = table[upper + 32]
    return np.asarray(table, dtype=np.uint64)


def _word_bytes() -> npt.NDArray[np.bool_]:
    """Return which bytes are part of words: ASCII letters and digits, and all bytes of other characters."""
    return np.array([byte >= 128 or chr(byte).isalnum() for byte in range(256)])


_LETTERS, _IS_WORD = _letters(), _word_bytes()


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
