"""The system call filter: a list of the calls that a computing program needs, as a BPF program.

It is an allow-list, since every new kernel has calls that no deny-list contains. Layout of the words that
the filter reads: linux/seccomp.h (nr at 0, arch at 4, args from 16, 8 bytes each, low half first).
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass

from .syscalls import Machine

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
