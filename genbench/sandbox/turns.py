"""Turns on this machine: shared turns for most programs, and sole turns for those that timed out.

A program that timed out on a busy core runs again while no other program runs. Workers are in several
processes, so the turns are file locks. The locks are advisory, between runs of one user. If a turn is not
given in time, the program runs all the same.
"""

from __future__ import annotations

import fcntl
import math
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_PATIENCE_S = 30.0
_LATER_PATIENCE_S = 0.1
"""Seconds to wait for a lock after a wait was in vain. The process that has it may be stopped for hours."""
_LEAVING_S = 2.0
"""Seconds for which the gate is closed while running programs end."""
_PAUSE_S = 0.02
_REST = 3.0
"""Time for all programs after a sole turn, as a multiple of its length. One user's sole turns take a
quarter of the time."""
_LONGEST_REST_S = 300.0
_YIELD_S = 0.5
"""Further seconds for which the run that had the last sole turn leaves the next one to other runs."""


@dataclass(slots=True)
class Turn:
    """A turn that has been given.

    `tick` must be called regularly, because it ends a sole turn that lasts too long.
    """

    end: float = math.inf
    release: Callable[[], None] | None = None

    def tick(self) -> None:
        """Let the others run again if the time of a sole turn is over.

        The program then continues in a shared turn.
        """
        if self.release is not None and time.monotonic() >= self.end:
            self.release()
            self.release = None


class Turns:
    """Shared and sole turns, for one worker.

    Locks belong to open files, so each worker opens its own. There are two locks. A worker that wants a sole
    turn closes the gate first, so that it does not wait for ever. The gate's file contains the time from
    which the next sole turn is allowed (seconds of the monotonic clock, as text), and the run that had the
    last one. A run has no second one while another run waits for its turn.

    Args:
        folder: folder of the two lock files. None takes the system's temporary folder.
        run: a number of the run that the worker belongs to. None takes the parent process.
        patience_s: seconds to wait for a shared turn.
    """

    def __init__(
        self, folder: Path | None = None, run: int | None = None, patience_s: float = _PATIENCE_S
    ) -> None:
        self._patience_s = patience_s
        self._waits: dict[int, float] = {}
        self._run = str(os.getppid() if run is None else run)
        place = folder or Path(tempfile.gettempdir())
        self._gate = _open(place / f"genbench-sandbox-{os.getuid()}.gate")
        self._floor = _open(place / f"genbench-sandbox-{os.getuid()}.floor")

    @contextmanager
    def together(self) -> Iterator[Turn]:
        """Give a shared turn."""
        with self._shared(self._gate):
            pass
        with self._shared(self._floor):
            yield Turn()

    @contextmanager
    def _shared(self, fd: int | None) -> Iterator[None]:
        """Hold a shared lock, or none if it is not given in time.

        After a wait in vain the next ones for the same lock are short, until one succeeds.
        """
        if fd is None:
            yield
            return
        is_held = _acquired(fd, fcntl.LOCK_SH, self._waits.get(fd, self._patience_s))
        self._waits[fd] = self._patience_s if is_held else min(self._patience_s, _LATER_PATIENCE_S)
        try:
            yield
        finally:
            if is_held:
                _released(fd)

    @contextmanager
    def alone(self, most_s: float) -> Iterator[Turn]:
        """Give a sole turn, in which no other program runs, for at most `most_s` seconds.

        If the wait is too long, because another sole turn has just ended, give a shared turn.
        """
        with ExitStack() as locks:
            began = self._clear(locks) if self._close_gate(locks) else None
            if began is not None:
                yield Turn(began + most_s, locks.close)
                return
        with self.together() as turn:
            yield turn

    def _close_gate(self, locks: ExitStack) -> bool:
        """Close the gate when the next sole turn is allowed. Return False if that takes too long."""
        end = time.monotonic() + _PATIENCE_S
        while (now := time.monotonic()) < end:
            if (left_s := self._rest_s()) > 0:
                time.sleep(min(left_s, 10 * _PAUSE_S))
            elif self._gate is None:
                return True
            elif not _acquired(self._gate, fcntl.LOCK_EX, end - now):
                return False
            elif self._rest_s() > 0:  # another sole turn ended while this one waited for the lock
                _released(self._gate)
            else:
                locks.callback(_released, self._gate)
                return True
        return False

    def _clear(self, locks: ExitStack) -> float | None:
        """Keep all others out. Return when that began, or None if a running program does not end soon.

        No program can begin while the gate is closed, so a long program must not keep it closed.
        """
        locks.callback(self._rest_after, time.monotonic())
        if self._floor is not None:
            if not _acquired(self._floor, fcntl.LOCK_EX, _LEAVING_S):
                return None
            locks.callback(_released, self._floor)
        return time.monotonic()

    def _rest_s(self) -> float:
        """Return the seconds until the next sole turn is allowed."""
        if self._gate is None:
            return 0.0
        until, _, run = os.pread(self._gate, 64, 0).decode("ascii", "replace").strip().partition(" ")
        try:
            left_s = float(until) - time.monotonic() + _YIELD_S * (run == self._run)
        except ValueError:
            return 0.0
        # A time far in the future was written before the machine was restarted.
        return left_s if 0 < left_s <= _LONGEST_REST_S + _YIELD_S else 0.0

    def _rest_after(self, began: float) -> None:
        now = time.monotonic()
        if self._gate is not None:
            until = now + min(_REST * (now - began), _LONGEST_REST_S)
            with suppress(OSError):
                os.pwrite(self._gate, f"{until:.3f} {self._run}".ljust(64).encode(), 0)

    def close(self) -> None:
        """Close the lock files."""
        for fd in (self._gate, self._floor):
            if fd is not None:
                os.close(fd)


def _open(path: Path) -> int | None:
    """Open a lock file, which this user must own, because the folder may be anyone's.

    Return None if it is not.
    """
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    facts = os.fstat(fd)
    if facts.st_uid == os.getuid() and stat.S_ISREG(facts.st_mode):
        return fd
    os.close(fd)
    return None


def _released(fd: int) -> None:
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)


def _acquired(fd: int, how: int, patience_s: float) -> bool:
    end = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > end:
                return False
            time.sleep(_PAUSE_S)
