"""A system call filter as bytes, with the ids of the process that it is for.

Every step of a program in another language imports it, so it imports nothing that takes long.
"""

from __future__ import annotations

import struct

_LOAD_VALUE, _STORE = 0x00, 0x02
_FULL = 0xFFFFFFFF
OWN_IDS = 3
"""Words of scratch memory: the process's id, and the clocks of its CPU time and of its first thread's."""
_IDS = struct.Struct("<" + "HBBI" * 2 * OWN_IDS)
"""The first words of a filter with own ids, which put them into its scratch memory."""


class Filter:
    """A BPF program. With `has_ids` it begins with words that depend on the process."""

    __slots__ = ("code", "has_ids")

    def __init__(self, code: bytes, has_ids: bool = False) -> None:
        self.code, self.has_ids = code, has_ids

    def fill(self, code: bytearray | memoryview, pid: int) -> None:
        """Write a process's ids into a copy of the code. Ids of clocks are those of linux/posix-timers.h."""
        if self.has_ids:
            clock = ~pid << 3 & _FULL
            _IDS.pack_into(
                code, 0,
                _LOAD_VALUE, 0, 0, pid, _STORE, 0, 0, 0,
                _LOAD_VALUE, 0, 0, clock | 2, _STORE, 0, 0, 1,
                _LOAD_VALUE, 0, 0, clock | 6, _STORE, 0, 0, 2,
            )  # fmt: skip

    def for_process(self, pid: int) -> bytes:
        """Return the filter with the ids of a process."""
        code = bytearray(self.code)
        self.fill(code, pid)
        return bytes(code)
