"""The system call filters: a list of the calls that a computing program needs, as BPF programs.

It is an allow-list, since every new kernel has calls that no deny-list contains. Layout of the words that
the filter reads: linux/seccomp.h (nr at 0, arch at 4, args from 16, 8 bytes each, low half first).
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .bpf import Filter

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
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "brk": (12, 214),
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
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "set_tid_address": (218, 96),
    "gettid": (186, 178),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "sched_yield": (24, 124),
    "sched_get_priority_max": (146, 125),
    "sched_get_priority_min": (147, 126),
    "arch_prctl": (158, None),
    "wait4": (61, 260),
    "waitid": (247, 95),
    # clocks
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "alarm": (37, None),
    "getitimer": (36, 102),
    "setitimer": (38, 103),
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
    "getpgrp": (111, None),
    "uname": (63, 160),
    "getrusage": (98, 165),
    "getcpu": (309, 168),
    "getrlimit": (97, 163),
    "getrandom": (318, 278),
}
_CHECKED = {
    "open": (2, None),
    "openat": (257, 56),
    "fcntl": (72, 25),
    "flock": (73, 32),
    "ioctl": (16, 29),
    "fadvise64": (221, 223),
    "mmap": (9, 222),
    "madvise": (28, 233),
    "futex": (202, 98),
    "get_robust_list": (274, 100),
    "prctl": (157, 167),
    "clone": (56, 220),
    "kill": (62, 129),
    "tgkill": (234, 131),
    "prlimit64": (302, 261),
    "sched_getaffinity": (204, 123),
    "sched_getscheduler": (145, 120),
    "sched_getparam": (143, 121),
    "getpriority": (140, 141),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "socketpair": (53, 199),
    "sendto": (44, 206),
    "setsockopt": (54, 208),
    "getsockopt": (55, 209),
}
_KEEPING = {
    "recvmsg": (47, 212),
    "setpgid": (109, 154),
    "memfd_create": (319, 279),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
}
"""What the zygote needs beyond a program: orders with descriptors, memory files, and the end of a process."""
_ABSENT = {"clone3": (435, 435), "openat2": (437, 437)}
_TOOLS = {
    # other programs
    "execve": (59, 221),
    "vfork": (58, None),
    "setpgid": (109, 154),
    # files of the working folder; the mounts and landlock say where
    "creat": (85, None),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "utimensat": (280, 88),
    "truncate": (76, 45),
    "fallocate": (285, 47),
    "copy_file_range": (326, 285),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    # what runtimes ask for at their start
    "sysinfo": (99, 179),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "mincore": (27, 232),
}
"""What compilers, and runtimes of other languages than Python, need beyond a program."""
_SOCKETS = {
    "socket": (41, 198),
    "connect": (42, 203),
    "accept": (43, 202),
    "accept4": (288, 242),
    "bind": (49, 200),
    "listen": (50, 201),
    "sendto": (44, 206),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "setsockopt": (54, 208),
    "getsockopt": (55, 209),
    "setsid": (112, 157),
}
"""What clients and servers need, for programs that have a network of their own."""


class Machine(NamedTuple):
    """A processor family as seccomp sees it.

    `plain` calls are allowed with any arguments, and `checked` calls depending on their arguments. `absent`
    calls fail with "no such call", so that the C library takes the older call. `keeping` calls are allowed to
    the zygote only, `tools` to programs of other languages only, and `sockets` to those of them that have a
    network of their own. All other calls are refused.
    """

    name: str
    audit: int
    plain: dict[str, int]
    checked: dict[str, int]
    absent: tuple[int, ...]
    keeping: dict[str, int]
    tools: dict[str, int]
    sockets: dict[str, int]
    foreign_from: int | None
    """First number of another calling convention (x32), which is refused completely."""


_COLUMNS = {
    "x86_64": (0, 0xC000003E, 0x40000000),
    "aarch64": (1, 0xC00000B7, None),
}


def machine(name: str | None = None) -> Machine | None:
    """Return the tables for this processor (or the named one), or None if there are none."""
    name = name or os.uname().machine
    if name not in _COLUMNS:
        return None
    column, audit, foreign_from = _COLUMNS[name]
    checked = {call: number for call, both in _CHECKED.items() if (number := both[column]) is not None}
    plain = {call: number for call, both in _PLAIN.items() if (number := both[column]) is not None}
    absent = tuple(both[column] for both in _ABSENT.values())
    keeping = {call: both[column] for call, both in _KEEPING.items()}
    tools = {call: number for call, both in _TOOLS.items() if (number := both[column]) is not None}
    sockets = {call: both[column] for call, both in _SOCKETS.items()}
    return Machine(name, audit, plain, checked, absent, keeping, tools, sockets, foreign_from)


_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_LOAD_X, _JUMP_EQUAL_X = 0x61, 0x1D
"""The value of a placeholder is stored in the scratch memory of the filter, and compared from there."""
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NEWEST_KNOWN = 424
"""Calls from here on are newer than the tables. The C library has a fallback for each."""

_WRITING = 0o3 | 0o100 | 0o1000 | 0o2000 | 0o20000000
"""open() flags: access mode other than reading, O_CREAT, O_TRUNC, O_APPEND, O_TMPFILE."""
_THREAD = 0x100 | 0x800 | 0x10000
"""CLONE_VM, CLONE_SIGHAND, CLONE_THREAD: a thread of this process."""
_FORK = 0x01200011
"""What the C library's fork asks for: CLONE_CHILD_SETTID, CLONE_CHILD_CLEARTID, SIGCHLD."""
_NEW_NAMESPACE = 0x7E020000
_SHARED_MEMORY = 0x01 | 0x20
"""MAP_SHARED, MAP_ANONYMOUS."""
_HUGE_PAGES = 0x40000
"""MAP_HUGETLB: the pages of a pool that the whole machine shares."""
_FULL = 0xFFFFFFFF
_OWN_PID, _OWN_PROCESS_CLOCK, _OWN_THREAD_CLOCK = -1, -2, -3
"""Placeholders. The clocks are those that count the CPU time of the process and of its first thread."""


class _Test(NamedTuple):
    """A test that is true if (argument & mask) is one of `values`. With `wide` both 32-bit halves count."""

    argument: int
    values: tuple[int, ...]
    mask: int = _FULL
    wide: bool = False


def _refused(code: int) -> int:
    return _ERRNO | code


# SECCOMP_RET_ERRNO with 0: the call returns 0 and nothing happens.
_PRETEND = _ERRNO
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK, F_OFD_GETLK, F_DUPFD_CLOEXEC, F_GETPIPE_SZ,
# F_GET_SEALS. Not F_SETOWN and F_SETSIG: with O_ASYNC they send any signal to any process of the same user.
_FCNTL = (0, 1, 2, 3, 4, 5, 36, 1030, 1032, 1034)
_LOCKS = (6, 7, 37, 38)  # F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW
_IOCTL = (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)  # TCGETS, TIOCGWINSZ, FIONBIO, FIONREAD, FIO(N)CLEX
_PRCTL = (3, 15, 16, 0x53564D41)  # PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_VMA (glibc's malloc)
_CONFINING = (1, 22)  # PR_SET_PDEATHSIG, PR_SET_SECCOMP
# MADV_NORMAL to MADV_DONTNEED, MADV_FREE, MADV_DONTFORK, MADV_(NO)HUGEPAGE, MADV_DO(NT)DUMP. Not
# MADV_MERGEABLE, by which a page that another program has too is slower to write, nor MADV_PAGEOUT, which
# works on files.
_ADVICE = (0, 1, 2, 3, 4, 8, 10, 14, 15, 16, 17)
_PRIVATE_FUTEX = 128
_FUTEX_OPTIONS = 128 | 256
_FUTEX_WAITS, _FUTEX_WAKES = (0, 9), (1, 10)  # FUTEX_WAIT and FUTEX_WAKE, and both with a set of bits
_CLOCKS = (*range(12), 0xFFFFFFFA, 0xFFFFFFFE, _OWN_PROCESS_CLOCK, _OWN_THREAD_CLOCK)
"""Clocks of the machine, and those of the caller. A clock id may also name another process by its pid."""
_SELF = (0, _OWN_PID)

_SOL_SOCKET = 1
# SO_REUSEADDR, SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE, SO_LINGER, SO_RCVTIMEO, SO_SNDTIMEO. Not SO_ATTACH_FILTER
# and similar options: a computing program needs no BPF program in the kernel.
_SET_OPTIONS = (2, 7, 8, 9, 13, 20, 21)
# and SO_TYPE, SO_ERROR, SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN
_GET_OPTIONS = (2, 3, 4, 7, 8, 9, 13, 20, 21, 30, 38, 39)


class _Rule(NamedTuple):
    """What happens to a call if all tests are true. The first rule of a call that applies counts."""

    call: str
    tests: tuple[_Test, ...] = ()
    action: int = _ALLOW

    @property
    def is_own(self) -> bool:
        """Return whether the rule needs the process's own id, which the zygote does not know."""
        return any(value < 0 for test in self.tests for value in test.values)


_RULES = (
    _Rule("open", (_Test(1, (0,), _WRITING),)),
    _Rule("openat", (_Test(2, (0,), _WRITING),)),
    _Rule("fcntl", (_Test(1, _FCNTL),)),
    # Locks of files are seen by every process of the machine that can open the file. Programs use them among
    # their own threads at most, so they may think that they have one.
    _Rule("fcntl", (_Test(1, _LOCKS),), _PRETEND),
    _Rule("flock", (), _PRETEND),
    _Rule("ioctl", (_Test(1, _IOCTL),)),
    _Rule("fadvise64", (), _PRETEND),
    _Rule("mmap", (_Test(3, (0,), _HUGE_PAGES),)),
    _Rule("madvise", (_Test(2, _ADVICE),)),
    _Rule("madvise", (), _refused(errno.EINVAL)),
    # A futex that is not private belongs to the page of a file, and processes that map the same file wake
    # each other by it. glibc waits so for the end of a thread, in a loop that takes EAGAIN as "look again".
    _Rule("futex", (_Test(1, (_PRIVATE_FUTEX,), _PRIVATE_FUTEX),)),
    _Rule("futex", (_Test(1, _FUTEX_WAITS, _FULL ^ _FUTEX_OPTIONS),), _refused(errno.EAGAIN)),
    _Rule("futex", (_Test(1, _FUTEX_WAKES, _FULL ^ _FUTEX_OPTIONS),), _PRETEND),
    _Rule("futex", (), _refused(errno.ENOSYS)),
    _Rule("get_robust_list", (_Test(0, _SELF),)),
    _Rule("prctl", (_Test(0, _PRCTL),)),
    _Rule("clone", (_Test(0, (_THREAD,), _THREAD | _NEW_NAMESPACE),)),
    _Rule("kill", (_Test(0, (_OWN_PID,)),)),
    _Rule("tgkill", (_Test(0, (_OWN_PID,)),)),
    _Rule("prlimit64", (_Test(0, _SELF), _Test(2, (0,), wide=True))),  # reading limits
    _Rule("prlimit64", (_Test(0, _SELF), _Test(1, (3,)))),  # honest programs raise their own RLIMIT_STACK
    _Rule("sched_getaffinity", (_Test(0, _SELF),)),
    _Rule("sched_getscheduler", (_Test(0, _SELF),)),
    _Rule("sched_getparam", (_Test(0, _SELF),)),
    _Rule("getpriority", (_Test(0, (0,)), _Test(1, _SELF))),  # PRIO_PROCESS
    _Rule("getpgid", (_Test(0, _SELF),)),
    _Rule("getsid", (_Test(0, _SELF),)),
    _Rule("clock_gettime", (_Test(0, _CLOCKS),)),
    _Rule("clock_getres", (_Test(0, _CLOCKS),)),
    _Rule("clock_nanosleep", (_Test(0, _CLOCKS),)),
    _Rule("socketpair", (_Test(0, (1,)), _Test(1, (1,), 0xFFFFFFFF ^ 0x80800))),  # AF_UNIX, SOCK_STREAM
    _Rule("sendto", (_Test(4, (0,), wide=True),)),  # to the peer, no address
    _Rule("setsockopt", (_Test(1, (_SOL_SOCKET,)), _Test(2, _SET_OPTIONS))),
    _Rule("getsockopt", (_Test(1, (_SOL_SOCKET,)), _Test(2, _GET_OPTIONS))),
)
_KEEPING_RULES = (
    _Rule("clone", (_Test(0, (_FORK,)),)),
    _Rule("prctl", (_Test(0, _CONFINING),)),
)
# A filter is inherited, so a stem keeps what its programs may do.
_STEM_RULES = (_Rule("prlimit64", (_Test(2, (0,), wide=True),)), _Rule("prlimit64", (_Test(1, (3,)),)))
_LEFT_TO_THE_STEM = "memfd_create"

_TOOLS_FREE = ("open", "openat", "futex", "kill", "tgkill")
"""Calls whose arguments are free for programs of other languages. Files are what the mounts and landlock
leave, and a futex in a shared file is how a process waits for the threads of its child."""
_TOOLS_RULES = (
    # Pages that processes share stay in memory when no process has them: after MADV_DONTNEED, or when the
    # child that wrote them has ended. No limit on a process counts them (3 GiB at a limit of 1 GiB measured),
    # and none of the nine runtimes needs them. Memory files and /dev/zero, which lead to such pages too,
    # cannot be opened.
    _Rule("mmap", (_Test(3, (_SHARED_MEMORY,), _SHARED_MEMORY),), _refused(errno.ENOMEM)),
    _Rule("clone", (_Test(0, (0,), _NEW_NAMESPACE),)),
    _Rule("prlimit64", (_Test(2, (0,), wide=True),)),
    _Rule("sched_getaffinity"),
)
_SIGNALS = ("kill", "tgkill")


_OWN_IDS = (_OWN_PID, _OWN_PROCESS_CLOCK, _OWN_THREAD_CLOCK)


class Filters(NamedTuple):
    """Three filters, each of which takes more away. The first one takes most and is long.

    Its installation takes 0.3 ms, because the kernel tries each number of a call: the zygote installs it.

    Args:
        zygote: an allow-list of what programs and the zygote need.
        stem: takes away what only the zygote needs. The process may still fork.
        program: takes away everything that a program must not do.
    """

    zygote: Filter
    stem: Filter
    program: Filter


def build(machine: Machine) -> Filters:
    """Return the filters for a machine: one struct sock_filter after the other, 8 bytes each."""
    own = {rule.call for rule in _RULES if rule.is_own}
    kept = {rule.call for rule in _KEEPING_RULES}
    first = [rule for rule in _RULES if rule.call not in own] + list(_KEEPING_RULES)
    first += [_Rule(call) for call in own - kept]
    last = [rule for rule in _RULES if rule.call in own | kept]
    keeping = machine.keeping
    return Filters(
        _filter(
            [*_preamble(machine), *_listed([*machine.plain.values(), *keeping.values()], _ALLOW)],
            [*_listed(machine.absent, _refused(errno.ENOSYS)), *_ruled(machine, first)],
            [(_JUMP_AT_LEAST, 0, 1, _NEWEST_KNOWN), (_RETURN, 0, 0, _refused(errno.ENOSYS))],
            [(_RETURN, 0, 0, _refused(errno.EPERM))],
        ),
        _limiting(machine, [keeping[call] for call in keeping if call != _LEFT_TO_THE_STEM], _STEM_RULES),
        _limiting(machine, keeping.values(), last),
    )


def build_tools(machine: Machine, *, shares_processes: bool, sockets: bool = False) -> list[Filter]:
    """Return the filters for a program of another language, and for its compiler.

    It may start programs and write files, as far as mounts, landlock and limits let it.

    Args:
        shares_processes: whether it sees processes of others. It may then signal its first process only.
        sockets: whether it may make sockets and use them freely.
    """
    fixed = [rule for rule in _RULES if not rule.is_own and rule.call not in ("clone", *_TOOLS_FREE)]
    own = {rule.call for rule in _RULES if rule.is_own} - {"kill", "tgkill", "sched_getaffinity", "prlimit64"}
    first = [*_TOOLS_RULES, *fixed, *(_Rule(call) for call in [*_TOOLS_FREE, *own])]
    allowed = [*machine.plain.values(), *machine.tools.values()]
    allowed += machine.sockets.values() if sockets else ()
    last = [rule for rule in _RULES if rule.call in own or (shares_processes and rule.call in _SIGNALS)]
    return [
        _filter(
            [*_preamble(machine), *_listed(allowed, _ALLOW)],
            [*_listed(machine.absent, _refused(errno.ENOSYS)), *_ruled(machine, first)],
            [(_JUMP_AT_LEAST, 0, 1, _NEWEST_KNOWN), (_RETURN, 0, 0, _refused(errno.ENOSYS))],
            [(_RETURN, 0, 0, _refused(errno.EPERM))],
        ),
        _limiting(machine, (), last),
    ]


_FAMILIES = (1, 2, 10)
"""AF_UNIX, AF_INET and AF_INET6, which a network namespace closes. It does not close AF_VSOCK, and others
(packets, ALG, Bluetooth, TIPC, XDP) are parts of the kernel that no harness needs."""
_NETLINK, _NETLINK_ROUTE = 16, 0
"""What the C library asks for addresses, and bubblewrap for the loopback device."""
_OF_THE_KERNEL = {
    # io_uring makes sockets that no filter sees. The others keep things that belong to no namespace.
    "io_uring_setup": (425, 425),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "perf_event_open": (298, 241),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
}


def build_families(machine: Machine) -> Filter:
    """Return the filter for a harness, which may do everything but reach what belongs to no namespace."""
    column = _COLUMNS[machine.name][0]
    refused = [numbers[column] for numbers in _OF_THE_KERNEL.values()]
    made = (41, 198)[column]  # socket
    pair = (53, 199)[column]  # socketpair
    rules = [
        _rule(made, _Rule("socket", (_Test(0, _FAMILIES),))),
        _rule(made, _Rule("socket", (_Test(0, (_NETLINK,)), _Test(2, (_NETLINK_ROUTE,))))),
        _rule(made, _Rule("socket", (), _refused(errno.EAFNOSUPPORT))),
        _rule(pair, _Rule("socketpair", (_Test(0, _FAMILIES),))),
        _rule(pair, _Rule("socketpair", (), _refused(errno.EAFNOSUPPORT))),
    ]
    return _filter(
        _preamble(machine),
        _listed(refused, _refused(errno.ENOSYS)),
        [word for rule in rules for word in rule],
        [(_RETURN, 0, 0, _ALLOW)],
    )


_OF_ROOT = {
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "setns": (308, 268),
    "unshare": (272, 97),
    "open_by_handle_at": (304, 265),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "acct": (163, 89),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
}
"""What root of a container may not do. It has no capability for most of it either."""
_OF_NESTED = {
    *("mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount"),
    *("fspick", "mount_setattr", "setns", "unshare"),
}
"""What a box allows whose row asks for it. Browsers begin so."""
_OWNERS = {
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setgroups": (116, 159),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
}
_CLONE3 = (435, 435)


def build_box(machine: Machine, *, fakes_owners: bool, nested: bool = False) -> list[Filter]:
    """Return the filters for the commands of a box, whose processes may be root in its user namespace.

    Args:
        fakes_owners: changes of owners and of ids seem to succeed, and nothing happens. A box with one id
            needs that: dpkg and apt ask for many, and give up without.
        nested: mounts and namespaces are allowed, which belong to the user namespace of the box.
    """
    column = _COLUMNS[machine.name][0]
    refused = [numbers[column] for name, numbers in _OF_ROOT.items() if not (nested and name in _OF_NESTED)]
    made = machine.checked["clone"]
    found = [
        _filter(
            _preamble(machine),
            _listed(refused, _refused(errno.EPERM)),
            _listed([_CLONE3[column]], _refused(errno.ENOSYS)),  # its flags are behind a pointer
            *([] if nested else [_rule(made, _Rule("clone", (_Test(0, (0,), _NEW_NAMESPACE),)))]),
            *([] if nested else [_rule(made, _Rule("clone", (), _refused(errno.EPERM)))]),
            [(_RETURN, 0, 0, _ALLOW)],
        ),
        build_families(machine),
    ]
    if fakes_owners:
        faked = [number for both in _OWNERS.values() if (number := both[column]) is not None]
        found.append(_filter(_preamble(machine), _listed(faked, _PRETEND), [(_RETURN, 0, 0, _ALLOW)]))
    return found


def _limiting(machine: Machine, refused: Iterable[int], rules: Sequence[_Rule]) -> Filter:
    """Return a filter that refuses calls, and others unless a rule allows them. It allows all the rest."""
    calls = {rule.call for rule in rules if rule.call in machine.checked}
    has_ids = any(rule.is_own for rule in rules)
    ids = [(_RETURN, 0, 0, 0)] * 2 * len(_OWN_IDS)
    made = _filter(
        ids if has_ids else [],
        [(_LOAD, 0, 0, 0)],
        _listed(refused, _refused(errno.EPERM)),
        _ruled(machine, rules),
        _listed([machine.checked[call] for call in sorted(calls)], _refused(errno.EPERM)),
        [(_RETURN, 0, 0, _ALLOW)],
    )
    return Filter(made.code, has_ids)


def _filter(*parts: Sequence[tuple[int, int, int, int]]) -> Filter:
    return Filter(b"".join(struct.pack("<HBBI", *word) for part in parts for word in part))


def _preamble(machine: Machine) -> list[tuple[int, int, int, int]]:
    words = [
        (_LOAD, 0, 0, 4),
        (_JUMP_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, 0),
    ]
    if machine.foreign_from is not None:
        words += [(_JUMP_AT_LEAST, 0, 1, machine.foreign_from), (_RETURN, 0, 0, _refused(errno.ENOSYS))]
    return words


def _listed(numbers: Iterable[int], action: int) -> list[tuple[int, int, int, int]]:
    return [word for number in numbers for word in ((_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, action))]


def _ruled(machine: Machine, rules: Iterable[_Rule]) -> list[tuple[int, int, int, int]]:
    return [
        word
        for rule in rules
        if rule.call in machine.checked
        for word in _rule(machine.checked[rule.call], rule)
    ]


def _rule(number: int, rule: _Rule) -> list[tuple[int, int, int, int]]:
    """Return words that decide about a call if all tests are true.

    Else they continue with the call's number loaded.
    """
    body: list[tuple[int, int, int, int]] = [(_RETURN, 0, 0, rule.action)]
    for test in reversed(rule.tests):
        body = _checks(test, len(body)) + body
    return [(_JUMP_EQUAL, 0, len(body), number), *body, (_LOAD, 0, 0, 0)]


def _checks(test: _Test, after: int) -> list[tuple[int, int, int, int]]:
    """Return the words of one test. If it fails, they jump over the `after` words that follow it."""
    at = 16 + 8 * test.argument
    words = [(_LOAD, 0, 0, at)]
    if test.mask != _FULL:
        words.append((_AND, 0, 0, test.mask))
    # An own id takes two words: its load, and the comparison.
    left = sum(1 if value >= 0 else 2 for value in test.values)
    for value in test.values:
        if value < 0:
            words.append((_LOAD_X, 0, 0, _OWN_IDS.index(value)))
            left -= 1
        left -= 1
        compare = (_JUMP_EQUAL, value) if value >= 0 else (_JUMP_EQUAL_X, 0)
        words.append((compare[0], left, after if left == 0 else 0, compare[1]))
    if test.wide:
        words = [(_LOAD, 0, 0, at + 4), (_JUMP_EQUAL, 0, after + len(words), 0), *words]
    return words
