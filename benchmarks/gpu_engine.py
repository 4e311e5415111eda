"""The bare vLLM engine that benchmarks/gpu.py measures: its model, its arguments and rounds of requests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.plugins.random_model import make_model


@dataclass(frozen=True, slots=True)
class Scale:
    """How much one part draws.

    `tokens` is the length of an answer, `requests` how many are drawn in a round, `rounds` how often each
    arm is measured. `pairs` and `k` are of the part `ratio`, which has 400 problems.
    """

    shape: str
    requests: int
    tokens: int
    rounds: int
    slots: int
    pairs: int
    k: int
    max_tokens: Mapping[str, int]


@dataclass(slots=True)
class Place:
    """Where one part works, and with which sizes."""

    folder: Path
    shape: str
    scale: Scale
    extra: Mapping[str, Any]

    def model(self, name: str = "model", weights_seed: int | None = None, *, tied: bool = False) -> Path:
        return make_model(self.folder / name, self.shape, weights_seed=weights_seed, tied=tied)

    def arguments(self, model: Path, **more: Any) -> dict[str, Any]:
        """What the bare engine is started with: genbench's own sizes, and what the platform needs."""
        from vllm.platforms import current_platform  # noqa: PLC0415  seconds; only the parts pay for it

        on_cpu = current_platform.is_cpu()
        cpu = {
            "enforce_eager": True,
            "enable_chunked_prefill": False,
            "max_num_batched_tokens": 8192,
            "distributed_executor_backend": "uni",
            "gpu_memory_utilization": 0.2,
        }
        base = {
            "model": str(model),
            "load_format": "dummy",
            "dtype": "bfloat16",
            "max_model_len": 4096,
            "max_num_seqs": self.scale.slots,
            "disable_log_stats": True,
            "seed": 0,
        }
        return base | (cpu if on_cpu else {}) | dict(self.extra) | more


@dataclass(slots=True)
class Meter:
    """Counts what the scheduler says at every step."""

    preempted: int = 0
    steps: int = 0
    most_running: int = 0

    def logger(self, config: Any, engine_index: int = 0) -> Any:
        from vllm.v1.metrics.loggers import StatLoggerBase  # noqa: PLC0415

        meter = self

        class Logger(StatLoggerBase):  # type: ignore[misc]  # vLLM carries no types
            def __init__(self, config: Any, engine_index: int = 0) -> None:
                return

            def record(self, scheduler_stats: Any, iteration_stats: Any, *_: Any, **__: Any) -> None:
                if iteration_stats is not None:
                    meter.steps += 1
                    meter.preempted += iteration_stats.num_preempted_reqs
                if scheduler_stats is not None:
                    meter.most_running = max(meter.most_running, scheduler_stats.num_running_reqs)

            def log_engine_initialized(self) -> None:
                return

        return Logger(config, engine_index)


@dataclass(slots=True)
class Bare:
    """The bare engine and rounds of requests to it."""

    llm: Any
    numbers: int = field(default=0)

    @classmethod
    def start(cls, arguments: Mapping[str, Any], meter: Meter | None = None) -> Bare:
        from vllm.engine.arg_utils import AsyncEngineArgs  # noqa: PLC0415
        from vllm.v1.engine.async_llm import AsyncLLM  # noqa: PLC0415

        given = dict(arguments) | ({"disable_log_stats": False} if meter else {})
        loggers = [meter.logger] if meter else None
        return cls(AsyncLLM.from_engine_args(AsyncEngineArgs(**given), stat_loggers=loggers))

    async def draw(
        self,
        requests: int,
        tokens: int,
        *,
        seeded: bool = True,
        detokenize: bool = True,
        temperature: float = 0.6,
        in_flight: int | None = None,
        begun: Mapping[int, Sequence[int]] = MappingProxyType({}),
    ) -> tuple[float, dict[int, tuple[int, ...]]]:
        """Wall seconds of one round, and the token ids of each request. `begun` are tokens that it has."""
        from vllm import SamplingParams  # noqa: PLC0415
        from vllm.sampling_params import RequestOutputKind  # noqa: PLC0415

        self.numbers += 1
        gate = asyncio.Semaphore(in_flight or requests)
        texts: dict[int, tuple[int, ...]] = {}

        async def one(place: int) -> None:
            parameters = SamplingParams(
                temperature=temperature,
                top_p=0.95 if temperature else 1.0,
                seed=place if seeded and temperature else None,
                max_tokens=tokens - len(begun.get(place, ())),
                ignore_eos=True,
                detokenize=detokenize,
                output_kind=RequestOutputKind.FINAL_ONLY,
            )
            asked = [1 + (place * 7 + step) % 200 for step in range(64)]
            prompt = {"prompt_token_ids": [*asked, *begun.get(place, ())]}
            async with gate:
                async for output in self.llm.generate(prompt, parameters, f"{self.numbers}-{place}"):
                    texts[place] = tuple(output.outputs[0].token_ids)

        began = time.monotonic()
        await asyncio.gather(*(one(place) for place in range(requests)))
        return time.monotonic() - began, texts


def row(what: str, value: float | str, unit: str, digits: int = 1) -> dict[str, Any]:
    return {"what": what, "value": round(value, digits) if isinstance(value, float) else value, "unit": unit}
