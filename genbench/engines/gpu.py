"""Measure how busy the GPUs are while an engine draws."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from typing import Self

from genbench.engines.devices import VISIBLE

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
