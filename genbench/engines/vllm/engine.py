"""vLLM in process through AsyncLLM: token ids in, one final text out, without defaults of the checkpoint.

`ServedModel` is the use of an engine by one model: its adapter, its decoding, its requests, and the scores of
given texts.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import itertools
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, cast

import torch
from vllm import SamplingParams
from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.exceptions import VLLMClientError
from vllm.inputs import tokens_input
from vllm.lora.request import LoRARequest
from vllm.platforms import current_platform
from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams
from vllm.usage.usage_lib import UsageContext
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.detokenizer import uses_fast_detokenizer
from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

from genbench.engines import devices
from genbench.engines.likelihood import Scored, cache_readers, joined, logprob_of, scored_completion, sum_of
from genbench.engines.vllm.detokenizer import TextDecoder
from genbench.engines.vllm.environment import log_tail, output_to
from genbench.engines.vllm.guard import EngineGuard, kill_with_descendants
from genbench.engines.vllm.kind import VllmSettings
from genbench.engines.vllm.loading import load_failure, load_in_thread
from genbench.engines.vllm.monitoring import (
    LoopWatch,
    StepStatistics,
    StepWatch,
    Watchdog,
    facts,
    logged_backend,
)
from genbench.errors import ConfigError, EngineDiedError, RequestFailedError
from genbench.protocols import Engine
from genbench.suite.config import Decoding
from genbench.types import (
    ChoiceScore,
    Completion,
    Continuation,
    FinishReason,
    Request,
    SampleId,
    ScoreRequest,
)

__all__ = ["PromptScorer", "scored_completion"]

_MOST_LABELS = 20
"""Next tokens that one request is asked about, which is vLLM's default of max_logprobs."""


class PromptScorer:
    """Scores continuations with one engine.

    Continuations of one context read it from the prefix cache. This is safe under two rules, checked with
    vLLM 0.32. The rows of cached tokens are uninitialised memory on CPU, and are missing on GPUs, so rows are
    counted from the end. The row that predicts the first token of a continuation was computed if the cached
    tokens do not reach it; otherwise the request is sent again without the cache.

    Args:
        engine: an AsyncLLM.
        block: tokens of a block of the cache.
        lora: the adapter, or None.
    """

    def __init__(self, engine: AsyncLLM, block: int, lora: LoRARequest | None) -> None:
        self._engine, self._block, self._lora = engine, block, lora

    async def score(self, request: ScoreRequest, name: str) -> tuple[ChoiceScore, ...]:
        """Return the scores of the request's choices.

        Args:
            name: begins the ids of the engine's requests. The first one is `name/0`.

        Raises:
            RequestFailedError: a log-probability is not a finite number, or vLLM gave none.
            EngineDiedError: vLLM aborted a request.
        """
        items = request.continuations
        if _are_labels(items):
            found = await self._labels(items, name)
        else:
            reads = cache_readers(items, self._block)
            found = await asyncio.gather(
                *(
                    self._continuation(item, f"{name}/{place}", reads=reads[place])
                    for place, item in enumerate(items)
                )
            )
        return joined(request, found)

    async def _continuation(self, item: Continuation, name: str, *, reads: bool) -> Scored:
        output = await self._output(item, name, reads=reads)
        if reads and (output.num_cached_tokens or 0) > len(item.context) - 1:
            output = await self._output(item, f"{name}/again", reads=False)
        rows = output.prompt_logprobs or []
        if len(rows) < len(item.token_ids):
            raise RequestFailedError(f"request {name}: vLLM gave {len(rows)} rows of log-probabilities")
        return sum_of(item.token_ids, rows[len(rows) - len(item.token_ids) :], name)

    async def _output(self, item: Continuation, name: str, *, reads: bool) -> Any:
        params = _params(prompt_logprobs=0, skip_reading_prefix_cache=not reads)
        return await self._final([*item.context, *item.token_ids], params, name)

    async def _labels(self, items: Sequence[Continuation], name: str) -> list[Scored]:
        """Return the scores of single tokens after one context, from one request."""
        ids = list(dict.fromkeys(item.token_ids[0] for item in items))
        output = await self._final(list(items[0].context), _params(logprob_token_ids=ids), f"{name}/0")
        drawn = output.outputs[0]
        row = (drawn.logprobs or [{}])[0]
        found = []
        for item in items:
            token = item.token_ids[0]
            greedy = token == drawn.token_ids[0]
            found.append(Scored(logprob_of(row, token, name), 1, greedy))
        return found

    async def _final(self, ids: list[int], params: SamplingParams, name: str) -> Any:
        """Return the only event of a request."""
        last = None
        async for event in self._engine.generate(tokens_input(ids), params, name, lora_request=self._lora):
            last = event
        if last is None:
            raise RequestFailedError(f"request {name}: the engine gave no output")
        if (last.outputs[0].finish_reason or "abort") == "abort":
            raise EngineDiedError("the engine aborted a request that nobody cancelled")
        return last


def _are_labels(items: Sequence[Continuation]) -> bool:
    """Return whether the continuations are single tokens after one context."""
    return (
        1 < len(items) <= _MOST_LABELS
        and all(len(item.token_ids) == 1 for item in items)
        and all(item.context == items[0].context for item in items)
    )


def _params(**asked: Any) -> SamplingParams:
    return SamplingParams(
        n=1,
        temperature=0.0,
        max_tokens=1,
        detokenize=False,
        output_kind=RequestOutputKind.FINAL_ONLY,
        **asked,
    )


class ServedModel(Engine):
    """The engine as one model uses it. Several models may use one engine at the same time.

    Args:
        host: the engine.
        settings: those of the model.
        number: tells the requests of models apart that are served at the same time. Adds to their ids.
        slots: requests that the engine computes at the same time, over all ranks.
    """

    def __init__(self, host: VllmEngine, settings: VllmSettings, number: int, slots: int) -> None:
        self._host, self._number, self._log = host, number, settings.log
        self.sampling = {task: Sampling(decoding) for task, decoding in settings.decodings.items()}
        self._lora = _lora_request(settings.adapter)
        self._has_place = False
        self.requests: dict[SampleId, str] = {}
        """By sample, the id of its request."""
        self.statistics = StepStatistics(slots)
        """Statistics of the engine's steps since it serves this model."""

    async def start(self) -> None:
        """Load the model's adapter as soon as the engine has a place for it.

        vLLM would load it with the first request, and its whole engine ends if that fails (0.32).

        Raises:
            EngineDiedError: the engine is gone.
            ConfigError: vLLM cannot load the adapter.
        """
        llm, lora = self._host.llm, self._lora
        if lora is None:
            return
        if llm is None:
            raise EngineDiedError("the engine is not running")
        await self._host.places.acquire()
        self._has_place = True
        try:
            await llm.add_lora(lora)
        except EngineDeadError as error:
            raise EngineDiedError(f"the engine died:\n{log_tail(self._log)}") from error
        except Exception as error:
            raise ConfigError(
                f"vLLM cannot load the adapter {lora.lora_path}: {error}; give the base that it was trained "
                "on, or merge it into that"
            ) from error

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what the engine resolved when it loaded, and the statistics of its steps."""
        return self._host.facts_of(self.statistics)

    @property
    def tokens_made(self) -> int:
        """Return the tokens of the engine since it serves this model, those of running requests too."""
        return self.statistics.tokens

    @property
    def kv_tokens(self) -> int | None:
        """Return how many tokens the KV caches of all ranks hold, or None before the model is loaded."""
        return self._host.kv_tokens

    def has_begun(self, sample: SampleId) -> bool:
        """Tell whether the first token of a sample's request was computed. True if it has no request now."""
        request_id, llm = self.requests.get(sample), self._host.llm
        if request_id is None or llm is None:
            return True
        processor = llm.output_processor
        states = [
            processor.request_states.get(inner) for inner in processor.external_req_ids.get(request_id, ())
        ]
        return any(state is not None and not state.is_prefilling for state in states)

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of one request.

        Raises:
            EngineDiedError: the engine's process is gone, or it aborted the request. Start another engine.
            RequestFailedError: this request failed. The engine still works.
        """
        sample = request.sample
        name, started = self._request_id(request, attempt), time.monotonic()
        with self._answering(sample, name):
            output, text, offsets = await self._final(request, name)
        finish: FinishReason = output.finish_reason or "abort"
        if self._host.loops.take(name):
            finish = "loop"
        if finish == "abort":
            raise EngineDiedError("the engine aborted a request that nobody cancelled")
        return Completion(
            sample=sample,
            turn=request.turn,
            seed=request.seed,
            prompt_digest=request.prompt_digest,
            text=text,
            finish_reason=finish,
            prompt_tokens=len(request.token_ids),
            completion_tokens=len(output.token_ids),
            trace_tokens=None,
            max_tokens=request.max_tokens,
            attempt=attempt,
            seconds=time.monotonic() - started,
            trace_opened=request.trace_opened,
            offsets=offsets,
        )

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        """Return the log-probabilities of given continuations. Errors are those of `generate`."""
        name, started, llm = self._request_id(request, attempt), time.monotonic(), self._host.llm
        with self._answering(request.sample, f"{name}/0"):
            if llm is None:
                raise EngineDiedError("the engine is not running")
            block = llm.vllm_config.cache_config.block_size
            choices = await PromptScorer(llm, block, self._lora).score(request, name)
        return scored_completion(request, attempt, choices, time.monotonic() - started)

    def _request_id(self, request: Request, attempt: int) -> str:
        sample = request.sample
        name = f"{sample.task}/{sample.problem_id}/{sample.sample_index}/{request.turn}/{attempt}"
        return f"{name}/{self._number}" if self._number else name

    @contextmanager
    def _answering(self, sample: SampleId, request_id: str) -> Iterator[None]:
        """Keep the id of a sample's request while it runs, and turn vLLM's errors into ours."""
        self.requests[sample] = request_id
        try:
            yield
        except EngineDeadError as error:
            what = self._host.stall or "the engine died"
            raise EngineDiedError(f"{what}:\n{log_tail(self._log)}") from error
        except (EngineGenerateError, VLLMClientError, ValueError) as error:
            raise RequestFailedError(f"request {request_id}: {error}") from error
        finally:
            del self.requests[sample]
            self._host.loops.watched.pop(request_id, None)

    async def _final(self, request: Request, request_id: str) -> tuple[Any, str, tuple[int, ...]]:
        """Return the request's only event, its text, and its offsets.

        Streamed output costs up to 2.3 times the wall time. Stop texts have to be looked for in the text of
        every step. Without any, one decode at the end is enough, which costs a twentieth.
        """
        llm, sampling = self._host.llm, self.sampling[request.sample.task]
        if llm is None:
            raise EngineDiedError("the engine is not running")
        decoder = None if sampling.decoding.stop else self._host.decoder
        if decoder is not None and not decoder.ends_whole(request.token_ids):
            decoder = None
        if sampling.decoding.stop_on_loop:
            self._host.loops.watch(request_id)
        # Tokens that are ready do not go through vLLM's thread for prompts (0.32).
        stream = llm.generate(
            tokens_input(list(request.token_ids)),
            sampling.params(request, detokenize=decoder is None),
            request_id,
            lora_request=self._lora,
        )
        last = None
        async for event in stream:
            last = event
        if last is None:
            raise RequestFailedError(f"request {request_id}: the engine gave no output")
        output = last.outputs[0]
        if decoder is None:
            return output, output.text, ()
        spoken = _spoken(output)
        text = await decoder.text(request.token_ids, spoken)
        return output, text, await decoder.offsets(spoken)

    async def close(self) -> None:
        """Serve this model no longer, and give its adapter's place free. The engine stays up."""
        self._host.leave(self)
        if not self._has_place:
            return
        self._has_place = False
        llm, lora = self._host.llm, self._lora
        try:
            if llm is not None and lora is not None:
                with suppress(Exception):  # the engine is gone, or never had it
                    await llm.remove_lora(lora.lora_int_id)
        finally:
            self._host.places.release()


def _spoken(output: Any) -> Sequence[int]:
    """Return the tokens of a completion that its text has: all but the one that stopped it (vLLM 0.32)."""
    ids: Sequence[int] = output.token_ids
    return ids[:-1] if output.finish_reason == "stop" else ids


def _lora_request(adapter: Path | None) -> LoRARequest | None:
    """Return an adapter as vLLM takes it. It knows adapters by number, and two must not have one."""
    if adapter is None:
        return None
    number = int.from_bytes(hashlib.sha256(str(adapter).encode()).digest()[:4], "big") >> 1
    return LoRARequest(adapter.name, number + 1, str(adapter))


class Sampling:
    """The decoding of one task as vLLM takes it."""

    def __init__(self, decoding: Decoding) -> None:
        self.decoding = decoding
        self._checked: SamplingParams | None = None

    def params(self, request: Request, *, detokenize: bool = True) -> SamplingParams:
        """Return vLLM's parameters. Those of the samples of a task differ in seed and tokens only.

        vLLM checks them once, which takes longer than the copies that each sample and vLLM make of them.
        """
        if request.structured:
            return self._made(request, detokenize=detokenize)
        if self._checked is None:
            self._checked = self._made(request, detokenize=detokenize)
        params = copy.copy(self._checked)
        params.seed, params.max_tokens, params.detokenize = request.seed, request.max_tokens, detokenize
        return params

    def _made(self, request: Request, *, detokenize: bool) -> SamplingParams:
        """Every field is given, so that none has a default of vLLM or the model."""
        return SamplingParams(
            n=1,
            **self.decoding.sampling,
            seed=request.seed,
            max_tokens=request.max_tokens,
            detokenize=detokenize,
            skip_clone=True,
            skip_special_tokens=False,
            spaces_between_special_tokens=False,
            include_stop_str_in_output=False,
            output_kind=RequestOutputKind.FINAL_ONLY,
            structured_outputs=StructuredOutputsParams(**request.structured) if request.structured else None,
        )


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


def ask_for_end_token_once(engine: AsyncLLM) -> None:
    """Keep the token that ends a text. vLLM asks a pool of tokenizers for it with each request (0.32)."""
    end = engine.renderer.get_eos_token_id()
    engine.renderer.get_eos_token_id = lambda: end


def platform_versions() -> dict[str, str | None]:
    """Return the versions of the NVIDIA driver, CUDA and NCCL. None for what is not there, as on CPU."""
    nccl = torch.cuda.nccl.version() if torch.cuda.is_available() else None
    return {
        "driver": devices.driver(),
        "cuda": torch.version.cuda,
        "nccl": None if nccl is None else ".".join(map(str, nccl)),
    }


class VllmEngine(Engine):
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
        self.loops = LoopWatch(self._vocabulary)
        self._numbers = itertools.count()
        self.places = asyncio.Semaphore(settings.adapters)
        """Those for adapters. Each is taken by a model from its start to its end."""
        self._own = self.serve(settings)

    def serve(self, settings: VllmSettings) -> ServedModel:
        """Return the engine as a further model of the same checkpoint uses it, until that is closed."""
        model = ServedModel(self, settings, next(self._numbers), self.settings.slots)
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
                raise load_failure(error, settings.log, settings.load_timeout_s, log_start) from error
        guard.settled()
        ask_for_end_token_once(llm)
        self.llm, self._guard = llm, guard
        self._backend = logged_backend(settings.log, log_start)
        tokenizer = llm.get_tokenizer()
        self.decoder = TextDecoder.of(tokenizer) if uses_fast_detokenizer(tokenizer) else None
        self._processes = process_ids(llm)
        watchdog = Watchdog(settings.stall_timeout_s)
        self._steps = StepWatch(llm, self._followers, watchdog.heard, self.loops)
        self._watching = asyncio.create_task(self._watch(watchdog))
        if settings.share_key is None:
            await self._own.start()

    def _vocabulary(self) -> Mapping[str, int]:
        """Return the pieces of the tokenizer with their numbers, or none if it does not tell them."""
        read = None if self.llm is None else getattr(self.llm.get_tokenizer(), "get_vocab", None)
        return {} if read is None else cast("Mapping[str, int]", read())

    def _followers(self) -> list[StepStatistics]:
        return [model.statistics for model in self._models]

    def _load(self) -> AsyncLLM:
        """Load the model. Several engines may load at the same time, each in a thread of its own."""
        arguments = self._arguments()
        with self.settings.loading.configuring:
            config = arguments.create_engine_config(UsageContext.LLM_CLASS)
        return AsyncLLM.from_vllm_config(config, disable_log_stats=arguments.disable_log_stats)

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
