"""Long chats that ask for one of several replies to the same request, after OpenAI's MRCR."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from genbench.generators.sizing import CountedPieces, PieceCounts, Size, filler_text, most_within
from genbench.generators.words import Walk, word_list
from genbench.types import Message

_FORMS = ("poem", "story", "essay", "letter", "song", "speech", "review", "riddle", "recipe", "diary entry")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_PASSAGE = 8
"""Sentences of one reply."""
_BEGINNING = 10
"""Letters and digits that an answer must begin with, as in MRCR."""
_LAST_REQUEST = "Write a note about the weather."


@dataclass(frozen=True)
class Passages:
    """Replies of made-up prose, which all chats of a task share, and the requests for them."""

    passages: tuple[str, ...]
    requests: tuple[str, ...]

    @classmethod
    def of(cls, sentences: list[str], rng: random.Random) -> Passages:
        """Return the passages that some sentences make up, each with a request of its own."""
        passages = [
            " ".join(sentences[start : start + _PASSAGE])
            for start in range(0, len(sentences) - _PASSAGE + 1, _PASSAGE)
        ]
        topics = word_list("noun")
        walk = Walk.drawn(len(topics) * len(_FORMS), rng).places(len(passages)).tolist()
        requests = [_request(_FORMS[place % len(_FORMS)], topics[place // len(_FORMS)]) for place in walk]
        return cls(tuple(passages[: len(requests)]), tuple(requests))

    @cached_property
    def counted(self) -> tuple[CountedPieces, CountedPieces]:
        """Return the passages and the requests with their tokens."""
        return CountedPieces(self.passages), CountedPieces(self.requests)


@dataclass(frozen=True, slots=True)
class RecallRow:
    """One chat. A unit is one request with its reply that is not asked for."""

    prefix: ClassVar[str] = ""
    """Nothing: the model writes the whole answer."""
    least: ClassVar[int] = 0
    """No other reply."""
    takes_filler: ClassVar[bool] = True
    """A reply has more than a hundred tokens."""
    pool: Passages
    order: Walk
    """The order in which passages are taken: the wanted ones, then the others."""
    needles: int
    wanted: int
    """Which of the replies to the same request is asked for, from 0."""
    form: str
    topic: str
    beginning: str
    depths: tuple[float, ...]
    """Where the wanted replies are, from 0 to 1, growing."""

    @property
    def reference(self) -> Any:
        """Return the beginning of the answer, and the reply that must follow."""
        return {"begins": self.beginning, "text": self._passage(self.wanted)}

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many other replies fit, and their tokens with those of their requests."""
        places = self._others(len(self.pool.passages))
        passages, requests = (pieces.tokens(counts)[places] for pieces in self.pool.counted)
        sums = np.concatenate(([0], np.cumsum(passages + requests + 2 * counts.per_message)))
        return most_within(sums, tokens)

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the chat. Its last message asks for one of the replies."""
        others = [
            (self.pool.requests[place], self.pool.passages[place]) for place in self._others(size.units)
        ]
        said: list[tuple[str, str]] = []
        done = 0
        for number, depth in enumerate(self.depths):
            place = min(int(depth * (len(others) + 1)), len(others))
            said += [*others[done:place], (_request(self.form, self.topic), self._passage(number))]
            done = place
        said += others[done:]
        if size.filler:
            said.append((_LAST_REQUEST, filler_text(size.filler)))
        asked = (
            f"Prepend {self.beginning} to the {_ORDINALS[self.wanted]} {self.form} about {self.topic}. "
            "Do not include any other text in your response."
        )
        turns = [Message("user", asked)]
        for request, reply in reversed(said):
            turns += [Message("assistant", reply), Message("user", request)]
        return tuple(reversed(turns))

    def _passage(self, number: int) -> str:
        return self.pool.passages[int(self.order.places(number + 1)[number])]

    def _others(self, units: int) -> NDArray[np.int64]:
        return self.order.places(self.needles + units)[self.needles :]


def recall_row(needles: int, pool: Passages, rng: random.Random) -> RecallRow:
    """Return one chat in which the same request is made `needles` times, at most eight."""
    # A topic of two words is not among those of the other requests.
    topic = " ".join(rng.sample(word_list("noun"), 2))
    return RecallRow(
        pool=pool,
        order=Walk.drawn(len(pool.passages), rng),
        needles=needles,
        wanted=rng.randrange(needles),
        form=rng.choice(_FORMS),
        topic=topic,
        beginning="".join(rng.choices(string.ascii_letters + string.digits, k=_BEGINNING)),
        depths=tuple(sorted(rng.random() for _ in range(needles))),
    )


def _request(form: str, topic: str) -> str:
    return f"Write a {form} about {topic}."
