"""Small safetensors files, whole or damaged, written without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path


def write_tensors(file: Path, shapes: Mapping[str, Sequence[int]]) -> Path:
    """Write bfloat16 tensors of these shapes, all zero."""
    header: dict[str, object] = {}
    end = 0
    for name, shape in shapes.items():
        begin, end = end, end + 2 * prod(shape)
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + bytes(end))
    return file


def write_adapter(
    folder: Path, rank: int = 8, shapes: Mapping[str, Sequence[int]] | None = None, **config: object
) -> Path:
    """Write a LoRA adapter of the query projection of the tiny checkpoints' first layer."""
    folder.mkdir(exist_ok=True)
    record = {"peft_type": "LORA", "r": rank, "lora_alpha": 16, "target_modules": ["q_proj"]} | config
    (folder / "adapter_config.json").write_text(json.dumps(record))
    module = "base_model.model.model.layers.0.self_attn.q_proj"
    own = {f"{module}.lora_A.weight": (rank, 128), f"{module}.lora_B.weight": (128, rank)}
    write_tensors(folder / "adapter_model.safetensors", own if shapes is None else shapes)
    return folder
