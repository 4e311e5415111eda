"""vLLM in process through AsyncLLM: token ids in, one final text out, without defaults of the checkpoint."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.platforms import current_platform
from vllm.usage.usage_lib import UsageContext
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.detokenizer import uses_fast_detokenizer

from genbench.engines import devices
from genbench.engines.vllm.environment import output_to
from genbench.engines.vllm.guard import EngineGuard, kill_with_descendants
from genbench.engines.vllm.load_failure import load_failure
from genbench.engines.vllm.loading import load_in_thread
from genbench.engines.vllm.monitoring import StepStatistics, StepWatch, Watchdog, facts, logged_backend
from genbench.engines.vllm.served import ServedModel, TextDecoder
from genbench.engines.vllm.settings import VllmSettings
from genbench.types import Completion, Request, SampleId, ScoreRequest

_WATERMARK = 0.05
"""Share of the KV cache that vLLM keeps free of new requests, so that growing ones are seldom preempted."""


def platform_defaults(settings: VllmSettings) -> dict[str, Any]:
    """Return the arguments that a platform needs. The suite's `engine:` overrides them.

    On CPU a seeded request whose prompt is prefilled in chunks kills the engine (0.32: a CPU
    generator has no offset), and compiling tiny graphs costs more than it saves.
    """
    if not current_platform.is_cpu():
        return {"watermark": _WATERMARK}
    executor = "uni" if settings.gpus == 1 else "mp"
    return {
        "watermark": _WATERMARK,
        "enable_chunked_prefill": False,
        "enforce_eager": True,
        "distributed_executor_backend": executor,
    }


def neutral_generation_config(work: Path) -> Path:
    """Return a folder with an empty generation_config.json.

    generation_config="vllm" would neutralise the defaults and still take the checkpoint's extra eos ids
    as stop tokens (0.32, measured). Base and tuned models often differ in exactly these ids.
    """
    folder = work / "engine"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "generation_config.json").write_text("{}\n", encoding="utf-8")
    return folder


def own_devices(settings: VllmSettings) -> dict[str, Any]:
    """Return the argument that gives a replica its own GPUs, as places among the visible ones."""
    if settings.replicas == 1 or current_platform.is_cpu():
        return {}
    places = [str(place) for place in range(len(devices.visible()))]
    own = devices.share(places, settings.replica, settings.replicas, settings.gpus)
    return {"device_ids": [int(place) for place in own]}


def share_cores(settings: VllmSettings) -> None:
    """Let the operating system place the threads of replicas on CPU. All would bind to the same cores."""
    if settings.replicas > 1 and current_platform.is_cpu():
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")


def process_ids(engine: AsyncLLM) -> list[int]:
    """Return the ids of the processes that an engine started (vLLM 0.32)."""
    manager = engine.engine_core.resources.engine_manager
    return [process.pid for process in manager.processes if process.pid is not None]


def platform_versions() -> dict[str, str | None]:
    """Return the versions of the NVIDIA driver, CUDA and NCCL. None for what is not there, as on CPU."""
    nccl = torch.cuda.nccl.version() if torch.cuda.is_available() else None
    return {
        "driver": devices.driver(),
        "cuda": torch.version.cuda,
        "nccl": None if nccl is None else ".".join(map(str, nccl)),
    }


class VllmEngine:
    """One vLLM engine that is fed with token ids. On GPUs it runs in a child process.

    Args:
        settings: what to load and how. Everything that decoding depends on is explicit there.
    """

    def __init__(self, settings: VllmSettings) -> None:
        self.settings = settings
        self.llm: AsyncLLM | None = None
        self.decoder: TextDecoder | None = None
        self.stall: str | None = None
        self._guard: EngineGuard | None = None
        self._backend: str | None = None
        self._processes: list[int] = []
        self._watching: asyncio.Task[None] | None = None
        self._steps: StepWatch | None = None
        self._models: list[ServedModel] = []
        self._numbers = itertools.count()
        self._own = self.serve(settings)

    def serve(self, settings: VllmSettings) -> ServedModel:
        """Return the engine as a further model of the same checkpoint uses it, until that is closed."""
        model = ServedModel(self, settings, next(self._numbers), self._slots)
        self._models.append(model)
        return model

    def leave(self, model: ServedModel) -> None:
        """Serve a model no longer."""
        if model in self._models:
            self._models.remove(model)

    async def start(self) -> None:
        """Load the model. This takes tens of seconds, and minutes for a large one.

        Raises:
            EngineError: it cannot be loaded. Has advice and the engine's last log lines.
            EngineDiedError: its process was killed from outside. Another one may live.
        """
        settings = self.settings
        share_cores(settings)
        async with settings.loading.turn(partial(output_to, settings.log)):
            log_start = settings.log.stat().st_size if settings.log.exists() else 0
            guard = EngineGuard()
            guard.__enter__()
            try:
                llm = await load_in_thread(self._load, settings.load_timeout_s, AsyncLLM.shutdown)
            except BaseException as error:
                guard.__exit__(None, None, None)
                if not isinstance(error, Exception):
                    raise
                raise load_failure(error, settings, log_start) from error
        guard.settled()
        self.llm, self._guard = llm, guard
        self._backend = logged_backend(settings.log, log_start)
        tokenizer = llm.get_tokenizer()
        self.decoder = TextDecoder.of(tokenizer) if uses_fast_detokenizer(tokenizer) else None
        self._processes = process_ids(llm)
        watchdog = Watchdog(settings.stall_timeout_s)
        self._steps = StepWatch(llm, self._followers, watchdog.heard)
        self._watching = asyncio.create_task(self._watch(watchdog))

    def _followers(self) -> list[StepStatistics]:
        return [model.statistics for model in self._models]

    def _load(self) -> AsyncLLM:
        """Load the model. Several engines may load at the same time, each in a thread of its own."""
        arguments = self._arguments()
        with self.settings.loading.configuring:
            config = arguments.create_engine_config(UsageContext.LLM_CLASS)
        return AsyncLLM.from_vllm_config(config, disable_log_stats=arguments.disable_log_stats)

    @property
    def _slots(self) -> int:
        return self.settings.max_num_seqs * int(self.settings.extra.get("data_parallel_size") or 1)

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what the engine resolved when it loaded, and the statistics of its steps."""
        return self._own.facts

    def facts_of(self, statistics: StepStatistics) -> Mapping[str, Any]:
        """Return what the engine resolved when it loaded, with the statistics of a model's steps."""
        if self.llm is None or self._steps is None:
            return {}
        config, versions = self.llm.vllm_config, platform_versions()
        return facts(config, self.kv_tokens, statistics, versions, self._backend)

    @property
    def tokens_made(self) -> int:
        """Return the tokens of all requests so far, those of running requests among them."""
        return self._own.tokens_made

    @property
    def kv_tokens(self) -> int | None:
        """Return how many tokens the KV caches of all ranks hold, or None before the model is loaded."""
        if self.llm is None:
            return None
        cache = self.llm.vllm_config.cache_config
        return cache.num_gpu_blocks * cache.block_size if cache.num_gpu_blocks else None

    def has_begun(self, sample: SampleId) -> bool:
        """Tell whether the first token of a sample's request was computed. True if it has no request now."""
        return self._own.has_begun(sample)

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of one request, see `ServedModel.generate`."""
        return await self._own.generate(request, attempt)

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        """Return the log-probabilities of given continuations, see `ServedModel.score`."""
        return await self._own.score(request, attempt)

    async def _watch(self, watchdog: Watchdog) -> None:
        """Kill the engine's processes when it gives no token any more. Its requests then end with an error.

        Final output alone is silent for minutes. The tokens of each step arrive here nevertheless, where
        `process_outputs` puts them together (vLLM 0.32).
        """
        await watchdog.watch(lambda: any(model.requests for model in self._models))
        self.stall = (
            f"the engine gave no token for {watchdog.silent_s:.0f} s and was killed "
            "(engine.stall_timeout_s sets the limit)"
        )
        await asyncio.to_thread(kill_with_descendants, self._processes)

    def _arguments(self) -> AsyncEngineArgs:
        settings = self.settings
        own = {
            "model": str(settings.model),
            "tokenizer": str(settings.tokenizer),
            "dtype": settings.dtype,
            "trust_remote_code": settings.trust_remote_code,
            "generation_config": str(neutral_generation_config(settings.work)),
            "seed": 0,
            "max_model_len": settings.max_model_len,
            "max_num_seqs": settings.max_num_seqs,
            "max_num_batched_tokens": settings.max_num_batched_tokens,
            "disable_log_stats": False,
            "enable_lora": settings.lora,
        }
        defaults = platform_defaults(settings) | own_devices(settings)
        return AsyncEngineArgs(**(defaults | settings.arguments | own))

    async def close(self) -> None:
        """End the engine's processes."""
        engine, self.llm = self.llm, None
        decoder, self.decoder = self.decoder, None
        guard, self._guard = self._guard, None
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if engine is not None:
            # Takes up to five seconds. Engines of other lanes go on meanwhile.
            await asyncio.to_thread(engine.shutdown)
        if decoder is not None:
            decoder.close()
        if guard is not None:
            guard.__exit__(None, None, None)
