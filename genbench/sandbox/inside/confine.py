"""Confinement of zygote and program. They give up user, capabilities, files, limits and system calls.

Python does not provide the kernel calls for that: prctl, capset, seccomp, landlock. With landlock a process
gives up the file system except named folders, without any privilege. Its numbers and structures are those
of linux/landlock.h, ABI 1 (Linux 5.13) to 6 (6.12).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import signal
import stat
import threading

from .bpf import Filter

# The import of typing, of dataclasses and of the tables takes 20 ms of each step of a program.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .seccomp import Filters

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

_LIBC = ctypes.CDLL(None, use_errno=True)
_FORK, _PRCTL = ctypes.PyDLL(None).fork, ctypes.PyDLL(None).prctl
"""Calls of every test's process, without what ctypes does for errno and for other threads."""
_CAPABILITIES_V3 = 0x20080522


class _Program(ctypes.Structure):
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


class Loaded:
    """A filter in the memory of this process, ready to be put between it and the kernel.

    It is made before a fork, because making it there would copy a hundred pages.
    """

    def __init__(self, filter_: Filter) -> None:
        self._filter = filter_
        self._held = ctypes.create_string_buffer(filter_.code, len(filter_.code))
        self._view = memoryview(self._held).cast("B")
        program = _Program(len(filter_.code) // 8, ctypes.addressof(self._held))
        self._arguments = _prctl_arguments(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))

    def install(self) -> None:
        """Put it before every later call of this process, and of its threads and children to come."""
        self._filter.fill(self._view, os.getpid())
        if _PRCTL(*self._arguments) < 0:
            raise OSError("seccomp: the kernel refused the filter")


def _prctl_arguments(option: int, value: int, more: Any = 0) -> tuple[Any, ...]:
    more = more if not isinstance(more, int) else ctypes.c_ulong(more)
    return ctypes.c_int(option), ctypes.c_ulong(value), more, ctypes.c_ulong(0), ctypes.c_ulong(0)


class Barriers:
    """The filters that are installed one after the other, see seccomp.Filters."""

    __slots__ = ("program", "stem")

    def __init__(self, stem: Loaded, program: Loaded) -> None:
        self.stem, self.program = stem, program

    @classmethod
    def behind(cls, filters: Filters) -> Barriers:
        """Install the zygote's own filter, and return the others."""
        Loaded(filters.zygote).install()
        return cls(Loaded(filters.stem), Loaded(filters.program))


def fork() -> int:
    """Fork as os.fork does, in a third of the time. Only a process with one thread may call it.

    os.fork makes locks and thread states anew, which copies 180 pages. All locks are free in such a process,
    and PyDLL keeps the lock of the interpreter for the one thread that goes on in the child.
    """
    pid = int(_FORK())
    if pid < 0:
        raise OSError("fork: no process could be made")
    return pid


def know_own_thread() -> None:
    """Give the main thread its native id after a fork."""
    threading.main_thread()._set_native_id()  # type: ignore[attr-defined]


_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE
"""The rights that a rule on a file, not a folder, may name in every ABI."""
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


def landlock_abi() -> int:
    """Return the kernel's landlock version, or 0 if it has none."""
    return max(0, syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION)))


def keep_only(
    readable: Iterable[str], *, executable: Iterable[str] = (), writable: Iterable[str] = ()
) -> None:
    """Allow this process only to read below `readable`. Threads and children inherit it.

    Args:
        executable: paths below which programs may be read and started too.
        writable: paths below which everything is allowed.

    Raises:
        OSError: there is no landlock here.
    """
    version = landlock_abi()
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
            _allow(rules, path, _READ_FILE | _READ_DIR)
        for path in executable:
            _allow(rules, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in writable:
            _allow(rules, path, ruleset.files)
        check(syscall(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0)), "landlock_restrict_self")
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        folder = stat.S_ISDIR(os.fstat(place).st_mode)
        rule = _PathBeneath(rights if folder else rights & _OF_FILES, place)
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


_NOBODY = 65534
OPEN_FILES = 64
_PAGE = 4096


def zygote(setup: dict[str, Any]) -> None:
    """Make the zygote harmless: another user than root, no capability, and in tier B no files.

    Raises:
        OSError: the kernel refused one of them. There is no cage then.
    """
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    if setup["tier"] != "unsafe":
        _become_nobody(setup["uid"])
        drop_capabilities()
    prctl(PR_SET_DUMPABLE, 0)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user resets it
    if setup["tier"] != "unsafe":
        prctl(PR_SET_CHILD_SUBREAPER, 1)  # a test's process outlives its stem by a moment
    if setup["tier"] == "b":
        keep_only(setup["readable"])


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


def tools(order: dict[str, Any], parent: int) -> None:
    """Make a compiler, or a program of another language, harmless, and end it with the parent.

    Args:
        order: tier, uid, filters (code, whether it has ids), the paths readable, executable and
            writable, and the limits memory_mib, file_mib, cpu_s, processes, open_files.

    Raises:
        OSError: the kernel refused something. Nothing must run then.
    """
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    for which, value in (
        (resource.RLIMIT_NOFILE, order["open_files"]),
        # Runtimes reserve address space that they never touch, so the limit is on writable memory.
        (resource.RLIMIT_DATA, order["memory_mib"] << 20),
        (resource.RLIMIT_FSIZE, order["file_mib"] << 20),
        (resource.RLIMIT_CPU, order["cpu_s"]),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _limit(which, value)
    if order["tier"] != "unsafe":
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(order["uid"], order["uid"], order["uid"])
            os.setresuid(order["uid"], order["uid"], order["uid"])
        drop_capabilities()
        _limit(resource.RLIMIT_NPROC, order["processes"])
    end_with(parent)
    if order["tier"] == "b":
        keep_only(order["readable"], executable=order["executable"], writable=order["writable"])
    if order["tier"] != "unsafe":
        # The first filter refuses further ones, so it is the last to be installed.
        for code, has_ids in reversed(order["filters"]):
            Loaded(Filter(code, has_ids)).install()


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


def limits(order: dict[str, Any], parent: int, base_bytes: int) -> None:
    """Set the hard limits of one program, and end with the parent.

    Args:
        order: memory_mib beyond `base_bytes` and the inputs, file_bytes, cpu_s, threads.
    """
    end_with(parent)
    memory = base_bytes + order["input_bytes"] + (order["memory_mib"] << 20)
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_FSIZE, order["file_bytes"])
    _limit(resource.RLIMIT_CPU, order["cpu_s"])
    _limit(resource.RLIMIT_NPROC, order["threads"])
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_MEMLOCK, 0)
    _limit(resource.RLIMIT_MSGQUEUE, 0)
    # Queued signals and timers are counted by user: a program could see those of another one.
    _limit(resource.RLIMIT_SIGPENDING, 0)


_END_WITH_PARENT = _prctl_arguments(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends."""
    if _PRCTL(*_END_WITH_PARENT) < 0 or os.getppid() != parent:
        raise OSError("the parent is gone")


def _limit(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))
