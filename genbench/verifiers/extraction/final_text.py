"""Finds the words that a response gives as its answer: a box, a line "Answer: …", or its last line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from genbench.types import ReadBy
from genbench.verifiers.extraction.protocol import (
    before_new_question,
    begins_with_denial,
    is_retracted,
    prepared,
    speaks_of_answer,
    statements,
)
from genbench.verifiers.notation.latex import unwrap

_TAIL = 20_000
"""Characters from the end in which a last line is looked for."""
_MARKS = " \t\r\n*_`\"'“”‘’«»"
_DELIMITERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))
_EMPTY_LINE = re.compile(r"[\s*_`#>\-]*")


@dataclass(frozen=True, slots=True)
class StatedText:
    """An answer in words, and how it was read."""

    text: str
    how: ReadBy
    retracted: bool = False
    """A sentence after it takes it back, or the words before it deny it."""
    denied: bool = False
    """It begins with "not" or the like, which denies what follows unless it is part of a name."""


def final_text(text: str, *, guess: bool = True) -> StatedText | None:
    """Return the words that a response gives as its answer, without marks around them, or None.

    The last announcement counts. Without any the last line is the answer.

    Args:
        guess: whether the last line may be taken. A response that was cut off has no last line.
    """
    text = before_new_question(prepared(text))
    for said in statements(text):
        content = plain(said.content)
        if not content or (said.how == "announcement" and speaks_of_answer(content)):
            continue
        begins = begins_with_denial(content)
        retracted = is_retracted(text[said.end :], content) or (said.denied and not begins)
        return StatedText(content, said.how, retracted, denied=begins)
    lines = [line for line in text[-_TAIL:].splitlines() if not _EMPTY_LINE.fullmatch(line)]
    if not lines:
        return None
    how: ReadBy = "whole" if len(lines) == 1 else "guess"
    return StatedText(plain(lines[-1]), how) if guess or how == "whole" else None


def plain(text: str) -> str:
    """Return a text without the marks around it: bold, quotes, dollar signs, `\\text{…}`, a final period."""
    text = text.strip()
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
