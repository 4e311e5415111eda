"""Which engines score given texts."""

from __future__ import annotations

import asyncio

import pytest

from genbench.errors import EngineError
from genbench.protocols import Engine
from genbench.types import Completion, Request, SampleId, ScoreRequest

REQUEST = ScoreRequest(SampleId("sums", "p", 0), 0, (), 1, 8, "")


class Plain(Engine):
    """An engine that only completes prompts."""

    async def start(self) -> None: ...

    async def generate(self, request: Request, attempt: int) -> Completion:
        raise AssertionError

    async def close(self) -> None: ...


def test_an_engine_without_the_method_is_refused_by_name() -> None:
    with pytest.raises(EngineError, match=r"task sums scores given texts, and Plain has no method `score`"):
        asyncio.run(Plain().score(REQUEST, 1))
