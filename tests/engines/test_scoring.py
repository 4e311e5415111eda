"""Which engines score given texts."""

from __future__ import annotations

import pytest

from genbench.engines.likelihood import scoring
from genbench.errors import EngineError
from genbench.types import Completion, Request, SampleId, ScoreRequest

REQUEST = ScoreRequest(SampleId("sums", "p", 0), 0, (), 1, 8, "")


class Plain:
    """An engine that only completes prompts."""

    async def start(self) -> None: ...

    async def generate(self, request: Request, attempt: int) -> Completion:
        raise AssertionError

    async def close(self) -> None: ...


class Both(Plain):
    """An engine that scores as well."""

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        raise AssertionError


def test_an_engine_with_the_method_is_taken_and_another_is_refused_by_name() -> None:
    engine = Both()
    assert scoring(engine, REQUEST) is engine
    with pytest.raises(EngineError, match=r"task sums scores given texts, and Plain has no method `score`"):
        scoring(Plain(), REQUEST)
