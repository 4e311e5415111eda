"""The system call filter: a list of the calls that a computing program needs, as a BPF program.

It is an allow-list, since every new kernel has calls that no deny-list contains. Layout of the words that
the filter reads: linux/seccomp.h (nr at 0, arch at 4, args from 16, 8 bytes each, low half first).
"""

from __future__ import annotations

import errno
import platform
import struct
from dataclasses import dataclass

_PLAIN = {
    # reading, writing and looking; opening is allowed by its flags, see `build`
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


_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NEWEST_KNOWN = 424
"""Calls from here on are newer than the tables. The C library has a fallback for each."""

_WRITING = 0o3 | 0o100 | 0o1000 | 0o2000 | 0o20000000
"""open() flags: access mode other than reading, O_CREAT, O_TRUNC, O_APPEND, O_TMPFILE."""
_THREAD = 0x100 | 0x800 | 0x10000
"""CLONE_VM, CLONE_SIGHAND, CLONE_THREAD: a thread of this process."""
_NEW_NAMESPACE = 0x7E020000
_FULL = 0xFFFFFFFF
_OWN_PID = -1


@dataclass(frozen=True, slots=True)
class _Test:
    """A test that is true if (argument & mask) is one of `values`. With `wide` both 32-bit halves count."""

    argument: int
    values: tuple[int, ...]
    mask: int = _FULL
    wide: bool = False


# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, locks, F_DUPFD_CLOEXEC, F_GET_SEALS, pipe sizes. Not F_SETOWN
# and F_SETSIG: with O_ASYNC they send any signal to any process of the same user.
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032, 1034)
_IOCTL = (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)  # TCGETS, TIOCGWINSZ, FIONBIO, FIONREAD, FIO(N)CLEX
_PRCTL = (3, 15, 16, 0x53564D41)  # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA (glibc's malloc)

_SOL_SOCKET = 1
# SO_REUSEADDR, SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE, SO_LINGER, SO_RCVTIMEO, SO_SNDTIMEO. Not SO_ATTACH_FILTER
# and similar options: a computing program needs no BPF program in the kernel.
_SET_OPTIONS = (2, 7, 8, 9, 13, 20, 21)
_GET_OPTIONS = (
    2,
    3,
    4,
    7,
    8,
    9,
    13,
    20,
    21,
    30,
    38,
    39,
)  # and SO_TYPE, SO_ERROR, SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN

_RULES: tuple[tuple[str, tuple[_Test, ...]], ...] = (
    ("open", (_Test(1, (0,), _WRITING),)),
    ("openat", (_Test(2, (0,), _WRITING),)),
    ("fcntl", (_Test(1, _FCNTL),)),
    ("ioctl", (_Test(1, _IOCTL),)),
    ("prctl", (_Test(0, _PRCTL),)),
    ("clone", (_Test(0, (_THREAD,), _THREAD | _NEW_NAMESPACE),)),
    ("tgkill", (_Test(0, (_OWN_PID,)),)),
    ("prlimit64", (_Test(2, (0,), wide=True),)),  # reading limits
    ("prlimit64", (_Test(0, (0,)), _Test(1, (3,)))),  # honest programs raise their own RLIMIT_STACK
    ("socketpair", (_Test(0, (1,)), _Test(1, (1,), 0xFFFFFFFF ^ 0x80800))),  # AF_UNIX, SOCK_STREAM
    ("sendto", (_Test(4, (0,), wide=True),)),  # to the peer, no address
    ("setsockopt", (_Test(1, (_SOL_SOCKET,)), _Test(2, _SET_OPTIONS))),
    ("getsockopt", (_Test(1, (_SOL_SOCKET,)), _Test(2, _GET_OPTIONS))),
)


@dataclass(frozen=True, slots=True)
class Filter:
    """A BPF program with a placeholder for the process's own id."""

    code: bytes
    pid_at: int

    def for_process(self, pid: int) -> bytes:
        """Return the filter with a process id in place of the placeholder."""
        code = bytearray(self.code)
        struct.pack_into("<I", code, self.pid_at, pid)
        return bytes(code)


def build(machine: Machine) -> Filter:
    """Return the filter for a machine: one struct sock_filter after the other, 8 bytes each."""
    words: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),
        (_JUMP_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, 0),
    ]
    if machine.foreign_from is not None:
        words += [(_JUMP_AT_LEAST, 0, 1, machine.foreign_from), _refuse(errno.ENOSYS)]
    for number in machine.plain:
        words += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ALLOW)]
    for number in machine.absent:
        words += [(_JUMP_EQUAL, 0, 1, number), _refuse(errno.ENOSYS)]
    for call, tests in _RULES:
        if call in machine.checked:
            words += _rule(machine.checked[call], tests)
    words += [(_JUMP_AT_LEAST, 0, 1, _NEWEST_KNOWN), _refuse(errno.ENOSYS), _refuse(errno.EPERM)]
    hole = next(at for at, word in enumerate(words) if word[3] == _OWN_PID)
    words[hole] = (*words[hole][:3], 0)
    return Filter(b"".join(struct.pack("<HBBI", *word) for word in words), hole * 8 + 4)


def _refuse(code: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERRNO | code)


def _rule(number: int, tests: tuple[_Test, ...]) -> list[tuple[int, int, int, int]]:
    """Return words that allow a call if all tests are true.

    Else they continue with the call's number loaded.
    """
    body: list[tuple[int, int, int, int]] = [(_RETURN, 0, 0, _ALLOW)]
    for test in reversed(tests):
        body = _checks(test, len(body)) + body
    return [(_JUMP_EQUAL, 0, len(body), number), *body, (_LOAD, 0, 0, 0)]


def _checks(test: _Test, after: int) -> list[tuple[int, int, int, int]]:
    """Return the words of one test. If it fails, they jump over the `after` words that follow it."""
    at = 16 + 8 * test.argument
    words = [(_LOAD, 0, 0, at)]
    if test.mask != _FULL:
        words.append((_AND, 0, 0, test.mask))
    last = len(test.values) - 1
    for place, value in enumerate(test.values):
        words.append((_JUMP_EQUAL, last - place, after if place == last else 0, value))
    if test.wide:
        words = [(_LOAD, 0, 0, at + 4), (_JUMP_EQUAL, 0, after + len(words), 0), *words]
    return words
