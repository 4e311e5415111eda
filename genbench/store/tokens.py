"""Sums over the tokens of a task's completions."""

from __future__ import annotations

from dataclasses import dataclass

from genbench.types import Completion


@dataclass(slots=True)
class TokenCount:
    """Tokens of the completions that were added. Ready responses may come without counts."""

    items: int = 0
    """Completions that were added."""
    counted: int = 0
    """Those whose tokens were counted."""
    traced: int = 0
    """Those whose trace tokens were counted."""
    clamped: int = 0
    """Those whose `max_tokens` was lowered to fit the context."""
    prompt: int = 0
    completion: int = 0
    trace: int = 0

    def add(self, item: Completion, max_tokens: int) -> None:
        """Add a completion that was asked for up to `max_tokens` tokens."""
        self.items += 1
        self.clamped += item.max_tokens is not None and item.max_tokens < max_tokens
        if item.completion_tokens is None:
            return
        self.counted += 1
        self.prompt += item.prompt_tokens or 0
        self.completion += item.completion_tokens
        self.traced += item.trace_tokens is not None
        self.trace += item.trace_tokens or 0

    @property
    def all_completion(self) -> int | None:
        """Tokens of all completions, or None if any of them was not counted."""
        return self.completion if self.items and self.counted == self.items else None
