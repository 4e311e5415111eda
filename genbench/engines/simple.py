"""A base for an engine in one class: subclass `SimpleEngine`, and write `generate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

from genbench.engines.kind import EngineKind, EngineSettings, FoundModel, ModelSource, PromptFacts
from genbench.protocols import Engine
from genbench.suite.engine import EngineConfig
from genbench.types import Completion, FinishReason, Request

_SPEED_ONLY = frozenset({"concurrency"})


class SimpleConfig(EngineConfig):
    """The keys of a simple engine's `engine:` block. Subclasses add their own, which are terms of a run."""

    concurrency: int = Field(16, ge=1, description="number of requests in flight")


class SimpleEngine(EngineKind, Engine):
    """An engine that needs no files, no tokenizer and no devices.

    A suite names it as `engine: {kind: "package.module:Class", …}`. A subclass may have its own
    `Config`, a subclass of `SimpleConfig`, whose keys are in `self.config`. Requests have `messages` and
    `prompt`, and no token ids. `version` changes whenever the same request may get another completion.
    """

    Config: ClassVar[type[SimpleConfig]] = SimpleConfig
    version: ClassVar[str] = "1"

    def __init__(self, config: Any) -> None:
        self.config = config

    async def start(self) -> None:
        """Get ready to answer. The default does nothing."""

    async def close(self) -> None:
        """Release everything. The default does nothing."""

    def check(self) -> str:
        """Return name and version. Override it to raise an error if something is missing."""
        return f"{self.config.kind} {self.version}"

    def find(self, model: ModelSource) -> SimpleModel:
        """Return the model under its path as the suite writes it. Override it to look for files."""
        return SimpleModel(self, identity=f"{self.config.kind} {model.config.path}")

    def completion(
        self,
        request: Request,
        attempt: int,
        text: str,
        *,
        finish_reason: FinishReason = "stop",
        prompt_tokens: int | None = None,
        completion_tokens: int | None = None,
        seconds: float | None = None,
    ) -> Completion:
        """Return `text` as the completion of `request`. Token counts are None if they were not counted."""
        return Completion(
            sample=request.sample,
            turn=request.turn,
            seed=request.seed,
            prompt_digest=request.prompt_digest,
            text=text,
            finish_reason=finish_reason,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            trace_tokens=None,
            max_tokens=request.max_tokens,
            attempt=attempt,
            seconds=seconds,
            trace_opened=request.trace_opened,
        )


@dataclass(frozen=True, slots=True)
class SimpleModel(FoundModel):
    """A model that only its path names."""

    engine: SimpleEngine

    def settings(self, prompts: PromptFacts) -> SimpleSettings:
        """Return the settings of one engine."""
        return SimpleSettings(type(self.engine), self.engine.config)


@dataclass(frozen=True, slots=True)
class SimpleSettings(EngineSettings):
    """What a simple engine is made with: its class and its block of the suite."""

    engine: type[SimpleEngine]
    config: Any

    @property
    def terms(self) -> Mapping[str, Any]:
        """Return kind and version of the engine, and all of its keys that may change a completion."""
        record = self.config.model_dump(mode="json", exclude={"kind", *_SPEED_ONLY})
        return {"engine": {"name": self.config.kind, "version": self.engine.version, "options": record}}

    @property
    def circumstances(self) -> Mapping[str, Any]:
        """Return the keys that change only speed."""
        record: dict[str, Any] = self.config.model_dump(mode="json", include=set(_SPEED_ONLY))
        return record

    @property
    def workers(self) -> int:
        """Return how many requests the engine gets at the same time."""
        return int(self.config.concurrency)

    def make(self) -> SimpleEngine:
        """Return a new engine."""
        return self.engine(self.config)
