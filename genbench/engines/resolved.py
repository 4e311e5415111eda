"""Terms that a checkpoint's config.json decides if the suite leaves them open."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HALVES = ("bfloat16", "float16")


def resolved_dtype(dtype: str, config: Mapping[str, Any]) -> str:
    """Return the type of the weights. For `auto` it is the half precision of config.json, if it names one.

    vLLM chooses by the GPU if the checkpoint has single precision or names none. The type is then `auto`.

    Args:
        dtype: as the suite names it.
        config: the checkpoint's config.json.
    """
    if dtype != "auto":
        return dtype
    inner = config.get("text_config")
    for record in (config, inner if isinstance(inner, Mapping) else {}):
        named = record.get("dtype") or record.get("torch_dtype")
        if named in _HALVES:
            return str(named)
    return dtype


def own_quantization(config: Mapping[str, Any]) -> Any:
    """Return the checkpoint's own quantization_config, which vLLM uses if no argument names another."""
    return config.get("quantization_config")


def own_rope_scaling(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return how the checkpoint stretches its positions: YaRN and the like, with its factor.

    It shapes what is drawn, at short prompts as well. A change of the suite's is in `hf_overrides`. None
    means that positions are as they were trained.
    """
    inner = config.get("text_config")
    for record in (config, inner if isinstance(inner, Mapping) else {}):
        for key in ("rope_scaling", "rope_parameters"):
            found = record.get(key)
            if isinstance(found, Mapping) and _rope_type(found) not in ("default", None):
                return found
    return None


def _rope_type(parameters: Mapping[str, Any]) -> Any:
    return parameters.get("rope_type", parameters.get("type"))
