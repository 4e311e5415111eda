"""Bytes of the KV cache by token."""

from __future__ import annotations

from genbench.engines.checkpoint import kv_bytes_per_token


def test_keys_and_values_of_all_layers_count() -> None:
    llama = {
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "hidden_size": 4096,
    }
    assert kv_bytes_per_token(llama) == 2 * 32 * 8 * 128 * 2
    assert kv_bytes_per_token({"text_config": {**llama, "head_dim": 64}}) == 2 * 32 * 8 * 64 * 2
    latent = {
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "kv_lora_rank": 512,
        "qk_rope_head_dim": 64,
    }
    assert kv_bytes_per_token(latent) == 61 * 576 * 2
    assert kv_bytes_per_token({}) is None
    assert kv_bytes_per_token({"num_hidden_layers": 2, "num_attention_heads": 2}) is None
