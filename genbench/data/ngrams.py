"""Words of texts and hashes of word n-grams, for whole batches of texts at once."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

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
