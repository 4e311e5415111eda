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
        work: the run folder, where the engine's log and its own small files go.
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
    work: Path = Path()
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.work / "engine.log"

    @property
    def circumstances(self) -> dict[str, Any]:
        """What moves only rounding or speed."""
        return {
            "max_model_len": self.max_model_len,
            "max_num_seqs": self.max_num_seqs,
            "max_num_batched_tokens": self.max_num_batched_tokens,
            **self.extra,
        }
