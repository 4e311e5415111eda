"""How many sequences the KV cache of an engine holds, as `genbench check` says it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.vllm.kind import VllmSettings
from genbench.engines.vllm.kv_cache import kv_cache

LLAMA: dict[str, Any] = {
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
}
TOKEN = 2 * 32 * 8 * 128 * 2
GIB = 2**30
WEIGHTS = 1_000_000


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VllmSettings:
    """A checkpoint of a known size on a machine without a GPU."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)
    (tmp_path / "model.safetensors").write_bytes(b"0" * WEIGHTS)
    return VllmSettings(
        model=tmp_path,
        tokenizer=tmp_path,
        adapter=None,
        dtype="bfloat16",
        trust_remote_code=False,
        max_num_seqs=64,
        max_num_batched_tokens=8192,
        decodings={},
        own_config=LLAMA,
        max_model_len=8192,
    )


def held(settings: VllmSettings, tokens: int, gpu_gib: float | None = None) -> int:
    found = kv_cache(settings, gpu_gib)
    assert found is not None
    return found.sequences(tokens)


def test_a_named_gpu_leaves_its_share_without_the_weights(settings: VllmSettings) -> None:
    left = int(24 * GIB * 0.92) - WEIGHTS
    assert held(settings, 1000, 24) == left // (TOKEN * 16) // 63  # whole blocks of 16 tokens
    half = replace(settings, extra={"gpu_memory_utilization": 0.5})
    assert held(half, 1000, 24) == (12 * GIB - WEIGHTS) // (TOKEN * 16) // 63


def test_gpus_of_one_engine_add_up_and_each_has_a_head_at_least(settings: VllmSettings) -> None:
    two = replace(settings, extra={"tensor_parallel_size": 2})
    assert held(two, 16, 24) == (int(48 * GIB * 0.92) - WEIGHTS) // (TOKEN * 16)
    sixteen = replace(settings, extra={"tensor_parallel_size": 16})
    assert held(sixteen, 16, 1) == (int(16 * GIB * 0.92) - WEIGHTS) // (2 * TOKEN * 16)


def test_on_cpu_the_variable_says_how_much_there_is(
    settings: VllmSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert held(settings, 128) == 2 * GIB // (TOKEN * 128)
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "4")
    assert held(settings, 128) == 4 * GIB // (TOKEN * 128)


def test_numbers_of_8_bits_hold_twice_as_many_and_of_32_bits_half(settings: VllmSettings) -> None:
    given = replace(settings, extra={"kv_cache_memory_bytes": 640 * TOKEN * 128})
    assert held(given, 128) == 640
    assert held(replace(given, extra={**given.extra, "kv_cache_dtype": "fp8"}), 128) == 1280
    assert held(replace(given, dtype="float32"), 128) == 320


def test_too_small_a_cache_names_the_commands_that_measure_fp8(settings: VllmSettings) -> None:
    small = replace(settings, extra={"kv_cache_memory_bytes": 40 * TOKEN * 128})
    assert small.cache_words(100, 250, "s.yaml", "m") == (
        "!engine.kv_cache_memory_bytes (0.6 GiB) holds 5,120 tokens: 40 of 64 wanted sequences of 100 tokens "
        "(prompt and expected reply), or 20 of 250 tokens, the most that one takes. An fp8 cache would hold "
        "80, or 40; what it does to the scores is measured by: genbench run s.yaml --model m --run-dir "
        "runs/kv16; genbench run s.yaml --model m --run-dir runs/kv8 --set engine.kv_cache_dtype=fp8; "
        "genbench compare runs/kv16/m runs/kv8/m --treatment kv_cache --gate"
    )
    is_small = replace(small, extra={**small.extra, "kv_cache_dtype": "fp8"}).cache_words(
        1000, 2000, "s", "m"
    )
    assert is_small.startswith("!") and "fp8 cache" not in is_small


def test_a_cache_for_all_is_no_warning_and_a_window_makes_it_at_least(settings: VllmSettings) -> None:
    words = settings.cache_words(100, 250, "s.yaml", "m", 80)
    assert words.startswith(
        "1 x GPU (0.92 of 80.0 GiB less 0.0 GiB of weights, before what a step takes) holds "
    )
    assert "all 64 wanted sequences of 100 tokens" in words
    window = replace(settings, own_config=LLAMA | {"sliding_window": 128})
    assert "holds at least " in window.cache_words(100, 250, "s.yaml", "m", 80)
    assert replace(settings, own_config={}).cache_words(100, 250, "s.yaml", "m", 80) == ""


def test_without_gpu_or_cpu_build_it_says_what_has_to_be_known(
    settings: VllmSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genbench.engines.vllm.environment.distribution", lambda: ("vllm", "0.32.0"))
    words = settings.cache_words(1000, 2000, "s.yaml", "m")
    assert words.startswith("64 sequences of 1,000 tokens take 7.81 GiB")
    assert words.endswith("(--gpu-memory GIB), or engine.kv_cache_memory_bytes")
