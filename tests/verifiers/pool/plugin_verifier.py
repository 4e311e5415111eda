"""A plug-in that misbehaves on request; worker processes import it by name."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from genbench.types import Case, Finding


class PlugIn:
    def __init__(
        self,
        *,
        time_limit_s: float = 5.0,
        tally: str | None = None,
        pids: str | None = None,
        loads_that_die: int = 0,
        loads_that_hang_after: int = 1 << 30,
        loads_refused: Sequence[int] = (),
        loads_of_another_version: Sequence[int] = (),
        faults_always: bool = False,
    ) -> None:
        self.version = "1"
        if pids is not None:
            (Path(pids) / str(os.getpid())).touch()
        self._limit = time_limit_s
        self._faults_always = faults_always
        self._tally = Path(tally) if tally else None
        if self._count() <= loads_that_die:
            os._exit(3)
        if tally and self._count() > loads_that_hang_after:
            time.sleep(60)
        if loads_refused and self._count() in loads_refused:
            raise ValueError("not this time")
        if loads_of_another_version and self._count() in loads_of_another_version:
            self.version = "2"

    def _count(self) -> int:
        """How often this was asked, over all workers; a byte each time."""
        if self._tally is None:
            return 1 << 30
        with self._tally.open("ab") as file:
            file.write(b".")
        return self._tally.stat().st_size

    def time_limit_s(self, case: Case) -> float:
        return self._limit

    def verify(self, case: Case) -> Finding:
        text = case.answer.text
        if text in HOSTILE:
            HOSTILE[text]()
        if text == "crash twice" and self._count() <= 5:
            os._exit(3)
        if text == "fault" or self._faults_always:
            ctypes.string_at(0)
        if text == "stop once" and self._count() <= 3:
            os.kill(os.getpid(), signal.SIGSTOP)
        if text == "killed once":
            if self._count() <= 5:
                os.kill(os.getpid(), signal.SIGKILL)
            return Finding(0.0, "wrong", detail=self._around())
        if text == "busy":
            return self._busy()
        if text == "raise":
            _ = 1 / 0
        if text == "eat":
            bytearray(64 << 30)
        if text == "nest":
            return Finding(0.0, "wrong", detail={"why": _nested(900)})
        if text == "print":
            print("noise", flush=True)
        return Finding(0.0, "wrong", extracted=text)

    def _around(self) -> dict[str, int]:
        """The memory limit, and the most cases that other workers were busy with."""
        assert self._tally is not None
        most, end = 0, time.monotonic() + 0.5
        while time.monotonic() < end:
            most = max(most, len(list(self._tally.parent.glob("busy-*"))))
            time.sleep(0.01)
        return {"limit": resource.getrlimit(resource.RLIMIT_AS)[0], "busy": most}

    def _busy(self) -> Finding:
        assert self._tally is not None
        own = self._tally.with_name(f"busy-{os.getpid()}")
        own.touch()
        time.sleep(0.1)
        own.unlink()
        return Finding(0.0, "wrong", extracted="busy")

    def close(self) -> None:
        return


def _nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


def _interrupt() -> None:
    raise KeyboardInterrupt


def _forge() -> None:
    """Write into everything that this process has open, the pool's socket among it."""
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            os.write(int(entry.name), b"\xff" * 8)


class UnreadableError(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def _raise_unreadable() -> None:
    raise UnreadableError


def _fork() -> None:
    """Come back twice: the child is late, and must say nothing."""
    if os.fork() == 0:
        time.sleep(0.3)


HOSTILE: Mapping[str, Callable[[], object]] = {
    "hang": lambda: time.sleep(60),
    "hang in c": lambda: 3 ** (3**19) % 7,
    "crash": lambda: os._exit(3),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "slow": lambda: time.sleep(1.5),
    "forge": _forge,
    "interrupt": _interrupt,
    "raise unreadable": _raise_unreadable,
    "fork": _fork,
}
