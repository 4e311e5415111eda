"""What a loaded vLLM engine resolved for itself, and the statistics of its steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from genbench.engines.steps import StepStatistics

_BACKEND = re.compile(rb"Using (\w+) attention backend")
_PACKAGES = ("torch", "triton", "flashinfer-python", "nvidia-nccl-cu13", "nvidia-nccl-cu12", "xgrammar")


def resolved(config: Any) -> dict[str, Any]:
    """Return JSON with what the engine chose while it loaded.

    Args:
        config: vLLM's VllmConfig after loading. A field that a version lacks is left out.
    """
    paths = {
        "max_model_len": "model_config.max_model_len",
        "dtype": "model_config.dtype",
        "max_num_seqs": "scheduler_config.max_num_seqs",
        "max_num_batched_tokens": "scheduler_config.max_num_batched_tokens",
        "chunked_prefill": "scheduler_config.enable_chunked_prefill",
        "async_scheduling": "scheduler_config.async_scheduling",
        "watermark": "scheduler_config.watermark",
        "prefix_caching": "cache_config.enable_prefix_caching",
        "block_size": "cache_config.block_size",
        "blocks": "cache_config.num_gpu_blocks",
        "kv_cache_dtype": "cache_config.cache_dtype",
        "attention_backend": "attention_config.backend",
        "compilation": "compilation_config.mode",
        "graphs": "compilation_config.cudagraph_mode",
        "executor": "parallel_config.distributed_executor_backend",
        "second_runner": "use_v2_model_runner",
    }
    found = {name: _at(config, path) for name, path in paths.items()}
    return {name: value for name, value in found.items() if value is not None}


def _at(config: Any, path: str) -> Any:
    for part in path.split("."):
        config = getattr(config, part, None)
    plain = isinstance(config, bool | int | float | str) or config is None
    return config if plain else getattr(config, "name", str(config))


def packages() -> dict[str, str]:
    """Return the versions of the packages that compute, as far as they are installed."""
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


class StepWatch:
    """Listens to the front end of a vLLM engine (0.32): each step's outputs and its scheduler's state.

    vLLM's own loggers would cost several microseconds a token. The state of a step costs ten.

    Args:
        engine: an AsyncLLM that was loaded with `disable_log_stats=False` and has not answered yet.
        followers: returns the statistics that a step is added to: one of each model that is served.
        heard: called at every step.
    """

    def __init__(
        self, engine: Any, followers: Callable[[], Iterable[StepStatistics]], heard: Callable[[], object]
    ) -> None:
        self._followers, self._heard = followers, heard
        engine.log_stats, engine.logger_manager = False, None
        processor = engine.output_processor
        processor.log_stats = False
        self._process, self._update = processor.process_outputs, processor.update_scheduler_stats
        processor.process_outputs, processor.update_scheduler_stats = self._outputs, self._state

    def _outputs(self, outputs: Sequence[Any], *arguments: Any, **options: Any) -> Any:
        self._heard()
        new = sum(len(output.new_token_ids) for output in outputs)
        for statistics in self._followers():
            statistics.add_tokens(new)
        return self._process(outputs, *arguments, **options)

    def _state(self, state: Any, *arguments: Any, **options: Any) -> Any:
        for statistics in self._followers() if state is not None else ():
            statistics.add_state(state)
        return self._update(state, *arguments, **options)


def logged_backend(log: Path, start: int) -> str | None:
    """Return the attention backend that vLLM chose, or None if the log does not name one.

    The engine's own process chooses it and tells only the log (vLLM 0.32).

    Args:
        start: the byte of the log at which loading began.
    """
    try:
        with log.open("rb") as stream:
            stream.seek(start)
            found = _BACKEND.search(stream.read())
    except OSError:
        return None
    return found[1].decode() if found else None


def facts(
    config: Any,
    kv_tokens: int | None,
    statistics: StepStatistics,
    versions: Mapping[str, str | None],
    backend: str | None = None,
) -> Mapping[str, Any]:
    """Return JSON for the record of an attempt.

    Args:
        versions: of driver, CUDA and NCCL. None for each that is not there.
        backend: the attention backend, if vLLM chose one itself.
    """
    chosen = {} if backend is None else {"attention_backend": backend}
    return {
        "resolved": {**chosen, **resolved(config), "kv_tokens": kv_tokens},
        "packages": {**packages(), **versions},
        "statistics": statistics.record,
    }
