"""Two programs at once: one makes every system call that the filters allow, the other looks before and after.

The calls are those of the filters' own tables. Each is made with what two programs could share: the number
of a foreign process, a file of the standard library, and every descriptor that a program starts with. The
test tells both programs when to go on, by the page of memory that each shares with its host.
`python -m tests.sandbox.test_crossings a ""` runs the two programs in tier a and prints what crossed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from genbench.sandbox import inside
from genbench.sandbox.cage import Cage
from genbench.sandbox.grading import memory_file, write_all
from genbench.sandbox.inside.seccomp import machine
from genbench.sandbox.selftest import open_cage
from genbench.sandbox.worker import Files, Worker

F, P, OTHER, Q, C, SAME = "fd", "pid", "other", "self", "clock", "same"
M, W, B, S, L, V = "shared map", "private map", "buffer", "path", "length", "vector"
PF, FS, EV, EP, NEW = "pollfd", "fdset", "event", "epoll", "limit"
LOCK_R, LOCK_W, LOCK_U = "read lock", "write lock", "unlock"
"""What an argument is. The program tries all values of a kind, and all members of a tuple."""
PRIVATE = (0, 128)  # of a futex
STATUS = (0xC00, 0x2000, 0)  # O_APPEND | O_NONBLOCK, O_ASYNC
FLAGS = (1, 2, 0x400, 0x4000, 0x40000, 0x200000)  # writing, appending, O_DIRECT, O_NOATIME, O_PATH on x86_64

SHAPES: dict[str, list[tuple[Any, ...]]] = {
    "read": [(F, B, 16)], "write": [(F, B, 4)], "pread64": [(F, B, 16, 0)], "pwrite64": [(F, B, 4, 0)],
    "readv": [(F, V, 1)], "writev": [(F, V, 1)], "preadv": [(F, V, 1, 0, 0)], "pwritev": [(F, V, 1, 0, 0)],
    "lseek": [(F, 3, 0), (F, 0, (2, 3, 4))],
    "close": [(F,)], "close_range": [(F, SAME, (0, 2, 4))],
    "dup": [(F,)], "dup2": [(F, 58)], "dup3": [(F, 58, 0)],
    "fstat": [(F, B)], "stat": [(S, B)], "lstat": [(S, B)], "newfstatat": [(-100, S, B, 0)],
    "statx": [(-100, S, (0, 0x2000, 0x4000), 0xFFF, B)],
    "access": [(S, (0, 1, 2, 4))], "faccessat": [(-100, S, 4)], "faccessat2": [(-100, S, 4, 0)],
    "readlink": [(S, B, 99)], "readlinkat": [(-100, S, B, 99)],
    "getdents": [(F, B, 4096)], "getdents64": [(F, B, 4096)],
    "ftruncate": [(F, 1), (F, 0), (F, 4096)], "fsync": [(F,)], "fdatasync": [(F,)],
    "sendfile": [(F, 59, 0, 16), (1, F, 0, 16)],
    "poll": [(PF, 1, 0)], "ppoll": [(PF, 1, B, 0, 8)], "select": [(3, FS, FS, 0, B)],
    "pselect6": [(3, FS, FS, 0, B, 0)],
    "epoll_ctl": [(EP, 1, F, EV), (EP, 2, F, EV), (F, 1, 0, EV)], "epoll_wait": [(F, EV, 1, 0)],
    "epoll_pwait": [(F, EV, 1, 0, 0, 8)],
    "timerfd_settime": [(F, 0, B, 0)], "timerfd_gettime": [(F, B)],
    "recvfrom": [(F, B, 16, 0x40, 0, 0)], "shutdown": [(F, (0, 1, 2))], "getsockname": [(F, B, L)],
    "getpeername": [(F, B, L)],
    "munmap": [((M, W), 4096)], "mprotect": [((M, W), 4096, (0, 1, 3, 5, 7))],
    "mremap": [((M, W), 4096, 8192, 1)],
    "msync": [((M, W), 4096, (1, 2, 4, 6))],
    "set_robust_list": [(M, 24)], "set_tid_address": [(M,)],
    "wait4": [(P, B, 1, B)], "waitid": [((1, 2), P, B, 5, 0), (3, F, B, 5, 0)],
    "open": [(S, FLAGS)], "openat": [(-100, S, FLAGS)],
    "fcntl": [
        *((F, command, (0, 1)) for command in (0, 1, 2, 3, 11, 1024, 1025, 1026, *range(1030, 1035))),
        *((F, 4, flags) for flags in STATUS),
        *((F, command, lock) for lock in (LOCK_R, LOCK_W, LOCK_U) for command in (5, 6, 7, 36, 37, 38)),
        (F, (8, 10, 15), OTHER), (F, (1036, 1038), B), (F, (1035, 1037, 9, 16), B),
    ],
    "flock": [(F, 1 | 4), (F, 2 | 4), (F, 8)],
    "ioctl": [(F, (0x5401, 0x5413, 0x541B, 0x5450, 0x5451), B), (F, 0x5421, B),
              (F, (0x5452, 0x8901, 0x8902, 0x80086601, 0x40086602, 0x5412, 0x5207, 1), B)],
    "fadvise64": [(F, 0, 0, advice) for advice in range(8)],
    "mmap": [(0, 4096, 1, 1, F, 0), (0, 4096, 3, 1, F, 0), (0, 4096, 3, 2, F, 0), (0, 4096, 7, 3, F, 0)],
    "madvise": [((M, W), 4096, advice) for advice in (*range(5), *range(8, 26), 100, 101)],
    "futex": [(M, n | private, 1, B, M, 0) for n in (0, 1, 3, 4, 5, 7, 9, 10, 11, 12) for private in PRIVATE],
    "get_robust_list": [(P, B, B)],
    "prctl": [(62, (0, 1, 2, 3), P, 0, B), (0x59616D61, P), (15, B), (4, (0, 1)), (1, (0, 9))],
    "kill": [(P, 0), (OTHER, 10), (OTHER, 64)], "tgkill": [(P, P, 0), (OTHER, OTHER, 10), (OTHER, OTHER, 64)],
    "prlimit64": [(P, tuple(range(16)), 0, B), (OTHER, (3, 7), NEW, 0), (Q, 3, NEW, 0), (Q, 7, NEW, 0)],
    "sched_getaffinity": [((P, Q), 128, B)], "sched_getscheduler": [((P, Q),)],
    "sched_getparam": [((P, Q), B)],
    "getpriority": [((0, 1, 2), (P, Q))], "getpgid": [((P, Q),)], "getsid": [((P, Q),)],
    "clock_gettime": [(C, B)], "clock_getres": [(C, B)], "clock_nanosleep": [(C, 0, B, 0)],
    "sendto": [(F, B, 4, 0x40, 0, 0), (F, B, 4, 0x41, 0, 0)],
    "setsockopt": [(F, 1, tuple(range(60)), B, 4)], "getsockopt": [(F, 1, tuple(range(60)), B, L)],
    "clone": [("thread",)], "umask": [(0o77,)], "setitimer": [((1, 2), B, 0)],
}  # fmt: skip
"""The arguments of each call that has a shareable one. After each row the other program looks."""

OWN_MEMORY = "works on memory of the caller that no file is behind"
OWN_SIGNALS = "works on the signals of the caller, and takes no process"
OWN_CLOCK = "reads a clock of the machine, sleeps, or sets a timer of the caller"
OWN_IDENTITY = "reads a fact about the caller, and takes no process"
NEW_THING = "makes an object that only the caller has"
REASONS: dict[str, tuple[str, ...]] = {
    OWN_MEMORY: ("brk", "membarrier", "rseq", "arch_prctl", "getrandom"),
    OWN_SIGNALS: (
        "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait", "rt_sigpending",
        "sigaltstack", "pause", "restart_syscall", "exit", "exit_group",
    ),
    OWN_CLOCK: ("nanosleep", "gettimeofday", "time", "times", "alarm", "getitimer", "sched_yield"),
    OWN_IDENTITY: (
        "gettid", "getpid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getgroups", "getresuid",
        "getresgid", "getpgrp", "uname", "getrusage", "getcpu", "getrlimit", "getcwd",
        "sched_get_priority_max",
        "sched_get_priority_min",
    ),
    NEW_THING: (
        "pipe", "pipe2", "epoll_create", "epoll_create1", "eventfd", "eventfd2", "timerfd_create",
        "socketpair",
    ),
}  # fmt: skip
WITHOUT = {call: reason for reason, calls in REASONS.items() for call in calls}

PROGRAM = r'''
import ctypes, errno, fcntl, itertools, json, mmap, os, resource
import signal, socket, struct, sys, threading, time, zlib
frame = sys._getframe()
while "job" not in frame.f_locals: frame = frame.f_back
page = frame.f_locals["job"].board._page
ORDER, REPLY = @ORDER@, @REPLY@
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
room = mmap.mmap(-1, 1 << 16)
at = ctypes.addressof(ctypes.c_char.from_buffer(room))
def raw(number, *given):
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) for a in given))
    return r, ctypes.get_errno()

library = os.path.dirname(os.__file__)
SHARED = [library + "/" + name for name in @SHARED@]
PATHS = [*SHARED, library + "/json", "/dev/null", "/dev/urandom"]
def mapped(path, private=False):
    with open(path, "rb") as file:
        how = mmap.MAP_PRIVATE if private else mmap.MAP_SHARED
        return libc_mmap(0, 4096, 1 | 2 * private, how, file.fileno(), 0)
libc_mmap = libc.mmap
libc_mmap.restype = ctypes.c_void_p
libc_mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]

caught = []
for number in range(1, 65):
    if number not in (9, 19, 11, 7, 14, 4, 8):
        try: signal.signal(number, lambda n, f: caught.append(n))
        except (OSError, ValueError): pass
woken = [0]
watched = mapped(SHARED[0])
def sleep_on_a_file():
    """Wait nearly always: who wakes it while it does not wait is not seen."""
    word, wait = ctypes.c_uint32.from_address(watched).value, (ctypes.c_long * 2)(1, 0)
    while True:
        r, error = raw(NUMBERS["futex"], watched, 0, word, ctypes.addressof(wait), 0, 0)
        if r == 0: woken[0] += 1
        elif error not in (errno.EINTR, errno.ETIMEDOUT): time.sleep(0.002)

def said(call, *given):
    try: return call(*given)
    except OSError as error: return "errno %d" % error.errno
    except ValueError: return "invalid"
FLOCK = struct.Struct("hhqqi")
def lock_of(fd, command):
    return FLOCK.unpack(fcntl.fcntl(fd, command, FLOCK.pack(1, 0, 0, 0, 0)))[0]
def try_lock(fd, lock):
    lock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    lock(fd, fcntl.LOCK_UN)
def facts(stat):
    return {"mode": stat.st_mode, "size": stat.st_size, "links": stat.st_nlink, "atime": stat.st_atime_ns,
            "mtime": stat.st_mtime_ns, "ctime": stat.st_ctime_ns, "inode": stat.st_ino, "owner": stat.st_uid}
def put(found, name, told):
    if isinstance(told, dict):
        for key in told: found[name + ", " + key] = told[key]
    else: found[name] = told
def look(other):
    """Everything that this program can see of itself, of the shared files and of the other program."""
    found = {}
    for fd in [*range(21), 63]:
        name = "descriptor %d" % fd
        put(found, name, said(lambda: facts(os.fstat(fd))))
        found.pop(name + ", atime", None)  # the look itself reads it
        if isinstance(found.get(name), str): continue
        found[name + ", flags"] = said(fcntl.fcntl, fd, fcntl.F_GETFL)
        found[name + ", offset"] = said(os.lseek, fd, 0, 1)
        found[name + ", lock"] = said(lock_of, fd, fcntl.F_GETLK)
        found[name + ", text"] = said(lambda: zlib.crc32(os.pread(fd, 4096, 0)))
        found[name + ", events"] = said(lambda: pollable(fd))
        found[name + ", seals"] = said(fcntl.fcntl, fd, 1034)
    for path in PATHS:
        name = "file " + os.path.basename(path)
        fd = os.open(path, os.O_RDONLY)
        put(found, name, facts(os.fstat(fd)))
        for command in (fcntl.F_GETLK, 36): found[name + ", lock %d" % command] = said(lock_of, fd, command)
        found[name + ", flock"] = said(try_lock, fd, fcntl.flock)
        found[name + ", lockf"] = said(fcntl.lockf, fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        for command in (1025, 1035, 1037):
            found[name + ", fcntl %d" % command] = said(fcntl.fcntl, fd, command, b"\0" * 8)
        found[name + ", flags"] = fcntl.fcntl(fd, fcntl.F_GETFL)
        if path in SHARED: found[name + ", text"] = zlib.crc32(os.pread(fd, 4096, 0))
        os.close(fd)
    found["memory of a file"] = zlib.crc32(ctypes.string_at(watched, 4096))
    code = ctypes.cast(libc.strlen, ctypes.c_void_p).value & ~4095
    found["memory of the C library"] = zlib.crc32(ctypes.string_at(code, 4096))
    for which in range(16): found["limit %d" % which] = said(resource.getrlimit, which)
    found["affinity"], found["policy"] = sorted(os.sched_getaffinity(0)), os.sched_getscheduler(0)
    found["niceness"], found["group"], found["session"] = os.getpriority(0, 0), os.getpgid(0), os.getsid(0)
    found["pending"] = sorted(signal.sigpending())
    found["blocked"] = sorted(signal.pthread_sigmask(signal.SIG_BLOCK, []))
    mask = os.umask(0); os.umask(mask); found["umask"] = mask
    found["folder"], found["timers"] = os.getcwd(), [signal.getitimer(n) for n in (1, 2)]
    raw(NUMBERS["prctl"], 16, at); found["name"] = room[:16].hex()
    found["dumpable"] = raw(NUMBERS["prctl"], 3)
    found["signals caught"], found["woken"] = len(caught), woken[0]
    for pid in other:
        meant = {"pid": pid, "buffer": at, "clock": ~pid << 3 | 2}
        for name, given in FOREIGN.items():
            if name in NUMBERS:
                told = raw(NUMBERS[name], *(meant.get(value, value) for value in given))
                found["process %d, %s" % (pid, name)] = told
        for place in ("", "/task", "/fd", "/stat"):
            path = "/proc/%d%s" % (pid, place)
            found[path] = said(lambda: os.stat(path).st_nlink)
    for place in ("/dev", "/dev/shm", "/dev/pts", "/proc/locks", "/"):
        found["names in " + place] = said(lambda: sorted(os.listdir(place)))
    found["locks"] = said(lambda: open("/proc/locks").read())
    return found
FOREIGN = {
    "kill": ("pid", 0), "tgkill": ("pid", "pid", 0), "prlimit64": ("pid", 3, 0, "buffer"),
    "sched_getscheduler": ("pid",), "sched_getparam": ("pid", "buffer"), "getpriority": (0, "pid"),
    "getpgid": ("pid",), "getsid": ("pid",), "sched_getaffinity": ("pid", 128, "buffer"),
    "get_robust_list": ("pid", "buffer", "buffer"), "wait4": ("pid", 0, 1, 0),
    "clock_getres": ("clock", "buffer"),
}
def pollable(fd):
    import select
    p = select.poll(); p.register(fd); return p.poll(0)

threads = []
def start_thread():
    done = threading.Event()
    threads.append(threading.Thread(target=done.wait, daemon=True)); threads[-1].start()
LIMIT = struct.pack("QQ", 1 << 20, 1 << 20)
PLACES = {
    "buffer": 0, "length": 8192, "vector": 8208, "fdset": 8448, "event": 8704, "limit": 8832,
    "read lock": 8960, "write lock": 9024, "unlock": 9088,
}
TIMED = ("ppoll", "select", "pselect6", "clock_nanosleep", "timerfd_settime", "futex", "setitimer")
def values(kind, other, kept):
    """The values of an argument, and for a mapping a new one each time."""
    own = os.getpid()
    if isinstance(kind, list): return [v for k in kind for v in values(k, other, kept)]
    if isinstance(kind, int): return [kind]
    if kind == "fd": return [*range(21), *kept]
    if kind == "other": return [p for p in other if p != own]
    if kind == "pid": return [p for p in (*other, os.getppid(), 1) if p != own]
    if kind == "self": return [0, own]
    if kind == "clock": return [~p << 3 | k for p in (*other, 1) for k in (0, 1, 2, 4, 5, 6)]
    if kind == "shared map": return [mapped(path) for path in SHARED]
    if kind == "private map": return [mapped(path, True) for path in SHARED]
    if kind == "same": return ["same"]
    if kind == "path": return [at + 16384 + 512 * n for n in range(len(PATHS))]
    if kind == "pollfd": return [at + 8224 + 8 * fd for fd in range(21)]
    if kind == "epoll": return [kept[-1]]
    return [at + PLACES[kind]]
def fill_room():
    room[:] = bytes(1 << 16)
    room[0:8] = b"CROSSED\0"
    struct.pack_into("<I", room, 8192, 64)
    struct.pack_into("<QQ", room, 8208, at, 4)
    for fd in range(21): struct.pack_into("<ihh", room, 8224 + 8 * fd, fd, 7, 0)
    room[8448:8456] = b"\xff" * 8
    struct.pack_into("<IQ", room, 8704, 1, 0)
    room[8832:8848] = LIMIT
    for place, kind in ((8960, 0), (9024, 1), (9088, 2)): FLOCK.pack_into(room, place, kind, 0, 0, 0, 0)
    for n, path in enumerate(PATHS): struct.pack_into("500s", room, 16384 + 512 * n, path.encode())
given_fds = [fd for fd in range(21) if not isinstance(said(os.fstat, fd), str)]
saved = {fd: fcntl.fcntl(fd, fcntl.F_DUPFD, 60) for fd in given_fds}
kept = []
def renew():
    """Open what calls work on, each time anew, and give back the first descriptors."""
    for fd in range(64):
        if fd not in saved.values(): said(os.close, fd)
    for fd, copy in saved.items():
        os.dup2(copy, fd)
        fcntl.fcntl(fd, fcntl.F_SETFL, 0)
        said(os.ftruncate, fd, 4096)
    kept[:] = [moved(os.open(path, os.O_RDONLY)) for path in PATHS]
    for made in (*socket.socketpair(), *os.pipe(), eventfd(), timerfd(), libc.epoll_create1(0)):
        kept.append(moved(made if isinstance(made, int) else made.detach()))
    os.dup2(kept[0], 59)
def eventfd(): return raw(NUMBERS["eventfd2"], 1, 0o4000)[0]
def timerfd(): return raw(NUMBERS["timerfd_create"], 1, 0o4000)[0]
def moved(fd):
    high = fcntl.fcntl(fd, fcntl.F_DUPFD, 30)
    os.close(fd)
    return high
def change(call, shape, other):
    """Make a call with all values of its arguments. Return how many were made, and how many did something."""
    if shape == ["thread"]:
        start_thread()
        return [1, 1]
    made = done = 0
    renew()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    for given in itertools.product(*(values(kind, other, list(kept)) for kind in shape)):
        fill_room()
        if call in TIMED: room[:64] = bytes(64)
        given = [given[0] if value == "same" else value for value in given]
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        r, _ = raw(NUMBERS[call], *given)
        signal.setitimer(signal.ITIMER_REAL, 0)
        if call == "mmap" and 0 < r and given[2] & 2: ctypes.memmove(r, b"CROSSED\0", 8)
        made += 1; done += r >= 0
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return [made, done]

def stop(*_): pass
signal.signal(signal.SIGALRM, stop)
NUMBERS, seen, number = {}, {}, 0
while True:
    while struct.unpack_from("<Q", page, ORDER)[0] == number: time.sleep(0.0003)
    number, size = struct.unpack_from("<QQ", page, ORDER)
    order = json.loads(page[ORDER + 16:ORDER + 16 + size])
    try:
        if order["do"] == "begin":
            NUMBERS.update(order["numbers"])
            if order["looks"]: threading.Thread(target=sleep_on_a_file, daemon=True).start()
            told = os.getpid()
        elif order["do"] == "look":
            now = json.loads(json.dumps(look(order["other"])))
            both = [[key, seen.get(key), now.get(key)] for key in {**seen, **now}]
            told = [row for row in both if row[1] != row[2]]
            seen = now
        elif order["do"] == "change": told = change(order["call"], order["shape"], order["other"])
        else: os._exit(0)
    except BaseException as error:
        import traceback
        told = {"error": traceback.format_exc()}
    text = json.dumps(told).encode()
    struct.pack_into("<Q", page, REPLY + 8, len(text))
    page[REPLY + 16:REPLY + 16 + len(text)] = text
    struct.pack_into("<Q", page, REPLY, number)
'''
SHARED = ("colorsys.py", "this.py", "sched.py")
_ORDER, _REPLY = 300_000, 400_000
"""Places on the page that a program shares with its host, beyond the records of its one test."""
_PATIENCE_S = 30.0


class Guest:
    """One program in a cage of its own, which does what it is told."""

    def __init__(self, cage: Cage) -> None:
        self._number, self._failed = 0, ""
        self._opened, self._ended, self._released = threading.Event(), threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._live, args=(cage,))
        self._thread.start()
        self._opened.wait()

    def _live(self, cage: Cage) -> None:
        """Run the program. A cage ends with the thread that opened it."""
        try:
            self._worker = Worker(cage)
        finally:
            self._opened.set()
        text = PROGRAM
        for name, value in (("@ORDER@", _ORDER), ("@REPLY@", _REPLY), ("@SHARED@", SHARED)):
            text = text.replace(name, repr(value))
        with ExitStack() as stack:
            stack.callback(self._worker.close)
            names = ("job", "inputs", "output", "errors")
            job, inputs, output, errors = (memory_file(stack, name) for name in names)
            told = {"mode": "real", "kind": "stdio", "fn_name": None, "program": text, "spans": [[0, 0]]}
            write_all(job, json.dumps(told).encode())
            order = {"first": 0, "count": 1, "apart": [], "memory_mib": 512, "input_bytes": 0}
            order |= {"wall_s": 300.0, "total_s": 300.0, "file_bytes": 1 << 20}
            files = Files(job, inputs, [(output, errors)])
            try:
                ended = self._worker.run(order, files, lambda: False, packages=False)
                self._failed = f"{ended}: {os.pread(errors, 4000, 0).decode()}"
            finally:
                self._ended.set()
            self._released.wait()

    def tell(self, **order: Any) -> Any:
        """Give an order and return the reply."""
        page = self._order(order)
        end = time.monotonic() + _PATIENCE_S
        while struct.unpack_from("<Q", page, _REPLY)[0] != self._number:
            if self._ended.is_set() or time.monotonic() > end:
                raise AssertionError(f"no reply to {order}: {self._failed}")
            time.sleep(0.0003)
        (size,) = struct.unpack_from("<Q", page, _REPLY + 8)
        told = json.loads(page[_REPLY + 16 : _REPLY + 16 + size])
        assert not (isinstance(told, dict) and "error" in told), (order, told["error"])
        return told

    def end(self) -> None:
        """Let the program end."""
        if not self._ended.is_set():
            self._order({"do": "end"})
        self._ended.wait()

    def close(self) -> None:
        """End the program and its cage."""
        self.end()
        self._released.set()
        self._thread.join()

    def _order(self, order: dict[str, Any]) -> Any:
        """Write an order, once the program has begun. Return the page."""
        board = self._worker.board
        # By the descriptor: the page is cut to nothing before each program, and who reads it then is killed.
        while not self._ended.is_set() and not any(os.pread(vars(self._worker)["_board_fd"], 8, 0)):
            time.sleep(0.001)
        self._number += 1
        page, text = vars(board)["_page"], json.dumps(order).encode()
        struct.pack_into("<Q", page, _ORDER + 8, len(text))
        page[_ORDER + 16 : _ORDER + 16 + len(text)] = text
        struct.pack_into("<Q", page, _ORDER, self._number)
        return page


def _numbers(processor: str | None = None) -> dict[str, int]:
    """Return the calls that the filters allow to a program, with or without conditions."""
    cpu = machine(processor)
    assert cpu is not None
    return {**cpu.plain, **cpu.checked}


def crossings(cage: Cage, calls: Sequence[str]) -> dict[str, Any]:
    """Return what the second program saw change while the first one made the calls.

    `crossed` are (call, shape, what changed, before, after), `made` counts calls, and `done` those of each
    name that did not fail.
    """
    numbers, crossed, made, done = _numbers(), list[Any](), 0, dict[str, int]()
    _read_shared_files()
    with ExitStack() as stack:
        changer = Guest(cage)
        stack.callback(changer.close)
        looker = Guest(cage)
        stack.callback(looker.close)
        pid = changer.tell(do="begin", numbers=numbers, looks=False)
        own = looker.tell(do="begin", numbers=numbers, looks=True)
        # In tier a both have the same number in different namespaces, so further ones are tried.
        others = [own] if cage.tier == "b" else [own, own + 1, own + 2]
        for _ in range(2):
            looker.tell(do="look", other=[pid])
        crossed += [("no call", [], *seen) for seen in looker.tell(do="look", other=[pid])]
        for name, shape in [(call, shape) for call in calls if call in numbers for shape in SHAPES[call]]:
            tried, worked = changer.tell(do="change", call=name, shape=shape, other=others)
            made, done[name] = made + tried, done.get(name, 0) + worked
            crossed += [(name, shape, *seen) for seen in looker.tell(do="look", other=[pid])]
        changer.end()
        crossed += [("exit", [], *seen) for seen in looker.tell(do="look", other=[]) if seen[2] is not None]
    return {"crossed": crossed, "made": made, "done": done}


def _read_shared_files() -> None:
    """Read the files that the programs share, so that a reader on the host changes no time."""
    library = Path(os.__file__).parent
    for name in SHARED:
        (library / name).read_bytes()
    list((library / "json").iterdir())


OPENINGS = {
    "flock": ('_Rule("flock", (), _PRETEND)', '_Rule("flock", ())'),
    "fcntl": ("(_Test(1, _LOCKS),), _PRETEND)", "(_Test(1, _LOCKS),))"),
    "futex": ('_Rule("futex", (_Test(1, (_PRIVATE_FUTEX,), _PRIVATE_FUTEX),))', '_Rule("futex", ())'),
    "prlimit64": ('_Rule("prlimit64", (_Test(0, _SELF), _Test(1, (3,))))', '_Rule("prlimit64", ())'),
}
"""What the filters say of a call, and what they would say if it reached other programs. Without a rule for
`kill`, landlock would still keep signals within a cage (ABI 6)."""


def _opened(cage: Cage, folder: Path) -> Cage:
    """Return the cage with filters that let every opening through."""
    code = Path(inside.__file__ or "").parent
    shutil.copytree(code, folder / "inside", ignore=shutil.ignore_patterns("__pycache__"))
    folder.chmod(0o755)
    filters = folder / "inside" / "seccomp.py"
    text = filters.read_text()
    for rule, open_rule in OPENINGS.values():
        assert rule in text
        text = text.replace(rule, open_rule)
    filters.write_text(text)
    return replace(cage, command=tuple(word.replace(str(code.parent), str(folder)) for word in cage.command))


ROOT = Path(__file__).parents[2]
KNOWN = {"a": (), "b": ("/task", ", atime")}
"""What a program of tier b sees by `stat` of any path, see docs/security.md: how many threads a process has,
and when a file was read (most file systems keep that only once a day)."""
QUICK = ("flock", "fcntl", "futex", "prlimit64", "kill", "madvise", "mmap", "lseek", "ftruncate")


def _as(role: str) -> list[str]:
    """Return the command that runs another as root or as an ordinary user, in a user namespace if need be."""
    if (os.geteuid() == 0) is (role == "root"):
        return []
    other = ["--map-root-user"] if role == "root" else ["--map-user=1000", "--map-group=1000"]
    return ["unshare", "--user", *other]


def _tried(role: str, tier: str, calls: Sequence[str] = (), folder: Path | None = None) -> dict[str, Any]:
    """Return what crosses between two programs, run in a process of that role."""
    command = [*_as(role), sys.executable, "-m", "tests.sandbox.test_crossings", tier, ",".join(calls)]
    ran = subprocess.run(
        [*command, *([] if folder is None else [str(folder)])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def _unknown(told: dict[str, Any], tier: str) -> list[Any]:
    return [seen for seen in told["crossed"] if not seen[2].endswith(KNOWN[tier])]


def test_every_call_that_the_filters_allow_is_tried_or_has_a_reason() -> None:
    """A call that is new in the filters needs arguments in SHAPES, or a reason in REASONS."""
    assert {*SHAPES, *WITHOUT} == {*_numbers("x86_64"), *_numbers("aarch64")}
    assert not set(SHAPES) & set(WITHOUT)


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["a", "b"])
def test_a_program_sees_nothing_of_what_another_one_locks_wakes_or_limits(tier: str) -> None:
    told = _tried("root" if os.geteuid() == 0 else "user", tier, QUICK)
    assert _unknown(told, tier) == []
    assert told["done"]["flock"] > 50 and told["done"]["madvise"] > 20


@pytest.mark.slow
@pytest.mark.parametrize("role", ["root", "user"])
@pytest.mark.parametrize("tier", ["a", "b"])
def test_no_allowed_call_of_one_program_has_an_effect_on_another(
    tier: str, role: str, tmp_path: Path
) -> None:
    # With relatime the first sendfile of a day to a file sets the time of access of a device, even if it is
    # refused as that of /dev/null is. (A read sets none: tried on Linux 6.18.) It must not be a program's.
    for name in ("urandom", "null"):
        with (
            Path("/dev", name).open("rb", buffering=0) as device,
            (tmp_path / "sink").open("wb") as sink,
            contextlib.suppress(OSError),
        ):
            os.sendfile(sink.fileno(), device.fileno(), None, 16)
    told = _tried(role, tier)
    assert _unknown(told, tier) == []
    assert told["made"] > 5000
    assert set(told["done"]) == set(SHAPES) & set(_numbers())


@pytest.mark.slow
def test_what_a_filter_lets_through_is_seen(tmp_path: Path) -> None:
    """The programs of an ordinary user have the same user id, so only the filters are between them."""
    crossed = _tried("user", "b", list(OPENINGS), tmp_path)["crossed"]
    assert {call for call, *_ in crossed} >= set(OPENINGS), crossed


def main(tier: str, calls: Sequence[str], folder: str = "") -> None:
    """Print what crosses between two programs, as JSON."""
    cage, worker = open_cage("a" if tier == "a" else "b")
    worker.close()
    print(json.dumps(crossings(_opened(cage, Path(folder)) if folder else cage, calls or list(SHAPES))))


if __name__ == "__main__":
    main(sys.argv[1], [call for call in sys.argv[2].split(",") if call], *sys.argv[3:])
