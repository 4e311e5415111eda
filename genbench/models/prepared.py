"""A model of a suite that is ready to be asked: its prompts, its trace format, its terms, its engines."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from genbench.engines.kind import EngineSettings, FoundModel, PromptFacts
from genbench.generators.sizing import Tokens
from genbench.models import trace_formats, traces
from genbench.models.requests import RequestMaker
from genbench.models.trace_formats import FORMATS, TraceFormat
from genbench.store.manifest import ReasoningRecord
from genbench.suite.config import ModelConfig
from genbench.types import Answer, Completion

Count = Callable[[str], Awaitable[int]]


class TokenCounter:
    """Counts in one thread, with a copy of the tokenizer.

    Two threads on one fast tokenizer fail ("Already borrowed"). The event loop runs meanwhile: counting
    53,000 tokens took 70 ms, and the loop's longest pause was 5 ms (2 cores, tokenizers 0.22).
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._own: Any = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokens")

    async def __call__(self, text: str) -> int:
        if self._own is None:  # in the thread that renders with it; takes half a second for a large one
            self._own = copy.deepcopy(self._tokenizer)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._count, text)

    def _count(self, text: str) -> int:
        tokens = self._own(text, add_special_tokens=False, truncation=False, verbose=False)
        return len(tokens["input_ids"])


async def trace_tokens(completion: Completion, answer: Answer, count: Count | None) -> int | None:
    """Return the tokens of the trace and its tags: those of the completion without those of the answer.

    The end token belongs to the answer. The answer's text is counted, since it is the shorter part. The
    result is None if the completion's tokens are unknown, or if there is no tokenizer to count with
    (`count` is None). An estimate would not be comparable with counts.
    """
    total = completion.completion_tokens
    if completion.choices:  # given texts, which nobody reasoned about
        return 0
    if total is None or not completion.text or answer.trace_status == "unclosed":
        return total
    if answer.trace_status == "absent":
        return 0
    if count is None:
        return None
    ended = completion.finish_reason == "stop"
    return max(0, total - await count(answer.text) - ended)


async def given_trace_tokens(completion: Completion, answer: Answer) -> int | None:
    """Return the count that came with the completion. Ready responses are not counted again."""
    return completion.trace_tokens


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How a completion is split into trace and answer, as the manifest records it."""

    format: TraceFormat
    end_tokens: tuple[str, ...]

    @property
    def record(self) -> dict[str, Any]:
        """Return the JSON of the manifest."""
        return {
            "format": self.format.name,
            "open": list(self.format.opens),
            "close": list(self.format.closes),
            "end_tokens": list(self.end_tokens),
        }

    @classmethod
    def from_record(cls, record: ReasoningRecord) -> Reasoning:
        """Return what `record` was made from. A format without a registered name is made from its tags."""
        if record.format in FORMATS:
            return cls(FORMATS[record.format], record.end_tokens)
        tags = {"open": record.open[0], "close": record.close[0]}
        return cls(trace_formats.resolve(tags), record.end_tokens)

    def split(self, item: Completion) -> Answer:
        """Return the completion's trace and answer. Scores of given texts have neither."""
        if item.choices:
            return Answer("", "absent", "", False, item.choices)
        return traces.split(item.text, self.format, item.trace_opened, item.finish_reason, self.end_tokens)


@dataclass(frozen=True, slots=True)
class PromptMeasure:
    """Counts tokens of texts, and those that a task's chat template adds. Nothing is kept."""

    tokens: Tokens
    overhead: Callable[[str], tuple[int, int]]
    """(task name) -> tokens that the template adds to a prompt, and to each further message."""


@dataclass(frozen=True, slots=True)
class PromptedModel:
    """A model whose prompts can be made. No engine is needed for that, nor installed.

    `count` counts the tokens of a text. `measure` sizes generated prompts. Both are None if the tokenizer is
    not read here.
    """

    name: str
    config: ModelConfig
    found: FoundModel
    reasoning: Reasoning
    maker: RequestMaker
    facts: PromptFacts
    count: Count | None
    measure: PromptMeasure | None = None
    tool_forms: Mapping[str, str] = field(default_factory=dict)
    """How functions are offered, by task. Tasks without functions are left out."""


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model that is ready to be drawn from.

    `terms` shape the completions, and a run folder is continued only under equal ones. `settings` make
    the engines. `warnings` are lines for people. `count` counts the tokens of a text; None if the
    tokenizer is not read here.
    """

    name: str
    config: ModelConfig
    identity: str
    reasoning: Reasoning
    maker: RequestMaker
    terms: Mapping[str, Any]
    settings: EngineSettings
    warnings: tuple[str, ...] = ()
    count: Count | None = None
    measure: PromptMeasure | None = None
