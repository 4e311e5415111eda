"""The price of drawing samples, from which results give the cost of each task."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from genbench.suite.block import Strict


class Price(Strict):
    """The price of drawing samples: of a machine by the hour, or of a server by its tokens."""

    per_hour: float | None = Field(None, ge=0, description="price of one hour of all devices together")
    per_million_prompt_tokens: float | None = Field(None, ge=0)
    per_million_completion_tokens: float | None = Field(None, ge=0)
    currency: str = "USD"

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        by_tokens = [self.per_million_prompt_tokens, self.per_million_completion_tokens].count(None)
        if (self.per_hour is None, by_tokens) not in ((False, 2), (True, 0)):
            raise ValueError("give either 'per_hour' or both prices per million tokens")
        return self
