"""What one request takes in the KV cache, and contexts that no GPU can keep."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.engines.checkpoint import check_context, kv_bytes
from genbench.suite.engine import SuiteMistake

LLAMA: dict[str, Any] = {
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
}


@pytest.fixture
def h100(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that tells of one GPU."""
    driver = tmp_path / "nvidia-smi"
    driver.write_text("#!/bin/sh\necho '0, GPU-1, 81510, NVIDIA H100, 9.0'\n")
    driver.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


@pytest.mark.parametrize(
    ("config", "size"),
    [
        (LLAMA, 131_072),
        (LLAMA | {"head_dim": 64}, 65_536),
        ({key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}, 524_288),
        ({"text_config": LLAMA}, 131_072),
        (LLAMA | {"kv_lora_rank": 512}, None),
        (LLAMA | {"sliding_window": 4096}, None),
        ({}, None),
    ],
)
def test_a_token_takes_keys_and_values_of_every_layer(config: dict[str, Any], size: int | None) -> None:
    assert kv_bytes(config, 2) == size


@pytest.mark.usefixtures("h100")
def test_a_context_beyond_memory_is_refused_with_key_sizes_and_remedy() -> None:
    with pytest.raises(SuiteMistake) as error:
        check_context(1_000_000, kv_bytes(LLAMA, 2), 1)
    assert str(error.value) == (
        "engine.max_model_len is 1000000, and the KV cache of one such request takes 122 GiB; 1 x NVIDIA "
        "H100 has 80 GiB: set it below 652080, or leave it out (then it is what the longest request needs)"
    )


@pytest.mark.usefixtures("h100")
def test_a_context_that_could_fit_passes_and_so_does_an_unknown_one() -> None:
    check_context(1_000_000, kv_bytes(LLAMA, 2), 2)
    check_context(1_000_000, kv_bytes(LLAMA, 1), 1)
    check_context(10**9, None, 1)


def test_without_a_gpu_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    check_context(10**9, kv_bytes(LLAMA, 2), 1)
