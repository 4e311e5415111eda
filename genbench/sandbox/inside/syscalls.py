"""System call numbers of the two machines that the filter knows: x86-64 and 64-bit ARM.

Numbers: Linux 6.1, arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass

_PLAIN = {
    # reading, writing and looking; opening is allowed by its flags, see seccomp.py
    "read": (0, 63),
    "write": (1, 64),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "preadv": (295, 69),
    "pwritev": (296, 70),
    "lseek": (8, 62),
    "close": (3, 57),
    "close_range": (436, 436),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "ftruncate": (77, 46),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "sendfile": (40, 71),
    "flock": (73, 32),
    "fadvise64": (221, 223),
    "umask": (95, 166),
    # waiting
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "eventfd": (284, None),
    "eventfd2": (290, 19),
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "timerfd_gettime": (287, 87),
    # the two ends of a stream pair, which asyncio's event loop wakes itself with
    "recvfrom": (45, 207),
    "shutdown": (48, 210),
    "getsockname": (51, 204),
    "getpeername": (52, 205),
    # own memory
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "mincore": (27, 232),
    "msync": (26, 227),
    "membarrier": (324, 283),
    # own signals and threads
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "rt_sigpending": (127, 136),
    "sigaltstack": (131, 132),
    "pause": (34, None),
    "restart_syscall": (219, 128),
    "futex": (202, 98),
    "set_robust_list": (273, 99),
    "get_robust_list": (274, 100),
    "rseq": (334, 293),
    "set_tid_address": (218, 96),
    "gettid": (186, 178),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "sched_getscheduler": (145, 120),
    "sched_getparam": (143, 121),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "getpriority": (140, 141),
    "arch_prctl": (158, None),
    "wait4": (61, 260),
    "waitid": (247, 95),
    # clocks
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "alarm": (37, None),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
    "timer_create": (222, 107),
    "timer_settime": (223, 110),
    "timer_gettime": (224, 108),
    "timer_getoverrun": (225, 109),
    "timer_delete": (226, 111),
    # who and where am I
    "getpid": (39, 172),
    "getppid": (110, 173),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getgroups": (115, 158),
    "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getpgid": (121, 155),
    "getpgrp": (111, None),
    "getsid": (124, 156),
    "capget": (125, 90),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrusage": (98, 165),
    "getcpu": (309, 168),
    "getrlimit": (97, 163),
    "getrandom": (318, 278),
}
_CHECKED = {
    "open": (2, None),
    "openat": (257, 56),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "prctl": (157, 167),
    "clone": (56, 220),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
    "socketpair": (53, 199),
    "sendto": (44, 206),
    "setsockopt": (54, 208),
    "getsockopt": (55, 209),
}
_ABSENT = {"clone3": (435, 435), "openat2": (437, 437)}


@dataclass(frozen=True, slots=True)
class Machine:
    """A processor family as seccomp sees it.

    `plain` calls are allowed with any arguments, and `checked` calls depending on their arguments. `absent`
    calls fail with "no such call", so that the C library takes the older call. All other calls are refused.
    """

    name: str
    audit: int
    plain: tuple[int, ...]
    checked: dict[str, int]
    absent: tuple[int, ...]
    foreign_from: int | None
    """First number of another calling convention (x32), which is refused completely."""


_COLUMNS = {
    "x86_64": (0, 0xC000003E, 0x40000000),
    "aarch64": (1, 0xC00000B7, None),
}


def machine(name: str | None = None) -> Machine | None:
    """Return the tables for this processor (or the named one), or None if there are none."""
    name = name or platform.machine()
    if name not in _COLUMNS:
        return None
    column, audit, foreign_from = _COLUMNS[name]
    checked = {call: number for call, both in _CHECKED.items() if (number := both[column]) is not None}
    plain = tuple(number for both in _PLAIN.values() if (number := both[column]) is not None)
    absent = tuple(both[column] for both in _ABSENT.values())
    return Machine(name, audit, plain, checked, absent, foreign_from)
