"""The questions of a task for lists: prompts without what all prompts of the task have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

from genbench.safetext.printable import one_line

COMPARED = 50
"""Prompts of a task that are compared to find what they have in common."""
SHOWN_CHARS = 160
_MARKS = re.compile(r"<\|[^|<>]*\|>|</?s>|\[/?INST\]")
"""Marks of chat templates."""


class QuestionFinder:
    """Takes the shared beginning and end off the prompts of a task: template, system prompt, instructions.

    Both end at a line or at a mark of the template, so that no word of a question is cut.

    Args:
        prompts: the first prompts of the task, as they were rendered.
    """

    def __init__(self, prompts: Sequence[str]) -> None:
        several = list(dict.fromkeys(prompts[:COMPARED]))
        self._head = self._tail = ""
        if len(several) > 1:
            shared = _shared_start(several)
            self._head = shared[: max(map(shared.rfind, "\n>]")) + 1]
            ends = [prompt[len(self._head) :][::-1] for prompt in several]
            shared = _shared_start(ends)
            self._tail = shared[: max(map(shared.rfind, "\n<[")) + 1][::-1]

    def question(self, prompt: str) -> str:
        """Return the question of a prompt on one line, cut to what a list can show."""
        text = prompt.removeprefix(self._head)
        if len(text) > len(self._tail):
            text = text.removesuffix(self._tail)
        text = _MARKS.sub(" ", text[: 8 * SHOWN_CHARS])
        return one_line(text, SHOWN_CHARS).partition(" … (")[0]


def _shared_start(texts: Sequence[str]) -> str:
    """Return the characters with which all texts begin."""
    first, last = min(texts), max(texts)
    same = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), None)
    return first if same is None else first[:same]
