"""The zygote, a warm interpreter inside the cage, and the processes that it forks.

It forks once per program and watches the process until it ends. The process sets up its descriptors, limits
and filter, and then runs the program.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import random
import select
import signal
import socket
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

from . import calls, confine, harness, prelude, process, seccomp
from .board import Board
from .job import NOTHING, READY, RESERVED, RESULTS, Job, read
from .seccomp import Filter

_NOT_SET_UP = 70


@dataclass(frozen=True, slots=True)
class Ground:
    """The resources that the zygote has prepared for every program."""

    board: Board
    prelude: dict[str, Any]
    base_bytes: int
    filter: Filter | None
    pid: int


def become(ground: Ground, order: dict[str, Any], fds: list[int], ready: int) -> NoReturn:
    """Run the job and never return. A byte on `ready` says that the process is confined.

    Args:
        fds: descriptors of the job, its inputs, the output, the error output.
    """
    status = _NOT_SET_UP
    try:
        job = read(order, fds[0], fds[1], ground.board)
        _wire(job, fds[2], fds[3], ready)
        confine.program(order, ground.pid, ground.base_bytes, ground.filter)
        os.write(READY, b"1")
        os.close(READY)
        status = 0
        random.seed(0)  # a verdict must be repeatable, as for the hash seed
        _run(job, ground.prelude)
    except BaseException as error:
        if status == _NOT_SET_UP:
            os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace"))
        status = status or 1
    finally:
        os._exit(status)


def _wire(job: Job, output: int, errors: int, ready: int) -> None:
    """Set up descriptors 0, 1 and 2 and close the zygote's. Given descriptors are above RESERVED.

    If the program's prints are not its answer, they go to the error output. The answer goes to RESULTS.
    """
    printed = job.kind == "stdio" and job.mode == "real"
    # /dev/null is opened anew: locks and flags of the zygote's own would stay for the next program.
    os.dup2(os.memfd_create("stdin") if printed else os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output if printed else errors, 1)
    os.dup2(errors, 2)
    os.dup2(NOTHING if printed else output, RESULTS)
    os.dup2(ready, READY)
    os.closerange(RESULTS if printed else READY + 1, READY)
    os.closerange(READY + 1, confine.OPEN_FILES)


def _run(job: Job, prelude: dict[str, Any]) -> None:
    if job.kind == "assert":
        calls.answer_expressions(job, prelude)
    elif job.kind == "functional":
        calls.answer_calls(job, prelude)
    elif job.mode == "real":
        process.run(job, prelude)
    else:
        harness.run(job, prelude)


_MESSAGE = 65536
_FDS = 8


def main() -> None:
    """Serve the host on descriptor 0 until it closes the socket."""
    control = _take_control()
    data, fds, _, _ = socket.recv_fds(control, _MESSAGE, _FDS)
    setup = json.loads(data)
    ground = _prepare(setup, Board(fds[0]))
    os.close(fds[0])
    facts = {"interpreter": _interpreter(setup), "uid": os.geteuid(), "landlock": confine.landlock_abi()}
    control.send(json.dumps(facts).encode())
    while True:
        data, fds, _, _ = socket.recv_fds(control, _MESSAGE, _FDS)
        if not data:
            return
        order = json.loads(data)
        if "program" in order:  # a "stop" that arrives after the end of its program is ignored
            control.send(json.dumps(_supervise(ground, control, order, fds)).encode())


def _take_control() -> socket.socket:
    """Move the host's socket to a high number and fill the low descriptors with /dev/null."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    high = socket.socket(fileno=_moved(0))
    for fd in (0, *range(3, RESERVED)):
        if fd != nothing:
            os.dup2(nothing, fd, inheritable=False)
    os.fstat(NOTHING)
    return high


def _moved(fd: int) -> int:
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, RESERVED)


def _prepare(setup: dict[str, Any], board: Board) -> Ground:
    """Prepare once what programs need: imports, the filter, the confinement."""
    names = prelude.names()
    prelude.warm()
    sys.path.extend(setup["site"])
    for package in setup["packages"]:
        import_module(package)
    for folder in setup["site"]:
        sys.path.remove(folder)
    find_spec("genbench_no_such_module")  # this lists the folders of sys.path, which tier B cannot do later
    sys.argv = [process.FILENAME]
    sys.setrecursionlimit(prelude.RECURSION_LIMIT)
    machine = seccomp.machine()
    if machine is None and setup["tier"] != "unsafe":
        raise OSError(f"no system call table for this processor ({os.uname().machine})")
    confine.zygote(setup)
    filter_ = seccomp.build(machine) if machine is not None and setup["tier"] != "unsafe" else None
    gc.collect()
    gc.freeze()
    return Ground(board, names, confine.address_space(), filter_, os.getpid())


def _interpreter(setup: dict[str, Any]) -> str:
    """Return the interpreter that runs the programs, with versions."""
    packages = [f"{name} {getattr(sys.modules[name], '__version__', '?')}" for name in setup["packages"]]
    return ", ".join([f"python {sys.version.split()[0]}", *packages])


@dataclass(slots=True)
class _Watch:
    """The clock of one process.

    It has a limit per test, by what the board says has begun, and one for all tests.
    """

    board: Board
    tests: int
    wall_ns: int
    deadline: int
    end: int
    seen: int = 0

    def over(self, now: int) -> bool:
        """Return whether the time is up. Move the deadline on if another test has begun since."""
        if now >= self.end:
            return True
        if now < self.deadline:
            return False
        started, at = self.board.started
        if not self.seen < started <= self.tests:
            return True
        self.seen = started
        self.deadline = min(max(at, self.deadline - self.wall_ns), now) + self.wall_ns
        return now >= self.deadline

    def patience_ms(self, now: int) -> int:
        return max(0, min(self.deadline, self.end) - now) // 1_000_000 + 1


def _supervise(
    ground: Ground, control: socket.socket, order: dict[str, Any], fds: list[int]
) -> dict[str, Any]:
    """Run one order and return how its process ended. No process is left when it returns."""
    ready_in, ready_out = os.pipe()
    began = time.monotonic_ns()
    pid = os.fork()
    if pid == 0:
        become(ground, order, fds, ready_out)
    for fd in (*fds, ready_out):
        os.close(fd)
    handle = os.pidfd_open(pid)
    try:
        how = _watch(ground.board, control, handle, order, began)
        _, status, usage = os.wait4(pid, 0)
        armed = os.read(ready_in, 1) == b"1"
    finally:
        os.close(handle)
        os.close(ready_in)
    return {
        "number": order["number"],
        "how": how,
        "status": os.waitstatus_to_exitcode(status),
        "armed": armed,
        "wall_s": (time.monotonic_ns() - began) / 1e9,
        "cpu_s": usage.ru_utime + usage.ru_stime,
    }


def _watch(board: Board, control: socket.socket, handle: int, order: dict[str, Any], began: int) -> str:
    """Wait until the process ends, its time is up or the host says stop. Kill it in the last two cases."""
    wall_ns = int(order["wall_s"] * 1e9)
    watch = _Watch(board, order["count"], wall_ns, began + wall_ns, began + int(order["total_s"] * 1e9))
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    poller.register(control, select.POLLIN)
    while True:
        ready = {fd for fd, _ in poller.poll(watch.patience_ms(time.monotonic_ns()))}
        if handle in ready:
            return "ended"
        if ready:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            if not control.recv(_MESSAGE):
                os._exit(0)  # the host process is gone, which ends every program
            return "stopped"
        if watch.over(time.monotonic_ns()):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return "timeout"
