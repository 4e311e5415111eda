"""vLLM in process, as far as it can be told without loading a model: arguments and refusals."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from genbench.engines.vllm.detokenizer import TextDecoder
from genbench.engines.vllm.kind import VllmSettings
from genbench.errors import EngineDiedError, RequestFailedError
from genbench.suite.config import Decoding
from genbench.types import Request, SampleId
from tests.engines.made_tokenizers import byte_level

pytestmark = [
    pytest.mark.engine,  # importing vLLM takes ten seconds
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # torch warns of its own modules then
]

SETTINGS = VllmSettings(
    Path("m"), Path("m"), None, "bfloat16", False, 8, 8192, {"t": Decoding()}, max_model_len=4096
)


def test_an_engine_that_was_not_started_answers_nothing_and_closes() -> None:
    from genbench.engines.vllm.engine import VllmEngine

    engine = VllmEngine(replace(SETTINGS, adapter=Path("a")))

    async def work() -> None:
        with pytest.raises(EngineDiedError, match="the engine is not running"):
            await engine.generate(Request(SampleId("t", "p", 0), 0, (1,), 1, 8, "d"), 1)
        await engine.close()

    asyncio.run(work())


def test_an_engine_that_is_not_loaded_has_no_cache_and_no_facts() -> None:
    from genbench.engines.vllm.engine import VllmEngine

    engine = VllmEngine(SETTINGS)
    assert engine.kv_tokens is None and engine.facts == {} and engine.has_begun(SampleId("t", "p", 0))


def test_a_request_that_vllm_refuses_fails_alone() -> None:
    from vllm.exceptions import VLLMValidationError

    from genbench.engines.vllm.engine import VllmEngine

    async def refuses(*_: object, **__: object) -> AsyncIterator[object]:
        for value in (0,):
            raise VLLMValidationError("max_tokens must be at least 1", parameter="max_tokens", value=value)
        yield None  # so that it is an asynchronous generator, as AsyncLLM.generate is

    async def work() -> None:
        engine: Any = VllmEngine(SETTINGS)
        engine.llm = SimpleNamespace(generate=refuses)
        with pytest.raises(RequestFailedError, match=r"request t/p/0/0/1: max_tokens must be at least 1"):
            await engine.generate(Request(SampleId("t", "p", 0), 0, (1,), 1, 8, "d"), 1)

    asyncio.run(work())


def test_vllms_own_detokenizer_gives_the_texts_of_one_decode() -> None:
    from vllm.v1.engine.detokenizer import FastIncrementalDetokenizer

    from genbench.engines.vllm.engine import ServedModel, VllmEngine

    tokenizer, rng = byte_level(), random.Random(11)
    decoder, served = TextDecoder(tokenizer), ServedModel(VllmEngine(SETTINGS), SETTINGS, 0, 8)
    request = Request(SampleId("t", "p", 0), 0, tuple(tokenizer.encode("a prompt: €").ids), 1, 8, "d")
    parameters = served.sampling["t"].params(request, detokenize=True)
    assert not served.sampling["t"].params(request, detokenize=False).detokenize
    special, size = list(tokenizer.get_added_tokens_decoder()), tokenizer.get_vocab_size()
    for stops in (False, True):
        for _ in range(200):
            ids = [rng.choice([rng.randrange(size), rng.choice(special), 33]) for _ in range(40)]
            asked: Any = SimpleNamespace(
                sampling_params=parameters, prompt_token_ids=list(request.token_ids), request_id="r"
            )
            step_by_step = FastIncrementalDetokenizer(SimpleNamespace(_tokenizer=tokenizer), asked)
            for place, token in enumerate(ids):
                step_by_step.update([token], stops and place == len(ids) - 1)
            text = step_by_step.get_next_output_text(finished=True, delta=False)
            spoken = ids[:-1] if stops else ids
            assert decoder.decode(request.token_ids, spoken) == text


def test_parameters_of_a_later_sample_are_those_that_it_would_have_as_the_first() -> None:
    from genbench.engines.vllm.engine import Sampling

    decoding = Decoding(temperature=0.7, top_p=0.9, stop_token_ids=(7,), min_tokens=2)
    sampling, limits = Sampling(decoding), (8, 8, 5)
    requests = [
        Request(SampleId("t", "p", place), 0, (1,), 100 + place, most, "d")
        for place, most in enumerate(limits)
    ]
    for request, decodes in zip(requests, (True, False, True), strict=True):
        found, alone = (item.params(request, detokenize=decodes) for item in (sampling, Sampling(decoding)))
        assert found == alone
        assert (found.seed, found.max_tokens, found.detokenize) == (request.seed, request.max_tokens, decodes)
    bound = replace(requests[0], structured={"choice": ["A", "B"]})
    assert sampling.params(bound).structured_outputs.choice == ["A", "B"]
    assert sampling.params(requests[0]).structured_outputs is None


def test_versions_of_what_is_not_there_are_none() -> None:
    from vllm.platforms import current_platform

    from genbench.engines.vllm.engine import platform_versions

    found = platform_versions()
    assert set(found) == {"driver", "cuda", "nccl"}
    assert any(found.values()) is not current_platform.is_cpu()


def test_a_replica_needs_no_variable_and_no_device_of_its_own_on_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    from vllm.platforms import current_platform

    from genbench.engines.vllm.engine import own_devices, platform_defaults

    assert own_devices(SETTINGS) == {}
    assert platform_defaults(SETTINGS)["watermark"] == 0.05
    if not current_platform.is_cpu():
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,6,7")
        replica = replace(SETTINGS, replicas=2, replica=1, extra={"tensor_parallel_size": 2})
        assert own_devices(replica) == {"device_ids": [2, 3]}
