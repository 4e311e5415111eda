"""A cache of what a task asks, so that the task is called once for each prompt."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

from genbench.types import Ask

CHARACTERS = 32_000_000
"""Characters of messages that are kept. A benchmark of 14,000 problems fits. Half a million problems do
not."""
_OVERHEAD = 500
"""Characters that are counted for the Python objects of one entry."""


class AskCache:
    """Asks by key, up to a budget.

    Beyond the budget the least recently used asks are dropped. They are made again if they are needed.

    Args:
        characters: the budget.
    """

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._left = characters
        self._asks: OrderedDict[Hashable, Ask | None] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Ask | None]) -> Ask | None:
        """Return the ask of a key. Call `make` if it is not known."""
        if key in self._asks:
            self._asks.move_to_end(key)
            return self._asks[key]
        ask = self._asks[key] = make()
        self._left -= _size(ask)
        while self._left < 0 and self._asks:
            _, dropped = self._asks.popitem(last=False)
            self._left += _size(dropped)
        return ask


def _size(ask: Ask | None) -> int:
    messages = ask.messages if ask is not None else ()
    return _OVERHEAD + sum(len(message.content) for message in messages)
