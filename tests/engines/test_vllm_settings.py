"""What a vLLM engine is started with: what binds a run, what does not, and what may be shared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from genbench.engines.vllm_settings import VllmSettings
from genbench.suite.config import Decoding

BASE = VllmSettings(Path("m"), Path("m"), None, "bfloat16", False, 4096, 8, 8192, {"t": Decoding()})


def test_replicas_differ_only_in_their_number() -> None:
    settings = replace(BASE, replicas=3)
    assert list(settings.members) == ["replica 0", "replica 1", "replica 2"]
    assert [member.replica for member in settings.members.values()] == [0, 1, 2]
    assert replace(settings.members["replica 2"], replica=0) == settings
    assert settings.opening == "loading 3 engines" and BASE.opening == "loading the engine"


def test_an_engine_that_is_not_shared_has_no_key() -> None:
    assert BASE.share_key is None and not BASE.lora
    assert replace(BASE, adapter=Path("a")).lora


def test_models_of_one_checkpoint_share_an_engine_whatever_their_adapter_and_decoding() -> None:
    shared = replace(BASE, share=True)
    other = replace(shared, adapter=Path("a"), decodings={}, work=Path("run"))
    assert shared.share_key == other.share_key and shared.lora
    assert replace(shared, replica=1).share_key != shared.share_key
    for change in ({"dtype": "float16"}, {"model": Path("n")}, {"max_num_seqs": 9}, {"extra": {"x": 1}}):
        assert replace(shared, **change).share_key != shared.share_key


def test_two_loads_may_have_locks_of_their_own_and_be_equal() -> None:
    again = VllmSettings(Path("m"), Path("m"), None, "bfloat16", False, 4096, 8, 8192, {"t": Decoding()})
    assert again == BASE and again.loading is not BASE.loading


@pytest.mark.parametrize(
    ("extra", "gpus"),
    [({}, 1), ({"tensor_parallel_size": 4}, 4), ({"tensor_parallel_size": 2, "data_parallel_size": 3}, 6)],
)
def test_gpus_are_the_product_of_the_parallel_sizes(extra: dict[str, int], gpus: int) -> None:
    assert replace(BASE, extra=extra).gpus == gpus


def test_sizes_are_circumstances_and_what_shapes_text_is_a_term() -> None:
    settings = replace(BASE, extra={"kv_cache_dtype": "fp8", "swap_space": 4}, trust_remote_code=True)
    assert settings.circumstances["max_num_seqs"] == 8 and settings.circumstances["swap_space"] == 4
    assert settings.terms["arguments"]["kv_cache_dtype"] == "fp8" and settings.terms["trust_remote_code"]
    assert "swap_space" not in settings.terms["arguments"] and settings.terms["engine"]["version"]
    assert settings.terms.keys() == BASE.terms.keys()


def test_logs_go_to_the_run_folder() -> None:
    assert BASE.at(Path("runs/m")).log == Path("runs/m/engine.log")
    assert BASE.workers == 16 and BASE.generates
