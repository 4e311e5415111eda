"""Words, numbers and identifiers that generated prompts are made of, drawn from a seed."""

from __future__ import annotations

import math
import random
import uuid
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from genbench.errors import asking_for_extras

ValueKind = Literal["words", "numbers", "uuids"]


@lru_cache(maxsize=4)
def word_list(name: Literal["noun", "adjective", "verb"]) -> tuple[str, ...]:
    """Return the words of one list of the package wonderwords that have only letters, sorted.

    Raises:
        UnavailableError: the package is not installed.
    """
    with asking_for_extras():
        import wonderwords.assets  # noqa: PLC0415  only generated tasks need the package
    text = resources.files(wonderwords.assets).joinpath(f"{name}list.txt").read_text(encoding="utf-8")
    words = {word.strip() for word in text.splitlines()}
    return tuple(sorted(word for word in words if word.isalpha() and word.isascii() and word.islower()))


def vocabulary(size: int, rng: random.Random) -> list[str]:
    """Return at least `size` different words in a random order.

    The lists have about 8,000 words. Beyond that, words joined by a hyphen follow.
    """
    found = sorted({*word_list("noun"), *word_list("adjective"), *word_list("verb")})
    rng.shuffle(found)
    if size > len(found):
        found += draw_values("words", size - len(found), rng)
    return found


def draw_values(kind: ValueKind, count: int, rng: random.Random) -> list[str]:
    """Return different keys or values of a kind in a random order.

    `words` are an adjective and a noun with a hyphen, `numbers` have seven digits, `uuids` are random
    identifiers of version 4.
    """
    if kind == "numbers":
        return [str(number) for number in rng.sample(range(1_000_000, 10_000_000), count)]
    if kind == "uuids":
        return [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(count)]
    adjectives, nouns = word_list("adjective"), word_list("noun")
    places = rng.sample(range(len(adjectives) * len(nouns)), count)
    return [f"{adjectives[place // len(nouns)]}-{nouns[place % len(nouns)]}" for place in places]


@dataclass(frozen=True, slots=True)
class Walk:
    """An order of the numbers below `size`: from a start in equal strides, past the end to the beginning.

    Unlike a shuffle it costs nothing, and its first numbers do not depend on how many are taken.
    """

    start: int
    stride: int
    size: int

    @classmethod
    def drawn(cls, size: int, rng: random.Random) -> Walk:
        """Return a random walk over all numbers below `size`."""
        stride = rng.randrange(1, max(2, size))
        while math.gcd(stride, size) > 1:
            stride = rng.randrange(1, max(2, size))
        return cls(rng.randrange(size), stride, size)

    def places(self, count: int) -> NDArray[np.int64]:
        """Return the first numbers, at most all of them."""
        return (self.start + self.stride * np.arange(min(count, self.size), dtype=np.int64)) % self.size


def prose(sentences: int, rng: random.Random) -> list[str]:
    """Return sentences of made-up prose: English grammar, random words, no meaning.

    It replaces texts that may not be shipped. It takes as many tokens for a word as other English text.
    """
    nouns, adjectives, verbs = word_list("noun"), word_list("adjective"), word_list("verb")
    found = []
    for _ in range(sentences):
        first, second, third = rng.choices(nouns, k=3)
        how, what = rng.choices(adjectives, k=2)
        does, might = rng.choices(verbs, k=2)
        found.append(
            rng.choice(
                (
                    f"The {how} {first} will {does} the {second} before the {what} {third} can {might} it.",
                    f"Nobody asked why a {first} should {does} near the {how} {second}.",
                    f"If you {does} the {first}, the {second} of the {third} may {might} again.",
                    f"They say that every {how} {first} must {does} a {what} {second} and {might} it later.",
                    f"A {first} without a {second} is {how}, but a {third} is {what}.",
                    f"We used to {does} in the {first} and {might} under the {how} {second}.",
                )
            )
        )
    return found
