"""The filter's program, run by a small BPF machine: for the processor that is here and for the other."""

from __future__ import annotations

import errno
import struct

import pytest

from genbench.sandbox.inside.seccomp import Machine, build, machine

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
PID = 4711
PROCESS_CLOCK = (~PID << 3 | 2) & 0xFFFFFFFF
PRETEND, REFUSED, ABSENT = ERRNO, ERRNO | errno.EPERM, ERRNO | errno.ENOSYS


def action(code: bytes, audit: int, number: int, *arguments: int) -> int:
    """What one filter returns for one call; linux/filter.h, only the instructions that it may use."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    words = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    accumulator, index, memory, at = 0, 0, dict[int, int](), 0
    while True:
        operation, yes, no, value = words[at]
        at += 1
        match operation:
            case 0x00:
                accumulator = value
            case 0x02:
                memory[value] = accumulator
            case 0x61:
                index = memory[value]
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += yes if accumulator == value else no
            case 0x1D:
                at += yes if accumulator == index else no
            case 0x35:
                at += yes if accumulator >= value else no
            case 0x54:
                accumulator &= value
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"instruction {operation:#x}")


def strictest(filters: list[bytes], audit: int, number: int, *arguments: int) -> int:
    """What the kernel does after several filters: the strictest wins, and of equals the newest."""
    found = [action(code, audit, number, *arguments) for code in reversed(filters)]
    return min(found, key=lambda value: (value != KILL, value & 0xFFFF0000))


@pytest.fixture(params=["x86_64", "aarch64"])
def cpu(request: pytest.FixtureRequest) -> Machine:
    found = machine(request.param)
    assert found is not None
    return found


def ask(cpu: Machine, call: str | int, *arguments: int, who: str = "program") -> int:
    """What happens to a call of the zygote, of a stem, or of a program that a stem was forked for."""
    refused = {"sched_setaffinity": 203 if cpu.name == "x86_64" else 122, "open": 2}
    number = {**refused, **cpu.checked, **cpu.keeping}[call] if isinstance(call, str) else call
    filters = build(cpu)
    installed = [filters.zygote, filters.stem, filters.program][
        : ("zygote", "stem", "program").index(who) + 1
    ]
    return strictest([part.for_process(PID) for part in installed], cpu.audit, number, *arguments)


def test_every_plain_call_is_allowed(cpu: Machine) -> None:
    assert {ask(cpu, number, 2**63, 2**63) for number in cpu.plain.values()} == {ALLOW}


def test_every_other_call_is_refused(cpu: Machine) -> None:
    known = {*cpu.plain.values(), *cpu.checked.values(), *cpu.absent}
    found = {ask(cpu, number) for number in range(424) if number not in known}
    assert found == {REFUSED}


def test_calls_of_newer_kernels_look_absent(cpu: Machine) -> None:
    known = {*cpu.plain.values(), *cpu.checked.values(), *cpu.keeping.values()}
    found = {ask(cpu, number) for number in range(424, 600) if number not in known}
    assert found == {ABSENT}
    assert set(cpu.absent) == {435, 437}


@pytest.mark.slow
def test_a_program_that_shares_a_process_is_as_confined_as_one_with_a_stem(cpu: Machine) -> None:
    filters = build(cpu)
    without = [filters.zygote.for_process(PID), filters.program.for_process(PID)]
    for number in range(500):
        for given in ((0, 0, 0), (0, 1, 1), (PID, 3, 1 << 32), (PID, 3, 0), (PID + 1, 3, 0), (17, 1, 1)):
            with_stem = ask(cpu, number, *given)
            assert (strictest(without, cpu.audit, number, *given) == ALLOW) is (with_stem == ALLOW)


@pytest.mark.parametrize(
    ("call", "arguments", "zygote", "stem"),
    [
        ("recvmsg", (3,), True, False),
        ("setpgid", (0, 0), True, False),
        ("pidfd_open", (PID,), True, False),
        ("pidfd_send_signal", (3, 9), True, False),
        ("memfd_create", (), True, True),
        ("clone", (0x01200011,), True, True),
        ("clone", (17,), False, False),
        ("clone", (0x01200011 | 0x10000000,), False, False),
        ("prctl", (22, 2), True, True),
        ("prctl", (1, 9), True, True),
        ("prctl", (4, 1), False, False),
        ("prlimit64", (0, 9, 1 << 40), True, False),
        ("sched_setaffinity", (PID,), False, False),
        ("open", (0, 1), False, False),
    ],
)
def test_the_zygote_and_a_stem_may_do_a_little_more(
    cpu: Machine, call: str, arguments: tuple[int, ...], zygote: bool, stem: bool
) -> None:
    assert (ask(cpu, call, *arguments, who="zygote") == ALLOW) is zygote
    assert (ask(cpu, call, *arguments, who="stem") == ALLOW) is stem
    assert ask(cpu, call, *arguments) != ALLOW


def test_another_calling_convention_kills_or_is_refused(cpu: Machine) -> None:
    code = build(cpu).zygote.code
    assert action(code, cpu.audit ^ 1, cpu.plain["read"]) == KILL
    if cpu.foreign_from is not None:
        assert action(code, cpu.audit, cpu.foreign_from + cpu.plain["read"]) == ERRNO | errno.ENOSYS


@pytest.mark.parametrize(
    ("call", "arguments", "allowed"),
    [
        ("openat", (0, 0, 0o2000000), True),  # O_CLOEXEC
        ("openat", (0, 0, 0o200000), True),  # O_DIRECTORY
        ("openat", (0, 0, 1), False),
        ("openat", (0, 0, 2), False),
        ("openat", (0, 0, 0o100), False),
        ("openat", (0, 0, 0o1000), False),
        ("openat", (0, 0, 0o20200000), False),  # O_TMPFILE
        ("clone", (0x3D0F00,), True),  # what glibc asks for a thread
        ("clone", (17,), False),
        ("clone", (0x3D0F00 | 0x10000000,), False),
        ("tgkill", (PID,), True),
        ("tgkill", (PID + 1,), False),
        ("kill", (PID, 9), True),
        ("kill", (0, 9), False),
        ("kill", (0xFFFFFFFF, 9), False),
        ("kill", (PID + 1, 0), False),
        ("fcntl", (9, 1030), True),
        ("fcntl", (9, 1031), False),
        ("fcntl", (9, 8), False),
        ("fcntl", (9, 10), False),
        ("ioctl", (0, 0x5401), True),
        ("ioctl", (0, 0x5412), False),  # TIOCSTI types into a terminal
        ("prctl", (15,), True),
        ("prctl", (1,), False),
        ("prctl", (4,), False),
        ("prlimit64", (0, 9, 0), True),
        ("prlimit64", (0, 9, 1), False),
        ("prlimit64", (0, 9, 1 << 32), False),
        ("prlimit64", (0, 3, 1 << 32), True),
        ("prlimit64", (5, 3, 1 << 32), False),
        ("prlimit64", (5, 3, 0), False),
        ("prlimit64", (PID, 7, 0), True),
        ("prlimit64", (PID + 1, 7, 0), False),
        ("sched_getaffinity", (0,), True),
        ("sched_getaffinity", (PID,), True),
        ("sched_getaffinity", (1,), False),
        ("sched_getscheduler", (1,), False),
        ("sched_getparam", (1,), False),
        ("getpriority", (0, PID), True),
        ("getpriority", (0, 1), False),
        ("getpriority", (2, 0), False),
        ("getpgid", (0,), True),
        ("getpgid", (1,), False),
        ("getsid", (1,), False),
        ("get_robust_list", (PID,), True),
        ("get_robust_list", (1,), False),
        ("clock_gettime", (1,), True),
        ("clock_gettime", (0xFFFFFFFA,), True),
        ("clock_gettime", (PROCESS_CLOCK,), True),
        ("clock_gettime", (PROCESS_CLOCK | 4,), True),
        ("clock_gettime", (PROCESS_CLOCK - 8,), False),
        ("clock_nanosleep", (PROCESS_CLOCK - 8,), False),
        ("clock_getres", (PROCESS_CLOCK - 8,), False),
        ("mmap", (0, 4096, 1, 2), True),
        ("mmap", (0, 4096, 3, 0x40022), False),
        ("madvise", (0, 4096, 4), True),
        ("futex", (0, 128), True),
        ("futex", (0, 129 | 256), True),
        ("socketpair", (1, 1 | 0x80800), True),
        ("socketpair", (1, 2), False),
        ("socketpair", (2, 1), False),
        ("sendto", (3, 0, 0, 0, 0), True),
        ("sendto", (3, 0, 0, 0, 1 << 32), False),
        ("sendto", (3, 0, 0, 0, 1), False),
    ],
)
def test_checked_calls_go_by_their_arguments(
    cpu: Machine, call: str, arguments: tuple[int, ...], allowed: bool
) -> None:
    assert ask(cpu, call, *arguments) == (ALLOW if allowed else ERRNO | errno.EPERM)


@pytest.mark.parametrize(
    ("call", "arguments", "result"),
    [
        ("flock", (3, 2), PRETEND),
        ("fcntl", (3, 6), PRETEND),
        ("fcntl", (3, 7), PRETEND),
        ("fcntl", (3, 37), PRETEND),
        ("fcntl", (3, 38), PRETEND),
        ("fcntl", (3, 5), ALLOW),
        ("fadvise64", (3, 0, 0, 4), PRETEND),
        ("madvise", (0, 4096, 12), ERRNO | errno.EINVAL),
        ("madvise", (0, 4096, 21), ERRNO | errno.EINVAL),
        ("futex", (0, 0), ERRNO | errno.EAGAIN),
        ("futex", (0, 9 | 256), ERRNO | errno.EAGAIN),
        ("futex", (0, 1), PRETEND),
        ("futex", (0, 6), ABSENT),
    ],
)
def test_calls_that_programs_could_talk_by_have_no_effect(
    cpu: Machine, call: str, arguments: tuple[int, ...], result: int
) -> None:
    assert ask(cpu, call, *arguments) == result


def test_a_processor_without_tables_has_no_filter() -> None:
    assert machine("riscv64") is None
