"""An engine in this process whose answers are right with a rate, drawn from the seed of each request."""

from __future__ import annotations

import json
import re
from pathlib import Path

from genbench.engines.simple import SimpleConfig, SimpleEngine
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

    async def start(self) -> None:
        """Read the lost problems."""
        self.lost = read(self.config.lost)

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the sum, or a wrong number."""
        first, second = (int(number) for number in re.findall(r"\d+", request.messages[-1].content)[:2])
        right = first not in self.lost and (request.seed % 1000) < 950
        text = f"\\boxed{{{first + second + (0 if right else 1)}}}"
        return self.completion(request, attempt, text, completion_tokens=4)
