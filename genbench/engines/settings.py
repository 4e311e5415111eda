"""What an engine is started with: paths, sizes and decoding, all resolved; and what of it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.config import Decoding


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything that a vLLM engine is started with.

    Args:
        model, tokenizer, adapter: folders.
        max_model_len: context in tokens.
        decodings: per task, the decoding in force.
        work: a folder for the engine's own small files; log: its log.
        extra: further arguments of AsyncEngineArgs, as the suite says.
    """

    model: Path
    tokenizer: Path
    adapter: Path | None
    dtype: str
    trust_remote_code: bool
    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    decodings: Mapping[str, Decoding]
    work: Path
    log: Path
    extra: Mapping[str, Any] = field(default_factory=dict)
