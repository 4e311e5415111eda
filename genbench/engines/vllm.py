"""vLLM in process through AsyncLLM: token ids in, one final text out, without defaults of the checkpoint."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from vllm import SamplingParams
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.exceptions import VLLMClientError
from vllm.lora.request import LoRARequest
from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams
from vllm.usage.usage_lib import UsageContext
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

from genbench.engines.advice import load_failure
from genbench.engines.environment import log_tail, output_to
from genbench.engines.guard import EngineGuard, kill_with_descendants
from genbench.engines.loading import load_in_thread
from genbench.engines.steps import StepStatistics
from genbench.engines.vllm_facts import StepWatch, facts
from genbench.engines.vllm_platform import (
    neutral_generation_config,
    own_devices,
    platform_defaults,
    process_ids,
    share_cores,
)
from genbench.engines.vllm_settings import VllmSettings
from genbench.engines.watchdog import Watchdog
from genbench.errors import EngineDiedError, RequestFailedError
from genbench.suite.config import Decoding
from genbench.types import Completion, FinishReason, Request, SampleId


class VllmEngine:
    """One vLLM engine that is fed with token ids. On GPUs it runs in a child process.

    Args:
        settings: what to load and how. Everything that decoding depends on is explicit there.
    """

    def __init__(self, settings: VllmSettings) -> None:
        self.settings = settings
        self._log = settings.log
        self._engine: AsyncLLM | None = None
        self._guard: EngineGuard | None = None
        self._processes: list[int] = []
        self._requests: dict[SampleId, str] = {}
        self._watching: asyncio.Task[None] | None = None
        self._steps: StepWatch | None = None
        self._stall: str | None = None
        self.serve(settings)

    def serve(self, settings: VllmSettings) -> None:
        """Go on with the adapter and the decoding of another model of the same checkpoint."""
        if self._steps is not None:
            self._steps.statistics = StepStatistics(self._slots)
        self._sampling = {task: _Sampling(decoding) for task, decoding in settings.decodings.items()}
        self._lora: LoRARequest | None = None
        if settings.adapter is not None:
            # The engine knows adapters by number. Two with one number would be taken for the same.
            number = int.from_bytes(hashlib.sha256(str(settings.adapter).encode()).digest()[:4], "big") >> 1
            self._lora = LoRARequest(settings.adapter.name, number + 1, str(settings.adapter))

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
                self._engine = await load_in_thread(self._load, settings.load_timeout_s, AsyncLLM.shutdown)
            except BaseException as error:
                guard.__exit__(None, None, None)
                if not isinstance(error, Exception):
                    raise
                raise load_failure(error, settings, log_start) from error
        guard.settled()
        self._guard = guard
        self._processes = process_ids(self._engine)
        watchdog = Watchdog(settings.stall_timeout_s)
        self._steps = StepWatch(self._engine, self._slots, watchdog.heard)
        self._watching = asyncio.create_task(self._watch(watchdog))

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
        if self._engine is None or self._steps is None:
            return {}
        return facts(self._engine.vllm_config, self.kv_tokens, self._steps.statistics)

    @property
    def tokens_made(self) -> int:
        """Return the tokens of all requests so far, those of running requests among them."""
        return 0 if self._steps is None else self._steps.tokens

    @property
    def kv_tokens(self) -> int | None:
        """Return how many tokens the KV caches of all ranks hold, or None before the model is loaded."""
        if self._engine is None:
            return None
        cache = self._engine.vllm_config.cache_config
        return cache.num_gpu_blocks * cache.block_size if cache.num_gpu_blocks else None

    def has_begun(self, sample: SampleId) -> bool:
        """Tell whether the first token of a sample's request was computed. True if it has no request now."""
        request_id = self._requests.get(sample)
        if request_id is None or self._engine is None:
            return True
        processor = self._engine.output_processor
        states = [
            processor.request_states.get(inner) for inner in processor.external_req_ids.get(request_id, ())
        ]
        return any(state is not None and not state.is_prefilling for state in states)

    async def _watch(self, watchdog: Watchdog) -> None:
        """Kill the engine's processes when it gives no token any more. Its requests then end with an error.

        Final output alone is silent for minutes. The tokens of each step arrive here nevertheless, where
        `process_outputs` puts them together (vLLM 0.32).
        """
        await watchdog.watch(lambda: bool(self._requests))
        self._stall = (
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

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of one request.

        Raises:
            EngineDiedError: the engine's process is gone, or it aborted the request. Start another engine.
            RequestFailedError: this request failed. The engine goes on.
        """
        if self._engine is None:
            raise EngineDiedError("the engine is not running")
        sample = request.sample
        request_id = f"{sample.task}/{sample.problem_id}/{sample.sample_index}/{request.turn}/{attempt}"
        started = time.monotonic()
        self._requests[sample] = request_id
        try:
            output = await self._final(request, request_id)
        except EngineDeadError as error:
            what = self._stall or "the engine died"
            raise EngineDiedError(f"{what}:\n{log_tail(self._log)}") from error
        except (EngineGenerateError, VLLMClientError, ValueError) as error:
            raise RequestFailedError(f"request {request_id}: {error}") from error
        finally:
            del self._requests[sample]
        finish: FinishReason = output.finish_reason or "abort"
        if finish == "abort":
            raise EngineDiedError("the engine aborted a request that nobody cancelled")
        return Completion(
            sample=sample,
            turn=request.turn,
            seed=request.seed,
            prompt_digest=request.prompt_digest,
            text=output.text,
            finish_reason=finish,
            prompt_tokens=len(request.token_ids),
            completion_tokens=len(output.token_ids),
            trace_tokens=None,
            max_tokens=request.max_tokens,
            attempt=attempt,
            seconds=time.monotonic() - started,
            trace_opened=request.trace_opened,
        )

    async def _final(self, request: Request, request_id: str) -> Any:
        """Return the only event of the request. Streamed output costs up to 2.3 times the wall time."""
        if self._engine is None:
            raise EngineDiedError("the engine is not running")
        stream = self._engine.generate(
            {"prompt_token_ids": list(request.token_ids)},
            self._sampling[request.sample.task].params(request),
            request_id,
            lora_request=self._lora,
        )
        last = None
        async for event in stream:
            last = event
        if last is None:
            raise RequestFailedError(f"request {request_id}: the engine gave no output")
        return last.outputs[0]

    async def close(self) -> None:
        """End the engine's processes."""
        engine, self._engine = self._engine, None
        guard, self._guard = self._guard, None
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        if engine is not None:
            engine.shutdown()
        if guard is not None:
            guard.__exit__(None, None, None)


@dataclass(frozen=True, slots=True)
class _Sampling:
    decoding: Decoding

    def params(self, request: Request) -> SamplingParams:
        """Return vLLM's parameters. Every field is given, so that none has a default of vLLM or the model."""
        decoding = self.decoding
        return SamplingParams(
            n=1,
            temperature=decoding.temperature,
            top_p=decoding.top_p,
            top_k=decoding.top_k,
            min_p=decoding.min_p,
            presence_penalty=decoding.presence_penalty,
            frequency_penalty=decoding.frequency_penalty,
            repetition_penalty=decoding.repetition_penalty,
            seed=request.seed,
            max_tokens=request.max_tokens,
            min_tokens=decoding.min_tokens,
            stop=list(decoding.stop),
            stop_token_ids=list(decoding.stop_token_ids),
            ignore_eos=decoding.ignore_eos,
            skip_special_tokens=False,
            spaces_between_special_tokens=False,
            include_stop_str_in_output=False,
            thinking_token_budget=decoding.thinking_token_budget,
            output_kind=RequestOutputKind.FINAL_ONLY,
            structured_outputs=StructuredOutputsParams(**request.structured) if request.structured else None,
        )
