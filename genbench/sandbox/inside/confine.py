"""Confinement of zygote and program. They give up user, capabilities, files, limits and system calls."""

from __future__ import annotations

import mmap
import os
import resource
import signal
from typing import Any

from . import landlock, libc
from .seccomp import Filter

_NOBODY = 65534
OPEN_FILES = 64
_PAGE = 4096


def zygote(setup: dict[str, Any]) -> None:
    """Make the zygote harmless: another user than root, no capability, and in tier B no files.

    Raises:
        OSError: the kernel refused one of them. There is no cage then.
    """
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    if setup["tier"] != "unsafe":
        _become_nobody(setup["uid"])
        libc.drop_capabilities()
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user resets it
    if setup["tier"] == "b":
        landlock.keep_only(setup["readable"])


def _become_nobody(private: int) -> None:
    """Take a private user id if root, unless the interpreter could not be read then (a home of mode 700)."""
    if os.geteuid() != 0:
        return
    for uid in (private, _NOBODY):
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, 0)
        except OSError:  # no CAP_SETUID, or an id that this user namespace does not map
            continue
        if os.access(os.__file__, os.R_OK, effective_ids=True):
            os.setresuid(uid, uid, uid)
        else:
            os.setresuid(0, 0, 0)
            os.setresgid(0, 0, 0)
        return


def address_space() -> int:
    """Return the bytes of address space in use, within 1 MiB.

    They are found by trial since there is no /proc.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 36
    while high - low > 1 << 20:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, _PAGE).close()
            high = middle
        except OSError:
            low = middle
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return high


def program(order: dict[str, Any], parent: int, base_bytes: int, filter_: Filter | None) -> None:
    """Set the hard limits of one program, then the filter. From here on the process is untrusted.

    Args:
        order: memory_mib beyond `base_bytes` and the inputs, file_bytes, cpu_s, threads.
    """
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise OSError("the zygote is gone")
    memory = base_bytes + order["input_bytes"] + (order["memory_mib"] << 20)
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_FSIZE, order["file_bytes"])
    _limit(resource.RLIMIT_CPU, order["cpu_s"])
    _limit(resource.RLIMIT_NPROC, order["threads"])
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(resource.RLIMIT_MSGQUEUE, 0)
    if filter_ is not None:
        libc.install_filter(filter_.for_process(os.getpid()))


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))
