"""An engine of another package: it adds the two numbers of a question, as a stranger would write it."""

from __future__ import annotations

import re

from pydantic import Field

from genbench.engines.simple import SimpleConfig, SimpleEngine
from genbench.errors import RequestFailedError
from genbench.types import Completion, Request


class RuleConfig(SimpleConfig):
    """The keys of the rule engine."""

    off_by: int = Field(0, ge=0)
    fails_on: str | None = None


class RuleEngine(SimpleEngine):
    """Answers `A+B` with the sum, plus `off_by`. Refuses questions that contain `fails_on`."""

    Config = RuleConfig
    version = "3"

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the sum."""
        question = request.messages[-1].content
        if self.config.fails_on and self.config.fails_on in question:
            raise RequestFailedError(f"cannot answer {question}")
        numbers = [int(number) for number in re.findall(r"\d+", question)[:2]]
        text = f"\\boxed{{{sum(numbers) + self.config.off_by}}}"
        return self.completion(request, attempt, text, completion_tokens=len(text))


class BrokenEngine(SimpleEngine):
    """Has a defect in the place that its key names."""

    class Config(SimpleConfig):
        """The keys of the broken engine."""

        where: str = "generate"

    def check(self) -> str:
        """Fail if asked to."""
        if self.config.where == "check":
            raise ZeroDivisionError("no check")
        return super().check()

    async def start(self) -> None:
        """Fail if asked to."""
        if self.config.where == "start":
            raise KeyError("start")

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Fail, or return something else than a completion."""
        if self.config.where == "returns":
            return "four"  # type: ignore[return-value]
        raise ZeroDivisionError("no generate")


class NoConfig:
    """A class that is not an engine."""
