"""The makers of generated rows: RULER's thirteen tasks (Hsieh et al. 2024), needles at depths, long chats."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from genbench.generators.chains import chain_row
from genbench.generators.documents import Library, documents_row
from genbench.generators.haystacks import Haystack, Noise, Prose
from genbench.generators.json_lookup import PairPool, json_lookup_row
from genbench.generators.lists import CodePool, WordPool, coded_words_row, common_words_row
from genbench.generators.needles import TASKS, Distractors, NeedleTask, needle_row
from genbench.generators.recall import Passages, recall_row
from genbench.generators.sizing import MadeRow
from genbench.generators.words import prose, vocabulary

VERSION = "2"
"""The version of the rows. It changes if a seed gives another row or another prompt."""
Need = Literal["all", "any"]
_Pool = TypeVar("_Pool")

MAX_TOKENS: Mapping[str, int] = MappingProxyType(
    {**dict.fromkeys(TASKS, 128), "vt": 30, "cwe": 120, "fwe": 50, "qa_1": 32, "qa_2": 32}
)
"""The new tokens of each task, which belong to its length."""
PARTS = tuple(MAX_TOKENS)
"""The names of the thirteen tasks in the order of the paper."""
LIBRARIES: Mapping[str, str] = MappingProxyType({"qa_1": "squad", "qa_2": "hotpot"})
"""The tasks that need a dataset, and its name."""
RECALL: Mapping[str, int] = MappingProxyType({"recall_2": 2, "recall_4": 4, "recall_8": 8})
"""The long chats, with the number of replies to the same request."""
RECALL_TOKENS = 512
"""New tokens of an answer to a long chat."""
JSON_PAIRS = "json_kv"
"""HELMET's task of a value in a JSON object."""
DEPTH = "needle"
"""The task of one needle in prose at a given depth."""
KNOWN_PARTS = frozenset((*PARTS, *RECALL, DEPTH, JSON_PAIRS))
"""Every task whose rows can be made."""
_SENTENCES = 12_000
"""Sentences of made-up prose, about 150,000 words. Longer haystacks repeat them."""


def need(part: str) -> Need:
    """Return whether all references of a task must be found, or any of them."""
    return "any" if part in LIBRARIES else "all"


def new_tokens(part: str) -> int:
    """Return the new tokens that belong to the length of a task."""
    return RECALL_TOKENS if part in RECALL else MAX_TOKENS.get(part, MAX_TOKENS["niah_single_1"])


@dataclass(frozen=True, slots=True)
class RowKey:
    """What a row is made from, besides its seed and its haystack. `depth` is a percentage, or None."""

    part: str
    length: int
    index: int
    depth: float | None = None


class RowMaker:
    """Makes the rows of one seed. What the rows of a length share is made at its first row.

    Args:
        seed: the seed of all rows.
        text: the prose in which needles are hidden. None means made-up prose.
        libraries: the datasets of questions, by the names in `LIBRARIES`.
    """

    def __init__(
        self, seed: int, text: str | None = None, libraries: Mapping[str, Library] | None = None
    ) -> None:
        self._seed, self._text, self._libraries = seed, text, libraries or {}
        self._pools: dict[tuple[str, int], Any] = {}

    def row(self, key: RowKey) -> MadeRow:
        """Return a row. It depends on nothing but the seed, the haystack and the key."""
        depth = "" if key.depth is None else f"/{key.depth:g}"
        rng = self._random(f"{key.part}/{key.length}/{key.index}{depth}")
        if key.part in TASKS:
            task = TASKS[key.part]
            haystack, pool = self._haystack(task), self._distractors(key.part, key.length)
            return needle_row(task, rng, haystack=haystack, distractors=pool)
        if key.part in LIBRARIES:
            return documents_row(self._libraries[LIBRARIES[key.part]], key.index, rng)
        if key.part in RECALL:
            return recall_row(RECALL[key.part], self._passages, rng)
        others: Mapping[str, Callable[[], MadeRow]] = {
            DEPTH: lambda: needle_row(
                NeedleTask("prose"), rng, haystack=self._prose, depth=(key.depth or 0) / 100
            ),
            JSON_PAIRS: lambda: json_lookup_row(self._pool("pairs", key.length, PairPool.drawn), rng),
            "vt": lambda: chain_row(rng, Noise()),
            "cwe": lambda: common_words_row(
                key.length, key.index, self._pool("words", key.length, _word_pool), rng
            ),
            "fwe": lambda: coded_words_row(
                key.length, key.index, self._pool("codes", key.length, CodePool.drawn), rng
            ),
        }
        return others[key.part]()

    def _random(self, name: str) -> random.Random:
        return random.Random(f"{self._seed}/{name}")

    @cached_property
    def _sentences(self) -> list[str]:
        return prose(_SENTENCES, self._random("prose"))

    @cached_property
    def _prose(self) -> Prose:
        return Prose(self._text if self._text is not None else " ".join(self._sentences))

    @cached_property
    def _passages(self) -> Passages:
        return Passages.of(self._sentences, self._random("requests"))

    def _haystack(self, task: NeedleTask) -> Haystack | None:
        if task.haystack == "needles":
            return None
        return Noise() if task.haystack == "noise" else self._prose

    def _distractors(self, part: str, length: int) -> Distractors | None:
        task = TASKS[part]
        if task.haystack != "needles":
            return None
        draw = partial(Distractors.drawn, task)
        return self._pool(f"{part}/{length}/distractors", length, draw)

    def _pool(self, name: str, length: int, draw: Callable[[int, random.Random], _Pool]) -> _Pool:
        """Return what the rows of a length share. It is drawn once, from a seed with its name."""
        if (name, length) not in self._pools:
            self._pools[name, length] = draw(length, self._random(name))
        found: _Pool = self._pools[name, length]
        return found


def _word_pool(length: int, rng: random.Random) -> WordPool:
    return WordPool.of(vocabulary(length // 12, rng))
