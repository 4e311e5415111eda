"""A LoRA adapter, checked before its base is loaded: its kind, its rank, and that its shapes fit the base."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.engines.weights import Tensor, read_header
from genbench.errors import ConfigError

RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM 0.32 takes for max_lora_rank."""
_PLAIN_STARTS = frozenset({"gaussian", "eva", "orthogonal", "mica", "lora_ga"})
"""Initialisations that leave the base as it is. With others vLLM 0.32 refuses an adapter."""
_REFUSED = {
    "use_dora": "is a DoRA adapter",
    "lora_bias": "has biases of its own (lora_bias)",
    "alora_invocation_tokens": "is an activated LoRA (alora_invocation_tokens)",
    "layer_replication": "repeats layers of its base (layer_replication)",
    "use_bdlora": "is block-diagonal (use_bdlora)",
    "use_qalora": "is a QALoRA adapter (use_qalora)",
}
_PART = re.compile(r"(?:base_model\.model\.)?(?P<module>.+)\.lora_(?P<side>[AB])(?:\.\w+)?\.weight")
_LAYER = re.compile(r"\.layers\.(\d+)\.")


def adapter_rank(folder: Path) -> int:
    """Return the largest rank of an adapter's matrices.

    Raises:
        ConfigError: it is no LoRA adapter, of a kind that vLLM cannot serve, or its files are damaged.
    """
    config = _config(folder)
    _check_kind(folder, config)
    patterns = config.get("rank_pattern") or {}
    ranks = [config.get("r"), *(patterns.values() if isinstance(patterns, dict) else [None])]
    for rank in ranks:
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
            raise ConfigError(f"{folder}/adapter_config.json: the rank is {rank!r}, wanted a whole number")
    found = max([*ranks, *(shape[0] for _, side, shape in _parts(_tensors(folder)) if side == "A")])
    if found > RANKS[-1]:
        raise ConfigError(
            f"{folder} has rank {found}, and vLLM serves {RANKS[-1]} at most; merge it into its base and "
            "give the merged folder as the model's path"
        )
    return int(found)


def served_rank(rank: int) -> int:
    """Return the smallest max_lora_rank that serves an adapter of this rank."""
    return next(size for size in RANKS if size >= rank)


def check_fit(folder: Path, base: Mapping[str, Tensor], config: Mapping[str, Any], where: Path) -> None:
    """Refuse an adapter whose matrices do not fit the weights of its base.

    Modules that the base stores in another form (quantized, experts in one tensor) cannot be checked.

    Args:
        base: the tensors of the base by name.
        config: the config.json of the base.
        where: the folder of the base, for the message.

    Raises:
        ConfigError: names the module, its size and that of the base.
    """
    layers = (config.get("text_config") or config).get("num_hidden_layers")
    known = {name.removesuffix(".weight"): tensor.shape for name, tensor in base.items()}
    checked = False
    parts = list(_parts(_tensors(folder)))
    for module, side, shape in parts:
        layer = _LAYER.search(f".{module}.")
        if layer and isinstance(layers, int) and int(layer[1]) >= layers:
            raise ConfigError(
                f"{folder} adapts layer {layer[1]}, and its base {where} has {layers} (counted from 0); "
                "give the base that it was trained on"
            )
        own = known.get(module)
        if own is None or len(own) != 2 or len(shape) != 2:
            continue
        checked = True
        size, wanted = (shape[1], own[1]) if side == "A" else (shape[0], own[0])
        if size != wanted:
            raise ConfigError(
                f"{folder} does not fit its base {where}: {module} has {wanted} "
                f"{'inputs' if side == 'A' else 'outputs'} there and {size} in the adapter; give the base "
                "that it was trained on"
            )
    if parts and not checked and _has_plain_layers(base) and not _only_experts(parts):
        raise ConfigError(
            f"{folder} adapts modules such as {parts[0][0]}, and its base {where} has none of them; give "
            "the base that it was trained on"
        )


def _config(folder: Path) -> dict[str, Any]:
    file = folder / "adapter_config.json"
    if not file.is_file():
        raise ConfigError(f"{folder} has no adapter_config.json, so it is no adapter; name it as 'path'")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(f"{file} is not valid JSON ({error}); copy it again") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{file}: wanted an object, found {type(found).__name__}")
    return found


def _check_kind(folder: Path, config: Mapping[str, Any]) -> None:
    kind = config.get("peft_type", "LORA")
    if kind != "LORA":
        raise ConfigError(f"{folder} is an adapter of kind {kind}, and vLLM serves LORA only; {_MERGE}")
    for key, words in _REFUSED.items():
        if config.get(key):
            raise ConfigError(f"{folder} {words}, which vLLM does not serve; {_MERGE}")
    if config.get("bias", "none") != "none":
        raise ConfigError(f"{folder} trained biases (bias: {config['bias']}); {_MERGE}")
    whole = [name for name in config.get("modules_to_save") or () if name not in ("classifier", "score")]
    if whole:
        raise ConfigError(
            f"{folder} replaces whole modules (modules_to_save: {', '.join(map(str, whole))}); {_MERGE}"
        )
    start = config.get("init_lora_weights", True)
    if isinstance(start, str) and start.lower() not in _PLAIN_STARTS:
        raise ConfigError(
            f"{folder} began from init_lora_weights: {start}, which changes the weights of the base; {_MERGE}"
        )


_MERGE = "merge it into its base (PEFT: merge_and_unload) and give the merged folder as the model's path"


def _tensors(folder: Path) -> dict[str, Tensor]:
    """Return the tensors of an adapter, or none if the file is not safetensors.

    Raises:
        ConfigError: there is no file, or it is damaged.
    """
    file = folder / "adapter_model.safetensors"
    if file.is_file():
        tensors = read_header(file)
        if any("lora_magnitude_vector" in name for name in tensors):
            raise ConfigError(f"{folder} is a DoRA adapter, which vLLM does not serve; {_MERGE}")
        return tensors
    if not any((folder / name).is_file() for name in ("adapter_model.bin", "adapter_model.pt")):
        raise ConfigError(f"{folder} has no adapter_model.safetensors; copy the rest of the adapter")
    return {}


def _parts(tensors: Mapping[str, Tensor]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield module, side (A reads inputs, B writes outputs) and shape of each LoRA matrix."""
    for name, tensor in tensors.items():
        match = _PART.fullmatch(name)
        if match and tensor.shape:
            yield match["module"], match["side"], tensor.shape


def _has_plain_layers(base: Mapping[str, Tensor]) -> bool:
    return any(_LAYER.search(name) and name.endswith("proj.weight") for name in base)


def _only_experts(parts: Sequence[tuple[str, str, tuple[int, ...]]]) -> bool:
    return all(".experts" in module for module, _, _ in parts)
