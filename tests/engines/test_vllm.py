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


def test_an_engine_that_is_not_loaded_has_no_cache_and_no_facts() -> None:
    from genbench.engines.vllm import VllmEngine
    from genbench.protocols import DescribedEngine, SizedEngine

    engine = VllmEngine(SETTINGS)
    assert isinstance(engine, SizedEngine) and isinstance(engine, DescribedEngine)
    assert engine.kv_tokens is None and engine.facts == {} and engine.has_begun(SampleId("t", "p", 0))


def test_a_replica_needs_no_variable_and_no_device_of_its_own_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.platforms import current_platform

    from genbench.engines.vllm_platform import own_devices, platform_defaults

    assert own_devices(SETTINGS) == {}
    assert platform_defaults(SETTINGS)["watermark"] == 0.05
    if not current_platform.is_cpu():
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
        replica = replace(SETTINGS, replicas=2, replica=1, extra={"tensor_parallel_size": 2})
        assert own_devices(replica) == {"device_ids": [2, 3]}
