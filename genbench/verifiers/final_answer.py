"""Finds the answer that a response settles on: its last box, else last announcement, else last value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from genbench.verifiers.phrases import CONNECTIVES, alternation, announcement

How = Literal["boxed", "stated", "bare", "last"]

_TAIL = 20_000
"""Characters from the end in which an answer is looked for where no box is found."""
_STATEMENT = 600
"""Characters after an announcement in which its answer stands."""
_BARE = 400
"""A text up to this long may be an answer without any words around it."""
_BOXES, _BOX_CHARS, _GAP = 64, 10_000, 60
"""How many boxes are looked at, how long one may be, and how far apart two of one list may stand:
without these bounds a text of nothing but open boxes takes quadratic time."""

_BOX = re.compile(r"\\(?:boxed|fbox|framebox)(?![A-Za-z])\s*")
_BEGIN_OF_BOX = re.compile(r"<\|begin_of_box\|>(.*?)<\|end_of_box\|>", re.DOTALL)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_UNBRACED = re.compile(r"[^\s$\\{}.,]+")
_AND_OR = rf"(?:{alternation(CONNECTIVES)})"
_GAP_TOKENS = re.compile(
    rf"(?:\s|\$|\\[,;:!\[\]()]|\\\\|\\q?quad|~|[,;&.、，]|\\text\{{[^{{}}]{{0,40}}\}}|\b{_AND_OR}\b|[和或])*"
)
_JOINS = re.compile(rf"[,;、，]|\b{_AND_OR}\b|[和或]")

_ANNOUNCED = re.compile(announcement(), re.IGNORECASE | re.MULTILINE)
_SPAN = re.compile(
    r"(?<!\\)\$\$(?P<dd>.+?)(?<!\\)\$\$|\\\[(?P<br>.+?)\\\]|\\\((?P<pa>.+?)\\\)"
    r"|(?<![\\\d])\$(?P<d>(?:\\\$|[^$\n])+?)(?<!\\)\$",
    re.DOTALL,
)
_PROSE = re.compile(r"[A-Za-z]{2,}[,']?\s+[A-Za-z]{2,}|[A-Za-z]{4,}(?:\s*:|\s+[-+]?\d)")
_OPAQUE = re.compile(
    r"\\[a-zA-Z]*text[a-z]*\s*\{[^{}]*\}|\\mbox\s*\{[^{}]*\}|\\[A-Za-z]+\*?(?:\{[a-z]*matrix\})?"
)
_NUMBER = re.compile(
    r"(?<![\w.])[-+−]?\$?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)?(?:(?<=\d)[.,]\d+|(?<![\d.])\.\d+|(?<=\d))"
    r"(?:\s*(?:\*|/|\^|\+|-|−|×)\s*-?\(?-?\d+(?:\.\d+)?\)?)*(?:\s*\\?%|\s*(?:percent|pct)\b)?"
)
_CLOSERS = re.compile(
    r"\s*I hope (?:it|this) is correct.*$|</answer>.*$|<\|[^|>]*\|>.*$", re.DOTALL | re.IGNORECASE
)
_NEXT_IS = re.compile(r".*(?:\bis\b|\bare\b|\bequals\b|:|[是为])\s*[*_]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Stated:
    """An answer as it is written, and where it was found."""

    text: str
    how: How


def final_answer(text: str, *, guess: bool = True) -> Stated | None:
    """The answer that `text` settles on, as LaTeX or plain text; None where it states none.

    The last box wins over any announcement; boxes that only commas, "and" or "or" part are one
    list. Without `guess` the last formula or number of a text that announces nothing is no answer.
    """
    if (boxed := last_boxed(text)) is not None:
        return Stated(boxed, "boxed")
    tail = text[-_TAIL:]
    if (stated := _last_announced(tail)) is not None:
        return Stated(stated, "stated")
    bare = _CLOSERS.sub("", tail).strip().strip("*").strip()
    if bare and len(bare) <= _BARE and reads_as_mathematics(bare):
        return Stated(bare, "bare")
    last = _last_value(tail) if guess else None
    return None if last is None else Stated(last, "last")


def last_boxed(text: str) -> str | None:
    """Content of the last closed, non-empty box, or of the list of boxes that it ends."""
    found = boxes(text)
    if not found:
        return None
    parts = [found[-1]]
    for box in reversed(found[:-1]):
        gap = text[box[1] : parts[0][0]]
        if len(gap) > _GAP or "\n\n" in gap or not _is_joint(gap):
            break
        parts.insert(0, box)
    return ", ".join(dict.fromkeys(text[start:end] for _, _, start, end in parts))


def _is_joint(gap: str) -> bool:
    """Whether what stands between two boxes makes them one list."""
    return not gap.strip("$ ") or bool(_GAP_TOKENS.fullmatch(gap) and _JOINS.search(gap))


def boxes(text: str) -> list[tuple[int, int, int, int]]:
    """(start, end, content start, content end) of the last outermost boxes, in order."""
    found = [(m.start(), m.end(), m.start(1), m.end(1)) for m in _BEGIN_OF_BOX.finditer(text) if m[1].strip()]
    done = 0
    for match in list(_BOX.finditer(text))[-_BOXES:]:
        if match.start() < done:
            continue
        span = _braced(text, match.end())
        if span is not None and text[span[0] : span[1]].strip():
            done = span[2]
            found.append((match.start(), span[2], span[0], span[1]))
    return sorted(found)


def _braced(text: str, start: int) -> tuple[int, int, int] | None:
    """(content start, content end, end) of the group at `start`; `\\boxed 5` has none and is read too."""
    if text[start : start + 1] != "{":
        bare = _UNBRACED.match(text, start)
        return (bare.start(), bare.end(), bare.end()) if bare else None
    depth = 0
    for match in _BRACES.finditer(text, start, start + _BOX_CHARS):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return start + 1, match.start(), match.end()
    return None


def _last_announced(text: str) -> str | None:
    for match in reversed(list(_ANNOUNCED.finditer(text))):
        statement = _CLOSERS.sub("", text[match.end() : match.end() + _STATEMENT]).lstrip(" \t\r\n*_")
        if (value := _value_of(statement)) is not None:
            return value
    return None


def _value_of(statement: str) -> str | None:
    """The value in what follows an announcement: a formula, a number, or a few words."""
    if run := _leading_spans(statement):
        return run
    line = re.split(r"\n|(?<=[^\d\s])\.\s|(?<=\d)\.\s+(?=[A-Z])", statement, maxsplit=1)[0].strip()
    line = line.replace("**", "").rstrip(".").strip().strip('"“”')
    if not line:
        return None
    if reads_as_mathematics(line) and "$" not in line:
        return line
    if number := _NUMBER.match(line):
        return number[0]
    shorter = _NEXT_IS.sub("", line)
    if shorter != line and (value := _value_of(shorter)) is not None:
        return value
    return _last_value(line) or (line if len(line.split()) <= 6 else None)


def _leading_spans(statement: str) -> str:
    """The formulas that a statement begins with, joined where only commas or "and" part them."""
    parts: list[str] = []
    end = 0
    for match in _SPAN.finditer(statement):
        gap = statement[end : match.start()]
        if (parts and not (_GAP_TOKENS.fullmatch(gap) and _JOINS.search(gap))) or (
            not parts and gap.strip('"“ ')
        ):
            break
        if _is_prose(match.group(match.lastgroup or 0)):
            break
        parts.append(match.group(match.lastgroup or 0).strip())
        end = match.end()
    percent = "%" if len(parts) == 1 and re.match(r"\s*(?:\\?%|percent|pct)", statement[end:]) else ""
    return ", ".join(parts) + percent


def _last_value(text: str) -> str | None:
    """The last formula or number of a text."""
    spans = [match for match in _SPAN.finditer(text) if not _is_prose(match.group(match.lastgroup or 0))]
    numbers = [match for match in _NUMBER.finditer(text) if any(char.isdigit() for char in match[0])]
    if spans and (not numbers or numbers[-1].start() < spans[-1].end()):
        return _leading_spans(text[spans[-1].start() :]) or None
    return numbers[-1][0].strip() if numbers else None


def reads_as_mathematics(text: str) -> bool:
    """Whether a text is one expression, not a sentence: no two words in a row, no number after one."""
    return not _PROSE.search(_OPAQUE.sub(" ; ", text)) and "\n\n" not in text


def _is_prose(span: str) -> bool:
    """Whether what stands between two dollar signs is text: ``costs $5 and later $7``."""
    return bool(_PROSE.search(_OPAQUE.sub(" ; ", span)))
