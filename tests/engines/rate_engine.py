"""Engines in this process whose answers are right with a rate, drawn from the seed of each request."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from genbench.engines.kind import ModelSource, PromptFacts
from genbench.engines.simple import SimpleConfig, SimpleEngine, SimpleModel, SimpleSettings
from genbench.errors import EngineDiedError
from genbench.types import Completion, Request


class RateConfig(SimpleConfig):
    """The keys of the rate engine. `lost` is a file with the numbers of the problems that it always fails."""

    lost: str


def read(path: str) -> list[int]:
    """Return the numbers in a file."""
    return [int(number) for number in json.loads(Path(path).read_text())]


class RateEngine(SimpleEngine):
    """Answers the question `A+B` rightly with a rate of 95 %, unless it has lost the problem A."""

    Config = RateConfig
    version = "1"
    before_each: ClassVar[Callable[[int], float]] = staticmethod(lambda number: 0.0)
    """Called with the number of the engine; returns the seconds until its answer. Tests replace it."""

    def __init__(self, config: RateConfig, number: int = 0) -> None:
        super().__init__(config)
        self.number = number

    async def start(self) -> None:
        """Read the lost problems."""
        self.lost = read(self.config.lost)

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the sum, or a wrong number."""
        if (wait := RateEngine.before_each(self.number)) > 0:
            await asyncio.sleep(wait)
        first, second = (int(number) for number in re.findall(r"\d+", request.messages[-1].content)[:2])
        right = first not in self.lost and (request.seed % 1000) < 950
        text = f"\\boxed{{{first + second + (0 if right else 1)}}}"
        return self.completion(request, attempt, text, completion_tokens=4)


@dataclass(frozen=True, slots=True)
class PairedSettings(SimpleSettings):
    """The settings of two rate engines that work in parallel."""

    number: int = 0

    @property
    def terms(self) -> Mapping[str, Any]:
        """Return the terms of one rate engine, which answers alike."""
        name = f"{RateEngine.__module__}:{RateEngine.__name__}"
        found = super(PairedSettings, self).terms
        return {"engine": {**found["engine"], "name": name}}

    @property
    def members(self) -> dict[str, SimpleSettings]:
        """Return the settings of both engines."""
        return {f"replica {number}": replace(self, number=number) for number in range(2)}

    def make(self) -> SimpleEngine:
        """Return a new engine with its number."""
        return PairedRateEngine(self.config, self.number)


class PairedModel(SimpleModel):
    """A model with two engines."""

    def settings(self, prompts: PromptFacts) -> SimpleSettings:
        """Return the settings of the first engine."""
        return PairedSettings(type(self.engine), self.engine.config)


class PairedRateEngine(RateEngine):
    """One of two rate engines of a model."""

    def find(self, model: ModelSource) -> SimpleModel:
        """Return the model under its path."""
        return PairedModel(self, identity=f"{self.config.kind} {model.config.path}")


def dies(number: int) -> float:
    """Die with every request, as the second engine. The first one answers at once."""
    if number == 1:
        raise EngineDiedError("killed")
    return 0.0


@dataclass(slots=True)
class StopsAt:
    """A signal to this process at one request, as from a scheduler. No later request is answered."""

    request: int
    seen: int = 0

    def __call__(self, number: int) -> float:
        """Count the requests, and send the signal. Return the seconds until the answer."""
        self.seen += 1
        if self.seen == self.request:
            os.kill(os.getpid(), signal.SIGTERM)
        return 60.0 if self.seen >= self.request else 0.0
