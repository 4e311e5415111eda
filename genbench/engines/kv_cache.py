"""The memory that the KV cache of a model takes, as far as config.json tells, and whether it fits into the
GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.engines import devices
from genbench.suite.engine import SuiteMistake

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


_GIB = 2**30
_OTHER_CACHES = (
    "kv_lora_rank",
    "sliding_window",
    "layer_types",
    "layers_block_type",
    "ssm_cfg",
    "mamba_d_state",
)
"""Keys of models that keep less than keys and values of every token in every layer."""


def kv_bytes(config: Mapping[str, Any], bytes_per_value: int) -> int | None:
    """Return the bytes that one token takes in the KV cache, or None if config.json does not tell.

    Args:
        config: the checkpoint's config.json.
        bytes_per_value: 2 for bfloat16 and float16, 1 for fp8.
    """
    text = config.get("text_config") or config
    heads = text.get("num_attention_heads")
    layers, kv_heads = text.get("num_hidden_layers"), text.get("num_key_value_heads") or heads
    if any(text.get(key) for key in _OTHER_CACHES) or not (heads and layers and kv_heads):
        return None
    size = text.get("head_dim") or text.get("hidden_size", 0) // heads
    return int(2 * layers * kv_heads * size * bytes_per_value) or None


def check_context(context: int, token_bytes: int | None, gpus: int) -> None:
    """Refuse a context of which not even one request fits into the GPUs of this machine, if it has any.

    The weights need memory in addition.

    Args:
        context: engine.max_model_len in tokens.
        token_bytes: bytes of one token in the KV cache, or None if unknown.
        gpus: GPUs that one engine is spread over.

    Raises:
        SuiteMistake: names the key, both sizes, and the largest context that could fit.
    """
    device = devices.smallest()
    if device is None or token_bytes is None:
        return
    memory = device.memory_gib * gpus * _GIB
    if context * token_bytes <= memory:
        return
    raise SuiteMistake(
        ("engine", "max_model_len"),
        f"engine.max_model_len is {context}, and the KV cache of one such request takes "
        f"{context * token_bytes / _GIB:,.0f} GiB; {gpus} x {device.name} has {memory / _GIB:,.0f} GiB: set "
        f"it below {int(memory / token_bytes)}, or leave it out (then it is what the longest request needs)",
    )
