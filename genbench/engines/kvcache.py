"""The memory that the KV cache of a model takes for each token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_BYTES = 2
"""Bytes of a number in half precision, which caches have unless `kv_cache_dtype` says otherwise."""


def kv_bytes_per_token(config: Mapping[str, Any]) -> int | None:
    """Return the bytes of keys and values of one token over all layers, or None if config.json does not say.

    Layers with a sliding window or without attention take less, so that this is the most.

    Args:
        config: the checkpoint's config.json.
    """
    inner = config.get("text_config")
    own = inner if isinstance(inner, Mapping) else config
    layers, heads = _number(own, "num_hidden_layers"), _number(own, "num_attention_heads")
    if layers is None or heads is None:
        return None
    latent = _number(own, "kv_lora_rank")
    if latent is not None:  # multi-head latent attention keeps one vector and its positions
        return layers * (latent + (_number(own, "qk_rope_head_dim") or 0)) * _BYTES
    hidden = _number(own, "hidden_size")
    size = _number(own, "head_dim") or (hidden // heads if hidden is not None else None)
    if size is None:
        return None
    return 2 * layers * (_number(own, "num_key_value_heads") or heads) * size * _BYTES


def _number(config: Mapping[str, Any], key: str) -> int | None:
    found = config.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else None
