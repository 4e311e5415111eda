"""Continuations around the borders of cache blocks, as token ids of a small vocabulary."""

from __future__ import annotations

from genbench.types import Continuation

VOCABULARY, BLOCK = 512, 128
LENGTHS = (1, 2, 40, 127, 128, 129, 300, 384, 600)
SHARED = ((100, 27), (100, 28), (100, 29), (127, 1), (128, 127), (128, 128), (130, 140), (383, 2))
"""Tokens of the context, and of the beginning that its continuations share."""


def ids(seed: int, count: int) -> tuple[int, ...]:
    """Return token ids that look random and are the same in every run."""
    state, found = seed * 2654435761 + 12345, []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        found.append(4 + (state >> 33) % (VOCABULARY - 8))
    return tuple(found)


def choices(length: int, shared: int) -> list[Continuation]:
    """Return four continuations of a context, which begin with `shared` equal tokens."""
    context, begin = ids(length, length), ids(shared + 1000, shared)
    return [Continuation(place, context, (*begin, *ids(place + 1, 3 + place))) for place in range(4)]


def named_cases() -> dict[str, list[Continuation]]:
    """Return every case by name: contexts, shared beginnings, labels, priors and windows."""
    pairs = [*((length, 0) for length in LENGTHS), *SHARED]
    found = {f"{length}+{shared}": choices(length, shared) for length, shared in pairs}
    found["labels"] = [Continuation(place, ids(3, 150), (token,)) for place, token in enumerate(ids(5, 4))]
    asked = [Continuation(0, ids(1, 9), ids(2, 3)), Continuation(1, ids(1, 9), ids(3, 2))]
    found["priors"] = [*asked, *(Continuation(one.choice, (1,), one.token_ids, True) for one in asked)]
    text = ids(11, 300)
    found["windows"] = [
        Continuation(0, (1,) if start == 0 else (text[start - 1],), text[start : start + 128])
        for start in range(0, 300, 128)
    ]
    return found
