"""What engines are started with: paths, servers, sizes, decoding, all resolved; and what of it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from genbench.suite.config import Decoding

_WORKERS_PER_SLOT = 2
"""Requests in flight per engine slot: enough to keep it full, few enough to start streaming at once."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Everything that a vLLM engine is started with.

    Args:
        model, tokenizer, adapter: folders.
        max_model_len: context in tokens.
        decodings: per task, the decoding in force.
        work: the run folder, where the engine's log and its own small files go.
        extra: further arguments of AsyncEngineArgs, as the suite says.
        replicas: engines beside one another; `replica` is this one's number.
        share: the engine stays up for the next model of the same checkpoint, so it is loaded with LoRA on.
        load_timeout_s: seconds after which loading counts as hung.
        loading: held while one loads, since each needs variables of this process for itself.
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
    replicas: int = 1
    replica: int = 0
    share: bool = False
    load_timeout_s: float = 3600.0
    loading: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False, repr=False)

    @property
    def lora(self) -> bool:
        """Whether the engine is loaded with LoRA on."""
        return self.share or self.adapter is not None

    @property
    def log(self) -> Path:
        return self.work / "engine.log"

    @property
    def opening(self) -> str:
        """What is about to happen, for people."""
        return "loading the engine" if self.replicas == 1 else f"loading {self.replicas} engines"

    @property
    def workers(self) -> int:
        """Draws in flight per engine."""
        return _WORKERS_PER_SLOT * self.max_num_seqs

    @property
    def members(self) -> dict[str, EngineSettings]:
        """One by name for each engine that works beside the others."""
        return {f"replica {index}": replace(self, replica=index) for index in range(self.replicas)}

    @property
    def gpus(self) -> int:
        """GPUs that one replica takes."""
        sizes = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
        product = 1
        for size in sizes:
            product *= int(self.extra.get(size) or 1)
        return product

    @property
    def circumstances(self) -> dict[str, Any]:
        """What moves only rounding or speed."""
        return {
            "max_model_len": self.max_model_len,
            "max_num_seqs": self.max_num_seqs,
            "max_num_batched_tokens": self.max_num_batched_tokens,
            "replicas": self.replicas,
            "share": self.share,
            **self.extra,
        }


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Everything that the servers of one model are asked with.

    Args:
        told: what the servers say of themselves (version, root, max_model_len); one that says
            otherwise later is not asked.
        eos_token_id: sent as a stop token, so that no server adds the checkpoint's own; None: unknown.
        trace_tags: around a trace that a server hands over apart from the text.
        max_model_len: context in tokens, None where nobody states it.
    """

    base_urls: tuple[str, ...]
    model: str
    api: Literal["vllm", "openai"]
    prompts: Literal["token_ids", "chat"]
    api_key_env: str | None
    concurrency: int
    timeout_s: float
    retries: int
    outage_s: float
    max_model_len: int | None
    decodings: Mapping[str, Decoding]
    told: Mapping[str, Any]
    eos_token_id: int | None = None
    trace_tags: tuple[str, str] = ("", "")
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    work: Path = Path()

    @property
    def log(self) -> Path:
        return self.work / "engine.log"

    @property
    def opening(self) -> str:
        return f"asking {len(self.members)} server{'s' if len(self.members) > 1 else ''}"

    @property
    def workers(self) -> int:
        return self.concurrency

    @property
    def members(self) -> dict[str, HttpSettings]:
        """One by name for each server."""
        return {f"server {url}": replace(self, base_urls=(url,)) for url in dict.fromkeys(self.base_urls)}

    @property
    def circumstances(self) -> dict[str, Any]:
        return {
            "base_urls": list(self.base_urls),
            "served": dict(self.told),
            "max_model_len": self.max_model_len,
            "concurrency": self.concurrency,
            "timeout_s": self.timeout_s,
            "retries": self.retries,
        }
