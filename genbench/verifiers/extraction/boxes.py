"""Finds the boxes of a response: ``\\boxed{…}``, ``\\fbox{…}`` and ``<|begin_of_box|>…<|end_of_box|>``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from genbench.verifiers.extraction.words import JOINTS, alternation

_BOXES, _BOX_CHARS, _GAP = 64, 10_000, 60
"""How many boxes are looked at, how long one may be, and how far apart two of one list may be.
Without these bounds a text of nothing but open boxes takes quadratic time."""

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*")
_BEGIN, _END = "<|begin_of_box|>", "<|end_of_box|>"
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_UNBRACED = re.compile(r"[^\s$\\{}.,]+")
_AND_OR = rf"(?:{alternation(JOINTS)})"
_NAMED = r"(?:\\?[A-Za-z]+(?:_\{?\w+\}?)?\s*(?:=|\\in(?![A-Za-z])))"
# What may be between two boxes of one list: `$ and $y = `, `, \quad`, `\text{ or }`.
_GAP_TOKENS = re.compile(
    rf"(?:\s|\$|\\[,;:!\[\]()]|\\\\|\\q?quad|~|[,;&.、，]|\\(?:text|mbox)\{{[^{{}}]{{0,40}}\}}|\b{_AND_OR}\b|[和或]|{_NAMED})*"
)
_JOINS = re.compile(rf"[,;、，]|\b{_AND_OR}\b|[和或]")


@dataclass(frozen=True, slots=True)
class Boxed:
    """The last box of a text, or the list of boxes that it ends."""

    text: str
    start: int
    end: int


def last_boxed(text: str) -> Boxed | None:
    """Return the content of the last closed, non-empty box, or of the list of boxes that it ends."""
    return next(iter(boxes_with_lists(text)[-1:]), None)


def boxes_with_lists(text: str) -> list[Boxed]:
    """Return the closed boxes that are not empty, in order.

    Boxes that only commas, "and" or "or" part are one list: ``x=\\boxed{3}$ or $x=\\boxed{5}`` is
    ``3, 5``.
    """
    found: list[Boxed] = []
    last: list[str] = []
    for start, end, inside, inside_end in boxes(text):
        content = text[inside:inside_end]
        gap = text[found[-1].end : start] if found else ""
        if found and len(gap) <= _GAP and "\n\n" not in gap and _is_joint(gap):
            last.append(content)
            found[-1] = Boxed(", ".join(dict.fromkeys(last)), found[-1].start, end)
        else:
            last = [content]
            found.append(Boxed(content, start, end))
    return found


def joins_values(gap: str) -> bool:
    """Return whether what is between two values makes them one list."""
    return bool(_GAP_TOKENS.fullmatch(gap) and _JOINS.search(gap))


def _is_joint(gap: str) -> bool:
    return not gap.strip("$ ") or joins_values(gap)


def boxes(text: str) -> list[tuple[int, int, int, int]]:
    """Return (start, end, content start, content end) of the last outermost boxes, in order."""
    found = list(_marked(text)) if "<|end_of_box|>" in text else []
    done = 0
    for match in list(_BOX.finditer(text))[-_BOXES:]:
        if match.start() < done:
            continue
        span = _braced(text, match.end())
        if span is not None and text[span[0] : span[1]].strip():
            done = span[2]
            found.append((match.start(), span[2], span[0], span[1]))
    return sorted(found)


def _marked(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield the boxes between marks. One pattern would search the whole text for each opening mark."""
    at = 0
    while (start := text.find(_BEGIN, at)) >= 0 and (end := text.find(_END, start)) >= 0:
        at = end + len(_END)
        if text[start + len(_BEGIN) : end].strip():
            yield start, at, start + len(_BEGIN), end


def _braced(text: str, start: int) -> tuple[int, int, int] | None:
    """Return (content start, content end, end) of the group at `start`, which may lack its braces."""
    if text[start : start + 1] != "{":
        bare = _UNBRACED.match(text, start)
        return (bare.start(), bare.end(), bare.end()) if bare else None
    depth = 0
    for match in _BRACES.finditer(text, start, start + _BOX_CHARS):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return start + 1, match.start(), match.end()
    return None
