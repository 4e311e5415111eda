"""Where the rows of a task of the suite's own come from."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from genbench.suite.block import Strict


class HubSource(Strict):
    """Rows from the Hugging Face hub."""

    repo: str
    config: str = "default"
    split: str = "test"
    revision: str | None = None


class DataSource(Strict):
    """Where the rows of a custom task come from, and the meaning of their columns."""

    path: str | None = Field(None, description="JSONL, Parquet or CSV; relative to the suite's folder")
    hub: HubSource | None = None
    fields: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.path is None) == (self.hub is None):
            raise ValueError("give either 'path' or 'hub'")
        return self
