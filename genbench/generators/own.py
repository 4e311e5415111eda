"""Rows of a team's own generator: a function of a Python file, which runs in the sandbox."""

from __future__ import annotations

import ast
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from genbench.errors import ConfigError, DataError, nearest
from genbench.generators import row_driver
from genbench.generators.haystacks import hide_in_lines
from genbench.generators.maker import RowKey
from genbench.generators.sizing import PieceCounts, Size, most_within
from genbench.sandbox.threads import SandboxThreads, SandboxWish
from genbench.types import Message

_KEPT_CHARACTERS = 50_000_000
"""Characters of rows that are kept. A row is needed a few times, and each time it would be made again."""
_KEYS = ("before", "units", "hidden", "after", "prefix", "reference", "strata")
_MOST_LEFT = 100
"""A prompt is refused if its units leave more than one token of so many free."""


@dataclass(frozen=True, slots=True)
class GeneratorFile:
    """The source of a Python file, and the name of the function in it that makes rows."""

    source: str
    function: str
    path: str

    @classmethod
    def read(cls, named: str) -> GeneratorFile:
        """Return the generator that a suite names as `PATH.py:function`. The file is read, not executed.

        Raises:
            ConfigError: there is no such file or function.
        """
        path, _, function = named.rpartition(":")
        if not path or not function.isidentifier():
            raise ConfigError(f"generated: generator is '{named}', wanted PATH.py:function")
        try:
            source = Path(path).read_text(encoding="utf-8")
            tree = ast.parse(source, path)
        except (OSError, ValueError, SyntaxError) as error:
            raise ConfigError(f"generated: generator: {path} cannot be read: {error}") from None
        names = [item.name for item in tree.body if isinstance(item, ast.FunctionDef)]
        if function not in names:
            known = nearest(function, names)
            raise ConfigError(
                f"generated: generator: {path}: no function '{function}' at the top level{known}"
            )
        return cls(source, function, path)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        return hashlib.sha256(self.source.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class OwnRow:
    """One row of a generator. A unit is one text of `units`, on lines of its own."""

    least: ClassVar[int] = 0
    """No unit."""
    takes_filler: ClassVar[bool] = False
    """Nothing but the generator's own texts is in the prompt."""
    before: str
    units: tuple[str, ...]
    hidden: tuple[tuple[float, str], ...]
    after: str
    prefix: str
    reference: Any
    strata: Mapping[str, str]
    where: str
    """The generator and the row, for messages."""

    @property
    def characters(self) -> int:
        """Return the characters of the row."""
        return len(self.before) + len(self.after) + sum(map(len, self.units))

    def units_within(self, tokens: int, counts: PieceCounts) -> tuple[int, int]:
        """Return how many units fit, and their tokens.

        Raises:
            DataError: all units fit, and much is left.
        """
        costs = counts.of([f"{unit}\n" for unit in self.units])
        sums = np.array([0, *accumulate(costs)], dtype=np.int64)
        units, used = most_within(sums, tokens)
        if units == len(self.units) and (tokens - int(sums[-1])) * _MOST_LEFT > tokens:
            raise DataError(
                f"{self.where}: it has {len(self.units)} units of {int(sums[-1]):,} tokens, and the length "
                f"has space for {tokens:,}; return more units"
            )
        return units, used

    def messages(self, size: Size) -> tuple[Message, ...]:
        """Return the prompt: what comes first, the units with what is hidden among them, what comes last."""
        middle = hide_in_lines(self.units[: size.units], self.hidden)
        return (Message("user", "\n".join(text for text in (self.before, middle, self.after) if text)),)


class OwnRowMaker:
    """Makes the rows of a team's generator, each in a process of its own.

    Args:
        file: the generator.
        seed: the seed of all rows.
        wish: the sandbox and its limits.
    """

    def __init__(self, file: GeneratorFile, seed: int, wish: SandboxWish) -> None:
        self._file, self._seed = file, seed
        self._sandboxes = SandboxThreads(wish)
        self._text = Path(row_driver.__file__).read_text(encoding="utf-8")
        self._kept: OrderedDict[RowKey, OwnRow] = OrderedDict()
        self._characters = 0

    def row(self, key: RowKey) -> OwnRow:
        """Return a row. It depends on nothing but the file, the seed and the key.

        Raises:
            DataError: the generator fails, or returns something else than a row.
            UnavailableError: there is no sandbox on this machine.
        """
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        found = self._kept[key] = self._made(key)
        self._characters += found.characters
        while self._characters > _KEPT_CHARACTERS and len(self._kept) > 1:
            self._characters -= self._kept.popitem(last=False)[1].characters
        return found

    def close(self) -> None:
        """End the sandboxes."""
        self._sandboxes.close()

    def _made(self, key: RowKey) -> OwnRow:
        order = {
            "source": self._file.source,
            "path": self._file.path,
            "function": self._file.function,
            "seed": self._seed,
            "index": key.index,
            "length": key.length or None,
        }
        returned = self._sandboxes.call(self._text, row_driver.make.__name__, order)
        where = f"generator {self._file.path}:{self._file.function}"
        if returned.failure is not None:
            last = (returned.why.strip().splitlines() or ["it ended"])[-1]
            raise DataError(f"{where}: row {key.index}: {returned.failure}: {last}")
        try:
            told = json.loads(returned.value)
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(f"{where}: row {key.index} is not JSON: {error}") from None
        if "failed" in told:
            raise DataError(f"{where}: {told['failed']}")
        return _row(told["row"], f"{where}: row {key.index}")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _are_hidden(value: Any) -> bool:
    return isinstance(value, Sequence) and all(
        isinstance(item, list)
        and len(item) == 2
        and isinstance(item[0], int | float)
        and 0 <= item[0] <= 1
        and isinstance(item[1], str)
        for item in value
    )


_WANTED: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "before": ("a text", lambda value: isinstance(value, str)),
    "after": ("a text", lambda value: isinstance(value, str)),
    "prefix": ("a text", lambda value: isinstance(value, str)),
    "units": ("a list of texts", _are_texts),
    "hidden": ("a list of [depth from 0 to 1, text]", _are_hidden),
    "strata": ("an object of texts", lambda value: isinstance(value, dict) and _are_texts([*value.values()])),
}


def _row(given: Any, where: str) -> OwnRow:
    """Return what a generator returned as a row.

    Raises:
        DataError: it is something else.
    """
    if not isinstance(given, dict) or "reference" not in given:
        raise DataError(f"{where} is {str(given)[:100]!r}, wanted an object with 'reference'")
    for name, value in given.items():
        if name not in _KEYS:
            raise DataError(f"{where}: unknown key '{name}'{nearest(name, _KEYS)}")
        wanted, is_right = _WANTED.get(name, ("JSON", lambda value: True))
        if not is_right(value):
            raise DataError(f"{where}: '{name}' is {str(value)[:100]!r}, wanted {wanted}")
    hidden = sorted((float(depth), str(text)) for depth, text in given.get("hidden", ()))
    return OwnRow(
        before=given.get("before", ""),
        units=tuple(given.get("units", ())),
        hidden=tuple(hidden),
        after=given.get("after", ""),
        prefix=given.get("prefix", ""),
        reference=given["reference"],
        strata=given.get("strata", {}),
        where=where,
    )
