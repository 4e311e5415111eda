"""The recipe of a generated prompt, which a run folder has instead of the text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from genbench.errors import DataError, nearest
from genbench.generators.maker import KNOWN_PARTS, VERSION, RowKey
from genbench.generators.sizing import Size
from genbench.types import Message

BUILT_IN = "genbench"
"""The generator of RULER, needles and long chats. Other names are those of a team's own generators."""
_LARGEST = 20_000_000
"""The most units of a prompt: those of ten million tokens."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that a generated prompt is made from, except the texts of datasets.

    `generator` is genbench, or `PATH.py:function` of a team's own generator, as the suite names it. `version`
    is then the SHA-256 of the file.
    """

    version: str
    seed: int
    haystack: str
    key: RowKey
    units: int
    filler: int = 0
    generator: str = BUILT_IN

    @property
    def size(self) -> Size:
        """Return how long the prompt is."""
        return Size(self.units, self.filler)

    def to_json(self) -> dict[str, Any]:
        """Return the recipe as JSON."""
        own = asdict(self)
        return {
            **{name: own[name] for name in ("generator", "version", "seed", "haystack")},
            **own["key"],
            "units": self.units,
            "filler": self.filler,
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Recipe:
        """Return the recipe of a record.

        Raises:
            DataError: it is not a recipe, or that of another version of genbench's generator.
        """
        try:
            found = cls(
                version=record["version"],
                seed=record["seed"],
                haystack=record["haystack"],
                key=RowKey(record["part"], record["length"], record["index"], record.get("depth")),
                units=record["units"],
                filler=record["filler"],
                generator=str(record["generator"]),
            )
        except (KeyError, TypeError) as error:
            raise DataError(f"{dict(record)!r:.200}: no recipe of a generated prompt ({error!r})") from error
        if found.is_built_in and found.version != VERSION:
            raise DataError(
                f"the prompt was made by the generator {found.generator} {found.version}, and this is "
                f"{BUILT_IN} {VERSION}; install the version of genbench that the manifest names"
            )
        _check_sizes(found)
        return found

    @property
    def is_built_in(self) -> bool:
        """Tell whether genbench's own generator made the prompt."""
        return self.generator == BUILT_IN

    @property
    def words(self) -> str:
        """Return the recipe for people."""
        key = self.key
        depth = "" if key.depth is None else f", depth {key.depth:g} %"
        length = f", {key.length:,} tokens" if key.length else ""
        haystack = f", haystack {self.haystack}" if self.haystack else ""
        return (
            f"generator {self.generator} {self.version[:12]}, {key.part}{length}{depth}, row {key.index}, "
            f"seed {self.seed}{haystack}"
        )


def _check_sizes(recipe: Recipe) -> None:
    """Refuse a recipe that would fill the memory. A run folder may come from anyone."""
    key = recipe.key
    numbers = (key.length, key.index, recipe.units, recipe.filler)
    if not all(isinstance(number, int) and 0 <= number <= _LARGEST for number in numbers):
        raise DataError(f"the recipe of a generated prompt has the sizes {numbers}, wanted 0 to {_LARGEST:,}")
    if recipe.is_built_in and (not isinstance(key.part, str) or key.part not in KNOWN_PARTS):
        raise DataError(
            f"the recipe of a generated prompt is of '{key.part}'{nearest(str(key.part), KNOWN_PARTS)}"
        )


def text_digest(messages: Sequence[Message]) -> str:
    """Return the SHA-256 of the texts of a prompt, which shows that a prompt made again is the same."""
    said = [[message.role, message.content] for message in messages]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()
