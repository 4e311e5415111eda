"""Completions that no working model gives (empty, padding, one token repeated), and missing answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from genbench.types import Answer, Status

Degeneracy = Literal["empty", "padding", "one token repeated"]

MANY = 0.5
"""The share of degenerate completions from which a checkpoint is suspected rather than its answers."""
_LONGEST_TOKEN = 32
"""Characters of the longest unit whose repetition counts, such as `<|finetune_right_pad_id|>`."""
_TIMES = 8
_SEEN = 4 * _LONGEST_TOKEN
# <pad>, <|im_end|>, <｜▁pad▁｜>: DeepSeek's tokens have bars and blanks of full width
_MARKS = re.compile(r"(?:<[|｜]?[\w▁:.-]{1,40}[|｜]?>\s*)+")


def degeneracy_of(text: str) -> Degeneracy | None:
    """Return in which way a completion is degenerate, or None.

    Time is linear in the text. It is constant for almost every ordinary text.
    """
    if not text or text.isspace():
        return "empty"
    if _is_repetition(text):
        return "one token repeated"
    if text[0] == "<" and _MARKS.fullmatch(text):
        return "padding"
    return None


UNANSWERED: frozenset[Status] = frozenset({"no_answer", "truncated", "unclosed_trace"})
"""The statuses of samples without an answer."""


def unanswered(answers: Sequence[Answer]) -> Status | None:
    """Return the status of a sample without an answer, or None if it has one.

    An answer is not there if the trace is unclosed, the text is empty or degenerate, or it was cut off. Such
    a sample of a safety benchmark is neither safe nor unsafe.
    """
    if any(answer.trace_status == "unclosed" for answer in answers):
        return "unclosed_trace"
    if any(degeneracy_of(answer.text) is not None for answer in answers):
        return "no_answer"
    return "truncated" if any(answer.truncated for answer in answers) else None


def _is_repetition(text: str) -> bool:
    """Return whether the text is one short unit many times. The last unit may be cut off."""
    begin = text[:_SEEN]
    for size in range(1, min(_LONGEST_TOKEN, len(text) // _TIMES) + 1):
        if begin[size:] == begin[:-size] and text[size:] == text[:-size]:
            return True
    return False


def alarm(counts: Mapping[Degeneracy, int], of: int, what: str) -> str | None:
    """Return a line for people if at least half of `of` completions are degenerate, or None.

    Args:
        what: which completions they are, as "the first 50 samples".
    """
    bad = sum(counts.values())
    if not of or bad < MANY * of:
        return None
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return (
        f"{bad} of {what} are degenerate ({kinds}): the weights may be damaged (NaN), or tokenizer or chat "
        "template belong to another model"
    )
