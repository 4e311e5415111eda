"""Finds the answer that a response settles on: its last box, else last announcement, else last value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from genbench.verifiers.extraction.boxes import Boxed, last_boxed
from genbench.verifiers.extraction.json_answers import json_answer
from genbench.verifiers.extraction.statements import Value, last_value, read_statement, reads_as_mathematics
from genbench.verifiers.language.announcements import announcement
from genbench.verifiers.language.commitment import (
    doubts_value,
    is_denied,
    is_doubted,
    later_role,
    read_claim,
)
from genbench.verifiers.language.hedging import Withheld, withheld_after
from genbench.verifiers.language.retraction import (
    correction_start,
    final_announcements,
    is_withdrawn,
    replacements,
    without_strikethrough,
)

How = Literal["boxed", "stated", "bare", "last"]

_TAIL = 20_000
"""Characters from the end in which an answer is looked for if no box is found."""
_STATEMENT = 600
"""Characters after an announcement that may contain its answer."""
_BARE = 400
"""A text up to this long may be an answer without any words around it."""
_AFTER = 3_000
"""Characters after a box that may take it back."""
_BEFORE = 100
"""Characters before an answer that may deny it."""

_ANNOUNCED = re.compile(announcement(), re.IGNORECASE | re.MULTILINE)
_CLOSERS = re.compile(
    r"(?<!\s)\s*+I hope (?:it|this) is correct.*$|</answer>.*$|<\|[^|>]*\|>.*$", re.DOTALL | re.IGNORECASE
)
"""What follows an answer. Blanks are read from the first one only, so that many of them take linear time."""
_NO_SOLUTION = re.compile(
    r"(?:there (?:is|are|exists?)|has|have|thus|hence|therefore|so),? no (?:real )?(?:solutions?|roots?)\W*$",
    re.IGNORECASE,
)
"""What a text without a value ends with if it says that the set of solutions is empty."""
_FACTORIAL = re.compile(r"\d{1,5}!")
"""A factorial only if it is the whole text: in a sentence the sign is an exclamation mark."""
_VALUE = re.compile(r"[^\s.,;!?]+(?:[.,]\d+)*")
_MATHEMATICS = re.compile(r"[\d\\√π∞]|^[A-Za-z]$")


@dataclass(frozen=True, slots=True)
class Stated:
    """An answer as it is written, where it was found, and why it commits to nothing if it does not."""

    text: str
    how: How
    withheld: Withheld | None = None


def final_answer(text: str, *, guess: bool = True) -> Stated | None:
    """Return the answer that `text` settles on, as LaTeX or plain text, or None if it states none.

    The last box wins, unless a final announcement or a correction follows it. Boxes that only commas,
    "and" or "or" part are one list. Without `guess` the last formula or number of a text that announces
    nothing is no answer.
    """
    text = without_strikethrough(text)
    if (found := json_answer(text)) is not None:
        inner = last_boxed(found)
        return Stated(inner.text if inner else found, "stated")
    if (boxed := last_boxed(text)) is not None:
        return _after_box(text, boxed)
    tail = text[-_TAIL:]
    if (stated := _last_announced(tail)) is not None:
        return stated
    bare = _CLOSERS.sub("", tail).strip().strip("*").strip()
    if bare and len(bare) <= _BARE and reads_as_mathematics(bare):
        return _bare(bare)
    last = last_value(_CLOSERS.sub("", tail)) if guess else None
    if last is None:
        return Stated("\\emptyset", "last") if guess and _NO_SOLUTION.search(tail[-_STATEMENT:]) else None
    return _revised(tail, Stated(last.text, "last", last.withheld))


def _after_box(text: str, boxed: Boxed) -> Stated:
    """Return the box, or what the text after it puts in its place."""
    stated = Stated(boxed.text, "boxed")
    before = text[max(0, boxed.start - _BEFORE) : boxed.start]
    if is_denied(before[-40:], "box") or doubts_value(before):
        return Stated(boxed.text, "boxed", "negated")
    after = text[boxed.end : boxed.end + _AFTER]
    if len(after) < 2:
        return stated
    if withheld_after(after.lstrip("$ "), 0) == "negated":
        stated = Stated(boxed.text, "boxed", "negated")
    for start in reversed(final_announcements(after)):
        value = _mathematical(read_statement(_cleaned(after[start : start + _STATEMENT])))
        if value is not None:
            return Stated(value.text, "stated", value.withheld)
    return _corrected(after, stated, after)


def _corrected(after: str, stated: Stated, rest: str) -> Stated:
    """Return a statement, or the value that a correction after it puts in its place.

    Args:
        after: what follows the announcement or the box. It may begin with the statement itself.
        rest: what follows the statement.
    """
    taken_back = is_withdrawn(rest) or later_role(rest, stated.text) == "rejected"
    withdrawn = Stated(stated.text, stated.how, "retracted") if taken_back else stated
    # "The answer is not 14. It is 15." needs no "wait" before its correction.
    start = 0 if stated.withheld == "negated" else correction_start(after)
    if start is None:
        return withdrawn
    doubt = after[start:]
    begins = {*replacements(doubt), *(match.end() for match in _ANNOUNCED.finditer(doubt))}
    for begin in sorted(begins, reverse=True):
        value = _mathematical(read_statement(_cleaned(doubt[begin : begin + _STATEMENT])))
        if value is not None and value.withheld is None and not _is_rejected(doubt, begin):
            return Stated(value.text, "stated")
    return withdrawn


def _is_rejected(text: str, at: int) -> bool:
    """Return whether the clause of the value that begins at `at` denies or supposes it: "it is not 6"."""
    before = re.split(r"[.!?\n](?=\s)", text[:at])[-1]
    found = _VALUE.match(text, at)
    claim = read_claim(before[-_BEFORE:], text[found.end() if found else at :][:_BEFORE], announced=True)
    return claim.role in ("rejected", "hypothetical", "alternative")


def _mathematical(value: Value | None) -> Value | None:
    """Return a value that has mathematics in it, not words about one such as "boxed above"."""
    return value if value is not None and _MATHEMATICS.search(value.text) else None


def _last_announced(text: str) -> Stated | None:
    """Return what the last announcement states that is not denied: "I doubt that the answer is 5"."""
    doubted: Stated | None = None
    for match in reversed(list(_ANNOUNCED.finditer(text))):
        value = read_statement(_cleaned(text[match.end() : match.end() + _STATEMENT]))
        if value is None:
            continue
        if is_doubted(text[max(0, match.start() - _BEFORE) : match.start()]):
            doubted = doubted or Stated(value.text, "stated", "negated")
        elif doubted is not None and doubted.text == value.text:
            return doubted
        else:
            after = text[match.end() :][:_AFTER]
            rest = after.partition(value.text)[2] or after
            return _corrected(after, Stated(value.text, "stated", value.withheld), rest)
    return doubted


def _bare(text: str) -> Stated:
    """Return a text that is nothing but an answer: ``3 or 5``, ``< 204``, ``not 204``."""
    if _FACTORIAL.fullmatch(text):
        return Stated(text, "bare")
    value = read_statement(text)
    if value is None or (value.withheld is None and "\n" not in text):
        return Stated(text if value is None or len(value.text) < len(text) - 12 else value.text, "bare")
    return Stated(value.text if value.withheld else text, "bare", value.withheld)


def _revised(text: str, stated: Stated) -> Stated:
    """Return a guessed answer, withheld if the last sentence takes it back."""
    place = text.rfind(stated.text)
    after = text[place + len(stated.text) :] if place >= 0 else re.split(r"[.!?\n]\s+", text.strip())[-1]
    return Stated(stated.text, stated.how, "retracted") if is_withdrawn(after[:_AFTER]) else stated


def _cleaned(statement: str) -> str:
    return _CLOSERS.sub("", statement).lstrip(" \t\r\n*_")
