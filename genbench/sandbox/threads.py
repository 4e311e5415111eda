"""Sandboxes for callers in any thread, each in a thread of its own that lives as long as they are needed."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from genbench.sandbox.box import Sandbox
from genbench.sandbox.cage import PACKAGES, Cage
from genbench.sandbox.programs import Limits, Returned
from genbench.sandbox.selftest import TierWish, open_cage

_MOST = 4


@dataclass(frozen=True, slots=True)
class SandboxWish:
    """The sandbox that a user wants for functions of a file.

    Args:
        tier: "a" or "b" insists on a tier. None takes the best that works.
        wall_s: seconds of wall clock for one run.
        memory_mib: MiB of memory beyond the interpreter's own.
        unsafe_local_exec: run without a sandbox.
    """

    tier: TierWish = None
    wall_s: float = 10.0
    memory_mib: int = 512
    unsafe_local_exec: bool = False

    @property
    def limits(self) -> Limits:
        """Return the limits of one run."""
        return Limits(wall_s=self.wall_s, memory_mib=self.memory_mib)


class SandboxThreads:
    """Some sandboxes, which are opened at the first call and closed with this object.

    A cage ends with the thread that made it. Therefore each sandbox has its own thread here, and the callers
    may come from any thread and end at any time.

    Args:
        most: how many calls run at a time. None means one for each core, and at most four.
        packages: what programs may import besides the standard library, as far as it is installed.
    """

    def __init__(
        self, wish: SandboxWish, most: int | None = None, packages: Sequence[str] = PACKAGES
    ) -> None:
        self.wish, self._packages = wish, packages
        self._most = most or min(_MOST, len(os.sched_getaffinity(0)))
        self._lock = threading.Lock()
        self._cage: Cage | None = None
        self._owned = threading.local()
        self._boxes: list[Sandbox] = []
        self._threads = ThreadPoolExecutor(self._most, "sandbox")
        self._end = weakref.finalize(self, _close, self._threads, self._boxes)

    @property
    def facts(self) -> str:
        """Return the tier and the interpreter, which can decide a result.

        Raises:
            UnavailableError: there is no sandbox on this machine.
        """
        return self._threads.submit(self._facts).result()

    def call(self, text: str, function: str, argument: Any) -> Returned:
        """Return what a function of a program returns for a JSON argument, in a process of its own.

        Raises:
            UnavailableError: there is no sandbox on this machine.
            SandboxError: no program runs here any more.
        """
        return self._threads.submit(self._call, text, function, argument).result()

    def close(self) -> None:
        """End all sandboxes."""
        self._end()

    def _call(self, text: str, function: str, argument: Any) -> Returned:
        return self._own().call(text, function, argument, self.wish.limits)

    def _facts(self) -> str:
        box = self._own()
        return f"tier {box.cage.tier}, {box.interpreter}"

    def _own(self) -> Sandbox:
        """Return the sandbox of the current thread."""
        found: Sandbox | None = getattr(self._owned, "box", None)
        if found is not None:
            return found
        with self._lock:
            if self._cage is None:
                cage, worker = open_cage(
                    self.wish.tier,
                    unsafe_local_exec=self.wish.unsafe_local_exec,
                    packages=self._packages,
                )
                found, self._cage = Sandbox(cage, worker), cage
            else:
                found = Sandbox(self._cage)
            self._boxes.append(found)
        self._owned.box = found
        return found


def _close(threads: ThreadPoolExecutor, boxes: list[Sandbox]) -> None:
    """Wait for the current calls, and end the sandboxes."""
    threads.shutdown()
    while boxes:
        boxes.pop().close()
