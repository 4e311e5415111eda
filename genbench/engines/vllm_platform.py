"""What a vLLM engine needs on the platform that it runs on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch
from vllm.platforms import current_platform
from vllm.v1.engine.async_llm import AsyncLLM

from genbench.engines import devices
from genbench.engines.vllm_settings import VllmSettings

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
