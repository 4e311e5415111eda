"""vLLM in process, as far as it can be told without loading a model: arguments and refusals."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.engines.vllm_settings import VllmSettings
from genbench.errors import EngineDiedError
from genbench.suite.config import Decoding
from genbench.types import Request, SampleId

pytestmark = [
    pytest.mark.engine,  # importing vLLM takes ten seconds
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # torch warns of its own modules then
]

SETTINGS = VllmSettings(Path("m"), Path("m"), None, "bfloat16", False, 4096, 8, 8192, {"t": Decoding()})


def test_an_engine_that_was_not_started_answers_nothing_and_closes() -> None:
    from genbench.engines.vllm import VllmEngine

    engine = VllmEngine(replace(SETTINGS, adapter=Path("a")))

    async def work() -> None:
        with pytest.raises(EngineDiedError, match="the engine is not running"):
            await engine.generate(Request(SampleId("t", "p", 0), 0, (1,), 1, 8, "d"), 1)
        await engine.close()

    asyncio.run(work())
