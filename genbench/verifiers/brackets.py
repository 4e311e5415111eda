"""Functions that find what is outside all brackets of an expression."""

from __future__ import annotations

import re

_BRACKETS = r"(?<!\\)[(\[{]|(?<!\\)[)\]}]|\\[{}]"


def split_outside(text: str, separator: str) -> list[str]:
    """Split `text` at each match of the regex `separator` that no bracket encloses.

    Brackets need not be of one kind: ``[0, 1)`` is one part.
    """
    parts, start, depth = [], 0, 0
    for match in re.finditer(rf"(?P<bracket>{_BRACKETS})|{separator}", text):
        if match["bracket"]:
            depth += 1 if match[0][-1] in "([{" else -1
        elif depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def is_balanced(text: str) -> bool:
    """Return whether no bracket closes before it opens and none stays open."""
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return False
    return depth == 0


def closing_index(text: str, start: int) -> int | None:
    """Return the index of the bracket that closes the one at `start`, or None."""
    depth = 0
    for index in range(start, len(text)):
        depth += (text[index] in "([{") - (text[index] in ")]}")
        if depth == 0:
            return index
    return None
