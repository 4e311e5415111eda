"""Divide the GPUs of this machine among several engines."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from genbench.errors import ConfigError

VISIBLE = "CUDA_VISIBLE_DEVICES"
_QUERY_S = 20


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU: its memory, its name, and the CUDA compute capability."""

    memory_gib: float
    name: str
    capability: float


def visible() -> list[str]:
    """Return the GPUs that this process may use, by index or UUID. The list is empty if there are none."""
    named = os.environ.get(VISIBLE)
    if named is not None:
        return [device.strip() for device in named.split(",") if device.strip()]
    return [index for (index,) in _asked("index")]


def smallest() -> Device | None:
    """Return the visible GPU with the least memory, or None if no NVIDIA driver answers."""
    named = os.environ.get(VISIBLE)
    chosen = None if named is None else set(visible())
    found = [
        Device(float(memory) / 1024, name, float(capability))
        for index, uuid, memory, name, capability in _asked("index,uuid,memory.total,name,compute_cap")
        if chosen is None or {index, uuid} & chosen
    ]
    return min(found, key=lambda device: device.memory_gib, default=None)


def driver() -> str | None:
    """Return the version of the NVIDIA driver, or None if none answers."""
    return next((version for (version,) in _asked("driver_version")), None)


def _asked(fields: str) -> list[list[str]]:
    """Return the values of fields for each GPU. The list is empty without an NVIDIA driver."""
    query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=_QUERY_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [[value.strip() for value in line.split(",")] for line in done.stdout.splitlines() if line.strip()]


def share(devices: Sequence[str], replica: int, replicas: int, size: int) -> tuple[str, ...]:
    """Return the `size` devices of one replica. They are neighbours in the list, as on the board.

    Raises:
        ConfigError: there are fewer devices than all replicas need.
    """
    if len(devices) < replicas * size:
        raise ConfigError(
            f"engine.replicas: {replicas} with {size} GPU(s) each need {replicas * size}, "
            f"found {len(devices)}; lower it, or set {VISIBLE}"
        )
    return tuple(devices[replica * size : (replica + 1) * size])
