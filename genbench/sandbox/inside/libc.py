"""The kernel calls that Python does not provide: prctl, capset, seccomp, landlock."""

from __future__ import annotations

import ctypes
import os

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

_LIBC = ctypes.CDLL(None, use_errno=True)
_CAPABILITIES_V3 = 0x20080522


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def check(result: int, what: str) -> int:
    """Return the `result` of a libc call. Raise an OSError that names the call if it is negative."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def prctl(option: int, value: int) -> None:
    """Set an option of this process. Raise OSError if the kernel refuses it."""
    check(_LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0), f"prctl({option})")


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by number. Arguments are ctypes values or integers."""
    return int(_LIBC.syscall(ctypes.c_long(number), *arguments))


def drop_capabilities() -> None:
    """Give up every capability of this process, for good under NO_NEW_PRIVS."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    check(_LIBC.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())), "capset")


def install_filter(code: bytes) -> None:
    """Put a BPF program between this process (and its threads to come) and the kernel."""
    held = ctypes.create_string_buffer(code, len(code))
    program = _Filter(len(code) // 8, ctypes.addressof(held))
    result = _LIBC.prctl(
        PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.c_ulong(ctypes.addressof(program)), 0, 0
    )
    check(result, "prctl(PR_SET_SECCOMP)")
