"""An engine with two places whose first model ends only when the next one has begun."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from genbench.engines.kind import ModelSource, PromptFacts
from genbench.engines.simple import SimpleModel, SimpleSettings
from genbench.errors import EngineError
from genbench.types import Completion, Request
from tests.engines.rule_engine import RuleConfig, RuleEngine

_LIMIT_S = 20.0


class PlacedConfig(RuleConfig):
    """The keys of the engine.

    `waits` is a model whose first sample waits for an engine of another one. `breaks` is one that fails then.
    """

    waits: str = "m"
    breaks: str | None = None


class PlacedEngine(RuleEngine):
    """Adds as its base does, and records what starts and closes where."""

    Config = PlacedConfig
    happened: ClassVar[list[str]] = []
    name = ""

    def find(self, model: ModelSource) -> PlacedModel:
        """Return the model by its name."""
        return PlacedModel(self, identity=f"placed {model.name}", model=model.name)

    async def start(self) -> None:
        """Record it."""
        self.happened.append(f"{self.name} starts")

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the sum. The first sample of the model that waits takes until another model has begun."""
        waits = self.name.startswith(f"{self.config.waits} ")
        if waits and request.sample.problem_id == "q0" and request.sample.sample_index == 0:
            async with asyncio.timeout(_LIMIT_S):
                await self._another_began()
            if self.config.breaks == self.config.waits:
                raise EngineError(f"{self.config.waits} breaks")
        return await super().generate(request, attempt)

    async def _another_began(self) -> None:
        while all(line.startswith(f"{self.config.waits} ") for line in self.happened):  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        """Record it."""
        self.happened.append(f"{self.name} closes")


@dataclass(frozen=True, slots=True)
class PlacedModel(SimpleModel):
    """A model that two engines answer for."""

    model: str = ""

    def settings(self, prompts: PromptFacts) -> SimpleSettings:
        """Return settings that give way."""
        return PlacedSettings(type(self.engine), self.engine.config, model=self.model)


@dataclass(frozen=True, slots=True)
class PlacedSettings(SimpleSettings):
    """Settings of two engines on places of their own."""

    model: str = ""
    place: str = ""
    gives_way: ClassVar[bool] = True

    @property
    def members(self) -> dict[str, SimpleSettings]:
        """Return both engines."""
        return {place: replace(self, place=place) for place in ("left", "right")}

    @property
    def terms(self) -> Mapping[str, Any]:
        """Return what is equal for all models."""
        return {"engine": {"name": "placed", "version": "1"}}

    def make(self) -> PlacedEngine:
        """Return an engine that knows its place."""
        engine = PlacedEngine(self.config)
        engine.name = f"{self.model} {self.place}"
        return engine
