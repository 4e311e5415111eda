"""An engine that says who was asked: the sample, the turn and the seed, after a short time."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from genbench.engines.simple import SimpleConfig, SimpleEngine
from genbench.types import Completion, FinishReason, Request


class Config(SimpleConfig):
    """How long a reply takes, in seconds, and how it ends."""

    seconds: float = 0.0
    finish: FinishReason = "stop"


class Engine(SimpleEngine):
    """See the top."""

    Config: ClassVar[type[SimpleConfig]] = Config
    version: ClassVar[str] = "1"

    async def generate(self, request: Request, attempt: int) -> Completion:
        await asyncio.sleep(self.config.seconds)
        sample = request.sample
        text = f"{sample.problem_id} {sample.sample_index} {request.turn} {request.seed}"
        return self.completion(
            request, attempt, text, prompt_tokens=7, completion_tokens=5, finish_reason=self.config.finish
        )
