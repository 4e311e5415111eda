"""Finds the words that a response gives as its answer: a box, a line "Answer: …", or its last line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from genbench.verifiers.extraction.boxes import last_boxed
from genbench.verifiers.extraction.json_answers import json_answer
from genbench.verifiers.language.announcements import ANSWER_NOUNS, alternation, announcement
from genbench.verifiers.language.commitment import (
    begins_with_denial,
    doubts_value,
    is_doubted,
    later_role,
)
from genbench.verifiers.language.retraction import (
    judges_only,
    names_another,
    second_thought,
    standing,
    without_strikethrough,
)
from genbench.verifiers.notation.latex import unwrap

_TAIL = 20_000
"""Characters from the end in which an announcement is looked for."""
_NAME_CHARS = 4
"""A shorter answer is not looked for in what follows it."""
_AFTER = 3_000
"""Characters after an answer that may take it back."""

# "**Answer:** Paris", "So the final answer: Paris", "答案：巴黎".
_LINE = re.compile(
    rf"^[ \t*_#>\-]*(?:(?:so|thus|therefore|hence),?[ \t]+)?(?:(?:the|my)[ \t]+)?(?:final[ \t]+)?"
    rf"(?:{alternation(ANSWER_NOUNS)})[ \t*_]*[:：][ \t*_]*",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that begins with "Answer:", in any of the languages of `announcements`."""
_SAID = re.compile(announcement(), re.IGNORECASE | re.MULTILINE)
# What chat templates and models put after an answer: "</answer>", "<|im_end|>".
_CLOSERS = re.compile(r"</answer>|<\|[^|>\n]{0,80}\|>|I hope (?:it|this) is correct", re.IGNORECASE)
_MARKS = " \t\r*_`\"'“”‘’«»"
_DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_BEFORE = 100
"""Characters before an announcement that may deny it."""
_EMPTY_LINE = re.compile(r"[\s*_`#>\-]*")

How = Literal["boxed", "stated", "last_line"]


@dataclass(frozen=True, slots=True)
class StatedText:
    """An answer in words, and where it was found."""

    text: str
    how: How
    retracted: bool = False
    """What follows takes it back, or what is before it doubts it."""
    denied: bool = False
    """It begins with "not" or the like, which denies what follows unless it is part of a name."""


@dataclass(frozen=True, slots=True)
class _Announced:
    """Where an announcement gives its answer."""

    start: int
    end: int
    doubted: bool
    judges: bool
    """It only says of an answer that it is right or wrong."""


def final_text(text: str, *, guess: bool = True) -> StatedText | None:
    """Return the words that a response gives as its answer, without marks around them, or None.

    The last box counts, or the last line "Answer: …" if no box follows it. Without either, the last sentence
    such as "The answer is …" counts. Without any announcement the last line is the answer.

    Args:
        guess: whether the last line may be taken. A response that was cut off has no last line.
    """
    text = without_strikethrough(text)
    if (found := json_answer(text)) is not None:
        return StatedText(plain(found), "stated")
    announced = _announced(text)
    boxed = last_boxed(text)
    if boxed is not None and (announced is None or announced.judges or announced.start < boxed.start):
        stated = _checked(plain(boxed.text), "boxed", text[boxed.end : boxed.end + _AFTER])
        doubted = doubts_value(text[max(0, boxed.start - _BEFORE) : boxed.start])
        return replace(stated, retracted=True) if stated is not None and doubted else stated
    if announced is not None:
        after = text[announced.end : announced.end + _AFTER]
        stated = _checked(plain(text[announced.start : announced.end]), "stated", after)
        return replace(stated, retracted=True) if stated is not None and announced.doubted else stated
    lines = [line for line in text[-_TAIL:].splitlines() if not _EMPTY_LINE.fullmatch(line)]
    return StatedText(plain(lines[-1]), "last_line") if guess and lines else None


def _announced(text: str) -> _Announced | None:
    """Return the last announcement with an answer. One that is doubted or judges another one counts last."""
    offset = max(0, len(text) - _TAIL)
    doubted: _Announced | None = None
    judged: _Announced | None = None
    for found in _announcements(text, offset):
        if found.judges:
            judged = judged or found
        elif found.doubted:
            doubted = doubted or found
        else:
            return found if doubted is None else _undoubted(text, found, doubted)
    return doubted or judged


def _announcements(text: str, offset: int) -> Iterator[_Announced]:
    """Yield the announcements that give something on their line, the last one first."""
    tail = text[offset:]
    for pattern in (_LINE, _SAID):
        for match in reversed(list(pattern.finditer(tail))):
            start = _next_text(tail, match.end())
            end = tail.find("\n", start)
            end = len(tail) if end < 0 else end
            if answer := plain(tail[start:end]):
                doubted = is_doubted(tail[max(0, match.start() - _BEFORE) : match.start()])
                judges = pattern is _SAID and judges_only(answer)
                yield _Announced(offset + start, offset + end, doubted, judges)


def _undoubted(text: str, found: _Announced, doubted: _Announced) -> _Announced:
    """Return an announcement before one that is doubted, or that one if both give the same answer."""
    end = found.end
    if found.start < doubted.start < end:
        ends = list(re.finditer(r"[.!?;](?=\s)", text[found.start : doubted.start]))
        end = found.start + ends[-1].start() if ends else end
    same = plain(text[found.start : end]) == plain(text[doubted.start : doubted.end])
    return doubted if same else replace(found, end=end)


def _next_text(text: str, start: int) -> int:
    """Return where the answer begins: here, or on the next line that is not empty."""
    while start < len(text) and text[start] in " \t\r\n*_":
        start += 1
    return start


def _checked(text: str, how: How, after: str) -> StatedText | None:
    """Return an answer, marked as retracted if the response thinks again and names another."""
    if not text:
        return None
    doubt = second_thought(after)
    rest = doubt or ""
    stands = standing(after, spared=_restatements(text))
    confirmed = stands == "confirmed" and not names_another(rest)
    another = doubt is not None and not confirmed and text.casefold() not in rest.casefold()
    # "Answer: Paris. Wait: it is not Paris." A short word such as "no" may be said of something else.
    rejected = len(text) >= _NAME_CHARS and later_role(after, text) == "rejected"
    taken_back = stands == "withdrawn" or another or rejected
    return StatedText(text, how, taken_back, denied=begins_with_denial(text))


def _restatements(text: str) -> frozenset[str]:
    """Return the sentences that only say an answer again. "It is false" takes the answer "False" not back."""
    word = text.casefold()
    return frozenset((word, *(f"{subject} is {word}" for subject in ("it", "this", "that"))))


def plain(text: str) -> str:
    """Return a text without the marks around it: bold, quotes, dollar signs, `\\text{…}`, a final period."""
    closer = _CLOSERS.search(text)
    text = (text[: closer.start()] if closer else text).strip()
    before = ""
    while before != text:
        before = text
        text = text.strip(_MARKS).removesuffix(".").rstrip()
        for opening, closing in _DELIMITERS:
            if (
                len(text) > len(opening) + len(closing)
                and text.startswith(opening)
                and text.endswith(closing)
            ):
                text = text[len(opening) : -len(closing)].strip()
    return unwrap(text).strip() if "\\" in text else text
