"""Landlock: a process gives up the file system except named folders, without any privilege.

Numbers and structures: linux/landlock.h, ABI 1 (Linux 5.13) to 6 (6.12).
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

from .libc import check, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many file system rights (bits from 0) each ABI knows. All of them are taken away."""
_NEWEST_FILE_ABI = 5
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """Return the kernel's landlock version, or 0 if it has none."""
    return max(0, syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)))


def keep_only(readable: Iterable[str]) -> None:
    """Allow this process only to read below `readable`. Threads and children inherit it.

    Raises:
        OSError: there is no landlock here.
    """
    version = abi()
    ruleset = _Ruleset(
        files=(1 << _FILE_RIGHTS[min(max(version, 1), _NEWEST_FILE_ABI)]) - 1,
        net=_BIND_AND_CONNECT_TCP if version >= 4 else 0,
        scoped=_ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0,
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    made = syscall(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    rules = check(made, "landlock_create_ruleset")
    try:
        for path in readable:
            _allow(rules, path)
        check(syscall(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0)), "landlock_restrict_self")
    finally:
        os.close(rules)


def _allow(rules: int, path: str) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        folder = stat.S_ISDIR(os.fstat(place).st_mode)
        rule = _PathBeneath(_READ_FILE | (_READ_DIR if folder else 0), place)
        added = syscall(
            _ADD_RULE,
            ctypes.c_int(rules),
            ctypes.c_int(_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
        check(added, f"landlock_add_rule({path})")
    finally:
        os.close(place)
