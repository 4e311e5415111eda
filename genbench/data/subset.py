"""The problems that a limit leaves: always the same ones, and more of them under a larger limit."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def nested_subset(ids: Sequence[str], n: int | None) -> list[str]:
    """Return the `n` ids with the smallest SHA-256, in their given order. None returns all of them.

    The subset of a smaller limit is part of that of a larger one, and neither depends on the
    order of the rows.
    """
    if n is None or n >= len(ids):
        return list(ids)
    kept = set(
        sorted(ids, key=lambda name: hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest())[:n]
    )
    return [name for name in ids if name in kept]
