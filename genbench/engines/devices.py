"""The GPUs of this machine: which there are, how engines share them, and how busy they are."""

from __future__ import annotations

import asyncio
import ctypes
import os
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

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


def why_none() -> str | None:
    """Return why this process can use no GPU, or None if one answers.

    The driver's library is asked as well, since a container may have it without `nvidia-smi`.
    """
    if os.environ.get(VISIBLE, "0").split(",")[0].strip() in ("", "-1"):
        return f"the variable {VISIBLE} names none"
    try:
        if _query("index") or _has_driver():
            return None
    except OSError:
        return None if _has_driver() else "there is no nvidia-smi"
    except subprocess.TimeoutExpired:
        return f"nvidia-smi said nothing for {_QUERY_S} s"
    except subprocess.CalledProcessError as error:
        said = next(iter(f"{error.stderr}\n{error.stdout}".split("\n\n")[0].strip().splitlines()), "")
        return f"nvidia-smi failed with {error.returncode}{f': {said}' if said else ''}"
    return "nvidia-smi lists none"


def _has_driver() -> bool:
    """Return whether the driver's library (NVML) counts a GPU."""
    try:
        library, count = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_uint(0)
        return (
            library.nvmlInit_v2() == 0
            and library.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
            and count.value > 0
        )
    except (OSError, AttributeError):
        return False


def _asked(fields: str) -> list[list[str]]:
    """Return the values of fields for each GPU. The list is empty without an NVIDIA driver."""
    try:
        return _query(fields)
    except (OSError, subprocess.SubprocessError):
        return []


def _query(fields: str) -> list[list[str]]:
    """Return the values of fields for each GPU, as nvidia-smi says them."""
    query = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits"]
    done = subprocess.run(query, capture_output=True, text=True, timeout=_QUERY_S, check=True)
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


_EVERY_S = 5
_QUERY = ("--query-gpu=index,utilization.gpu", "--format=csv,noheader,nounits")


class GpuWatch:
    """Asks nvidia-smi every five seconds, in a process of its own. Does nothing if there is no nvidia-smi.

    The driver's figure is the share of its last sampling period (a sixth of a second to one second)
    in which any kernel ran. A share of 1 does not mean that the device was full.
    """

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._seen: defaultdict[str, list[float]] = defaultdict(list)

    @property
    def busy(self) -> dict[str, float] | None:
        """Return GPU index -> mean share of time with a kernel running, or None if nothing was measured."""
        if not self._seen:
            return None
        return {index: round(sum(seen) / len(seen), 4) for index, seen in sorted(self._seen.items())}

    async def _read(self, stream: asyncio.StreamReader) -> None:
        while line := await stream.readline():
            index, _, share = line.decode("ascii", "replace").partition(",")
            try:
                value = float(share) / 100
            except ValueError:
                continue  # [N/A]: a partitioned device (MIG) has no figure
            self._seen[index.strip()].append(value)

    async def __aenter__(self) -> Self:
        named = os.environ.get(VISIBLE)
        chosen = ["-i", named] if named else []
        try:
            self._process = await asyncio.create_subprocess_exec(
                "nvidia-smi",
                *_QUERY,
                *chosen,
                "-l",
                str(_EVERY_S),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError:
            return self
        if self._process.stdout is not None:
            self._reader = asyncio.create_task(self._read(self._process.stdout))
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
        if self._process is not None:
            await self._process.wait()
        if self._reader is not None:
            await asyncio.gather(self._reader, return_exceptions=True)
