"""Token sums over the completions of a task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from genbench.store.degenerate import Degeneracy, degeneracy_of
from genbench.types import Completion


@dataclass(slots=True)
class TokenCount:
    """The tokens of the completions that were added. Ready responses may have no token counts.

    `prompt`, `completion` and `trace` are sums of tokens. `completion` includes `trace`.
    """

    items: int = 0
    """Number of completions that were added."""
    counted: int = 0
    """Number of completions whose tokens were counted."""
    traced: int = 0
    """Number of completions whose trace tokens were counted."""
    clamped: int = 0
    """Number of completions whose `max_tokens` was lowered to fit the context."""
    prompt: int = 0
    completion: int = 0
    trace: int = 0
    degenerate: Counter[Degeneracy] = field(default_factory=Counter)
    """Completions that no working model gives, by kind."""

    def add(self, item: Completion, max_tokens: int) -> None:
        """Add a completion of a task whose limit is `max_tokens` tokens."""
        self.items += 1
        found = None if item.choices else degeneracy_of(item.text)
        if found is not None and item.finish_reason != "error":
            self.degenerate[found] += 1
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
        """Completion tokens of all completions, or None if any completion was not counted."""
        return self.completion if self.items and self.counted == self.items else None
