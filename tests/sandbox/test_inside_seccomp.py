"""The filter's program, run by a small BPF machine: for the processor that is here and for the other."""

from __future__ import annotations

import errno
import struct

import pytest

from genbench.sandbox.inside.seccomp import Machine, build, machine

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
PID = 4711


def action(code: bytes, audit: int, number: int, *arguments: int) -> int:
    """What the filter returns for one call; linux/filter.h, only the instructions that it may use."""
    data = struct.pack("<IIQ6Q", number, audit, 0, *(*arguments, 0, 0, 0, 0, 0, 0)[:6])
    words = [struct.unpack_from("<HBBI", code, at) for at in range(0, len(code), 8)]
    accumulator, at = 0, 0
    while True:
        operation, yes, no, value = words[at]
        at += 1
        match operation:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, value)
            case 0x15:
                at += yes if accumulator == value else no
            case 0x35:
                at += yes if accumulator >= value else no
            case 0x54:
                accumulator &= value
            case 0x06:
                return int(value)
            case _:
                raise AssertionError(f"instruction {operation:#x}")


@pytest.fixture(params=["x86_64", "aarch64"])
def cpu(request: pytest.FixtureRequest) -> Machine:
    found = machine(request.param)
    assert found is not None
    return found


def ask(cpu: Machine, call: str | int, *arguments: int) -> int:
    number = cpu.checked[call] if isinstance(call, str) else call
    return action(build(cpu).for_process(PID), cpu.audit, number, *arguments)


def test_every_plain_call_is_allowed(cpu: Machine) -> None:
    assert {ask(cpu, number, 2**63, 2**63) for number in cpu.plain} == {ALLOW}


def test_every_other_call_is_refused(cpu: Machine) -> None:
    known = {*cpu.plain, *cpu.checked.values(), *cpu.absent}
    found = {ask(cpu, number) for number in range(424) if number not in known}
    assert found == {ERRNO | errno.EPERM}


def test_calls_of_newer_kernels_look_absent(cpu: Machine) -> None:
    known = {*cpu.plain, *cpu.checked.values()}
    found = {ask(cpu, number) for number in range(424, 600) if number not in known}
    assert found == {ERRNO | errno.ENOSYS}
    assert set(cpu.absent) == {435, 437}


def test_another_calling_convention_kills_or_is_refused(cpu: Machine) -> None:
    code = build(cpu).for_process(PID)
    assert action(code, cpu.audit ^ 1, cpu.plain[0]) == KILL
    if cpu.foreign_from is not None:
        assert action(code, cpu.audit, cpu.foreign_from + cpu.plain[0]) == ERRNO | errno.ENOSYS


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
        ("fcntl", (9, 1030), True),
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


def test_a_processor_without_tables_has_no_filter() -> None:
    assert machine("riscv64") is None
