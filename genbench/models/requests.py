"""What each missing sample is asked: the request with its prompt, seed and token limit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Protocol

from genbench.errors import PromptError
from genbench.tasks.loaded import LoadedTask
from genbench.types import Message, Problem, Request, SampleId


class Rendered(Protocol):
    """A prompt as the model will read it."""

    @property
    def text(self) -> str: ...
    @property
    def token_ids(self) -> tuple[int, ...] | None: ...
    @property
    def opened_trace(self) -> bool: ...
    @property
    def digest(self) -> str: ...
    @property
    def messages(self) -> tuple[Message, ...]: ...


Render = Callable[[str, tuple[Message, ...]], Rendered]
"""(task name, messages) -> prompt."""
Fit = Callable[[int, int], tuple[int, bool]]
"""(prompt tokens, max_tokens) -> (max_tokens that fit, clamped); raises PromptError."""


def sample_seed(run_seed: int, sample: SampleId, turn: int) -> int:
    """The sample's seed, in [0, 2^63), from its identity alone.

    Not from position or model: base and tuned share their seeds, and a resumed or limited run keeps
    every draw. All bits are mixed, since vLLM's CPU build reads only the low 32.
    """
    identity = json.dumps([run_seed, sample.task, sample.problem_id, sample.sample_index, turn])
    return int.from_bytes(hashlib.sha256(identity.encode()).digest()[:8], "big") >> 1


class RequestMaker:
    """Makes requests; prompts that several samples share are rendered once."""

    def __init__(self, render: Render, fit: Fit, run_seed: int) -> None:
        self._render, self._fit, self._run_seed = render, fit, run_seed
        self._first: dict[str, tuple[tuple[Message, ...], Rendered]] = {}

    def request(
        self, task: LoadedTask, problem: Problem, sample_index: int, replies: Sequence[str]
    ) -> Request | None:
        """The next request of a sample, None when its conversation is over.

        A later turn for which the model's own replies have left no room gets max_tokens 0: it cannot be
        answered.

        Raises:
            PromptError: a first prompt does not fit the context; nothing is ever cut.
        """
        ask = task.ask(problem, sample_index, replies)
        if ask is None:
            return None
        turn = len(replies)
        rendered = self._rendered(task.name, problem, ask.messages, turn)
        sample = SampleId(task.name, problem.problem_id, sample_index)
        max_tokens, clamped = task.decoding.max_tokens, False
        if rendered.token_ids is not None:
            max_tokens, clamped = self._room(len(rendered.token_ids), task, problem, turn)
        return Request(
            sample=sample,
            turn=turn,
            token_ids=rendered.token_ids or (),
            seed=sample_seed(self._run_seed, sample, turn),
            max_tokens=max_tokens,
            prompt_digest=rendered.digest,
            prompt=rendered.text,
            trace_opened=rendered.opened_trace,
            clamped=clamped,
            messages=rendered.messages,
        )

    def forget(self) -> None:
        """Drops the rendered prompts; for those who need none again."""
        self._first.clear()

    def _room(self, tokens: int, task: LoadedTask, problem: Problem, turn: int) -> tuple[int, bool]:
        try:
            return self._fit(tokens, task.decoding.max_tokens)
        except PromptError as error:
            if turn > 0:
                return 0, True
            raise PromptError(f"task {task.name}, problem {problem.problem_id}: {error}") from error

    def _rendered(self, task: str, problem: Problem, messages: tuple[Message, ...], turn: int) -> Rendered:
        """The last first-turn prompt of each problem is kept: most tasks ask all k samples the same."""
        if turn > 0:
            return self._render(task, messages)
        key = f"{task}\0{problem.problem_id}"
        kept = self._first.get(key)
        if kept is None or kept[0] != messages:
            kept = (messages, self._render(task, messages))
            self._first[key] = kept
        return kept[1]
