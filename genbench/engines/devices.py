"""Divide the GPUs of this machine among several engines."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from genbench.errors import ConfigError

VISIBLE = "CUDA_VISIBLE_DEVICES"


def visible() -> list[str]:
    """Return the GPUs that this process may use, by index or UUID. The list is empty if there are none."""
    named = os.environ.get(VISIBLE)
    if named is not None:
        return [device.strip() for device in named.split(",") if device.strip()]
    query = ["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"]
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.split()


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
