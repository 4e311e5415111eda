"""The problems that a limit leaves, and those of one part of a job array, chosen by their identity."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from genbench.errors import ConfigError


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


_FORM = re.compile(r"([0-9]{1,6})/([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` (from 1) of `of` parts. Each problem is in exactly one of them."""

    index: int
    of: int

    @classmethod
    def read(cls, text: str) -> Shard:
        """Read `2/8`.

        Raises:
            ConfigError: no such text, or no such part.
        """
        found = _FORM.fullmatch(text.strip())
        if found is None:
            raise ConfigError(f"--shard {text}: wanted I/N, such as 2/8 for the second of eight parts")
        shard = cls(int(found[1]), int(found[2]))
        if not 1 <= shard.index <= shard.of:
            raise ConfigError(f"--shard {text}: parts are counted from 1 to {shard.of}")
        return shard

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"

    @property
    def folder(self) -> str:
        """Return the name of the folder with this part's runs."""
        return f"shard-{self.index}-of-{self.of}"

    def contains(self, task: str, problem_id: str) -> bool:
        """Tell whether the problem is in this part.

        The task is hashed too: a limit takes the smallest hashes of only the ids, and parts of what it
        leaves must be even.
        """
        identity = json.dumps([task, problem_id]).encode()
        return int.from_bytes(hashlib.sha256(identity).digest()[:8], "big") % self.of == self.index - 1
