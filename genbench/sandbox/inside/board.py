"""The memory page on which a program's process writes its progress.

The host process and the zygote read it. A program whose tests share a process can write anything here, but
only about itself. It can say that a test is over, and its output is then taken as it is. It can also divide
its time differently among its own tests. If each test has a process of its own, their stem writes the page,
and no process that runs the program has it.
"""

from __future__ import annotations

import mmap
import os
import struct
import time

OK, EXIT, EXCEPTION, MEMORY, SIGNAL, NOT_SET_UP = 1, 2, 3, 4, 5, 6
"""How a test ended: normally, with an exit status, by an exception, out of memory, by a signal. 0 means not
yet. NOT_SET_UP means that its process could not be confined, so that the program never ran."""
_KIND, _CODE_SHIFT = 0xFF, 8
THREADS_LEFT = 1 << 16
"""Set in a status if the program left threads running that it did not join (lcb-compat only)."""

_HEADER = struct.Struct("<QQ")
_RECORD = struct.Struct("<QQ")
CAPACITY = 40_000
"""Tests that one process can report on."""
SIZE = _HEADER.size + CAPACITY * _RECORD.size


def exit_with(code: int) -> int:
    """Return the status of a test that ended with a process exit code of 0 to 255."""
    return EXIT | (code & 0xFF) << _CODE_SHIFT


def killed_by(number: int) -> int:
    """Return the status of a test whose process a signal ended."""
    return SIGNAL | number << _CODE_SHIFT


def kind_of(status: int) -> int:
    """Return how a test ended (OK, EXIT, …), without the other parts of its status."""
    return status & _KIND


def exit_code(status: int) -> int:
    """Return the exit code, or the number of the signal, that a status contains."""
    return status >> _CODE_SHIFT & 0xFF


def process_code(status: int) -> int:
    """Return the exit code of a process that ended so."""
    kind = kind_of(status)
    return exit_code(status) if kind == EXIT else int(kind != OK)


class Board:
    """Started tests, the newest's start (monotonic ns), and each test's status and output end."""

    def __init__(self, fd: int) -> None:
        self._page = mmap.mmap(fd, SIZE)

    @staticmethod
    def wipe(fd: int) -> None:
        """Set the page to zero in every mapping, so that no program finds data of another."""
        os.ftruncate(fd, 0)
        os.ftruncate(fd, SIZE)

    def start(self, index: int) -> None:
        """Record that test `index` (counted in this process) begins now."""
        _HEADER.pack_into(self._page, 0, index + 1, time.monotonic_ns())

    def wait_for_host(self) -> None:
        """Record that no test runs until the host has compared the last one."""
        _HEADER.pack_into(self._page, 0, self.started[0], 0)

    def hide(self) -> None:
        """Let no process that this one forks inherit the page."""
        self._page.madvise(mmap.MADV_DONTFORK)

    def finish(self, index: int, status: int, end: int) -> None:
        """Record that test `index` is over and its output ends at byte `end`."""
        _RECORD.pack_into(self._page, _HEADER.size + index * _RECORD.size, status, end)

    @property
    def started(self) -> tuple[int, int]:
        """Return how many tests have begun and when the newest did (monotonic ns, 0 while none runs)."""
        count, at = _HEADER.unpack_from(self._page, 0)
        return count, at

    def record(self, index: int) -> tuple[int, int]:
        """Return (status, end of output) of test `index`."""
        status, end = _RECORD.unpack_from(self._page, _HEADER.size + index * _RECORD.size)
        return status, end

    def close(self) -> None:
        """Unmap the page."""
        self._page.close()
