"""Turns on this machine: programs run together, and one that timed out on a busy core runs again alone.

Workers live in several processes, so the turns are file locks; they are a courtesy between runs of one
user. Where they cannot be had in time, the program runs all the same.
"""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PATIENCE_S = 30.0
_PAUSE_S = 0.02


class Turns:
    """Shared and sole turns, for one worker (locks belong to open files, so each worker opens its own).

    Two locks: whoever wants to be alone first closes the gate, so that it cannot wait for ever.

    Args:
        folder: where the two lock files lie; None: the system's temporary folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        place = folder or Path(tempfile.gettempdir())
        self._gate = _open(place / f"genbench-sandbox-{os.getuid()}.gate")
        self._floor = _open(place / f"genbench-sandbox-{os.getuid()}.floor")

    @contextmanager
    def together(self) -> Iterator[None]:
        with _held(self._gate, fcntl.LOCK_SH):
            pass
        with _held(self._floor, fcntl.LOCK_SH):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        with _held(self._gate, fcntl.LOCK_EX), _held(self._floor, fcntl.LOCK_EX):
            yield

    def close(self) -> None:
        for fd in (self._gate, self._floor):
            if fd is not None:
                os.close(fd)


def _open(path: Path) -> int | None:
    """The lock file, which must be ours: the folder may be anyone's."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    facts = os.fstat(fd)
    if facts.st_uid == os.getuid() and stat.S_ISREG(facts.st_mode):
        return fd
    os.close(fd)
    return None


@contextmanager
def _held(fd: int | None, how: int) -> Iterator[None]:
    if fd is None or not _acquired(fd, how):
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


def _acquired(fd: int, how: int) -> bool:
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
            return True
        except OSError:
            if time.monotonic() > end:
                return False
            time.sleep(_PAUSE_S)
