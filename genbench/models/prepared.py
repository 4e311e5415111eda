"""A model of a suite that is ready to be asked: its prompts, its trace format, its terms, its engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from genbench.engines.kind import EngineSettings, FoundModel, PromptFacts
from genbench.generators.counting import Tokens
from genbench.models import traceformats, traces
from genbench.models.requests import RequestMaker
from genbench.models.tokencount import Count
from genbench.models.traceformats import FORMATS, TraceFormat
from genbench.store.manifest_record import ReasoningRecord
from genbench.suite.config import ModelConfig
from genbench.types import Answer, Completion


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
        return cls(traceformats.resolve(tags), record.end_tokens)

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
