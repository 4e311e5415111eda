"""A judge file as people write it: every key with its type, before its form reads it."""

from __future__ import annotations

import re
from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from genbench.suite.block import NAME_PATTERN, Strict
from genbench.suite.config import Decoding
from genbench.suite.judge import JudgeModel, JudgeServer
from genbench.types import Status

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")


class JudgeFile(Strict):
    """A judge as people write it. Scores of labels are in [0, 1]."""

    name: str = Field(pattern=NAME_PATTERN)
    form: str = Field(description='label, pairwise, rubric, checklist, a plug-in\'s name, or "module:Class"')
    prompt: str = Field(description="the prompt file, relative to this file")
    prompt_digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    labels: dict[str, float] = Field(default_factory=dict)
    statuses: dict[str, Status] = Field(
        default_factory=dict, description="statuses of the labels that score 0"
    )
    dimensions: dict[str, str] = Field(
        default_factory=dict, description="rubrics: the meaning of each dimension by its name"
    )
    points: int = Field(5, ge=2, le=9, description="rubrics: highest score of a dimension; the lowest is 1")
    reason: bool = Field(False, description="whether the judge writes one short sentence before its verdict")
    options: dict[str, Any] = Field(default_factory=dict, description="options of a form from a plug-in")
    decoding: Decoding = Decoding(temperature=0, top_p=1, max_tokens=256)
    max_answer_chars: int = Field(12000, ge=200)
    calibration: str | None = Field(
        None, description="JSON Lines file with question, reference, answer and label"
    )
    model: JudgeModel | None = None
    server: JudgeServer | None = None
    allow_unpinned: bool = False

    @field_validator("labels", "dimensions")
    @classmethod
    def _plain_words(cls, found: dict[str, Any]) -> dict[str, Any]:
        for name, value in found.items():
            if not _WORD.match(name):
                raise ValueError(f"'{name}': wanted letters, digits and '_'")
            if isinstance(value, float) and not 0 <= value <= 1:
                raise ValueError(f"'{name}' scores {value}: wanted 0 to 1")
        return found

    @model_validator(mode="after")
    def _one_engine(self) -> Self:
        if self.model is not None and self.server is not None:
            raise ValueError("give either 'model' or 'server'")
        return self
