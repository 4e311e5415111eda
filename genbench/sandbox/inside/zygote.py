"""The zygote, a warm interpreter inside the cage, and the processes that it forks.

It forks once per program and watches the process until it ends. The process sets up its descriptors, limits
and filters, and then runs the program. If each test needs a process of its own, that process is their stem.
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
import struct
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from typing import Any, NoReturn

from . import board as statuses
from . import calls, confine, harness, prelude, process, seccomp
from .board import Board
from .confine import Barriers
from .job import GO_ON, LAST_WORDS, NOTHING, READY, RESERVED, RESULTS, Job, read

_NOT_SET_UP = 70


@dataclass(frozen=True, slots=True)
class Ground:
    """The resources that the zygote has prepared for every program."""

    board: Board
    main: process.Main
    base_bytes: int
    barriers: Barriers | None
    pid: int


def become(ground: Ground, order: dict[str, Any], fds: list[int], ready: int) -> NoReturn:
    """Run the job and never return. A byte on `ready` says that the process is confined.

    Args:
        fds: descriptors of the job, its inputs, the output and the error output of each process that is to
            run the program, and of a stem's talk with the host.
    """
    status = _NOT_SET_UP
    try:
        job = read(order, fds[0], fds[1], ground.board)
        if order["apart"]:
            stem = Stem(ground, order, job, fds[-1], list(zip(fds[2:-1:2], fds[3::2], strict=True)))
            stem.grow(ready)
            status = 0
            stem.run()
        else:
            _wire(job, _given(job), fds[2], fds[3], ready)
            confine.limits(order, ground.pid, ground.base_bytes)
            if ground.barriers is not None:
                ground.barriers.program.install()
            os.write(READY, b"1")
            os.close(READY)
            confine.know_own_thread()
            status = 0
            _run(job, ground.main)
    except BaseException as error:
        if status == _NOT_SET_UP:
            os.write(2, f"{type(error).__name__}: {error}".encode(errors="replace"))
        status = status or 1
    finally:
        os._exit(status)


def _given(job: Job) -> int:
    """Return a new standard input, which is empty. Locks and flags of one that is shared would stay."""
    return os.memfd_create("stdin") if job.is_printed else os.open(os.devnull, os.O_RDONLY)


def _wire(job: Job, given: int, output: int, errors: int, ready: int | None) -> None:
    """Set up descriptors 0, 1 and 2 and close the zygote's. Given descriptors are above RESERVED.

    If the program's prints are not its answer, they go to the error output. The answer goes to RESULTS.
    """
    printed = job.is_printed
    os.dup2(given, 0)
    os.dup2(output if printed else errors, 1)
    os.dup2(errors, 2)
    os.dup2(NOTHING if printed else output, RESULTS)
    if ready is not None:
        os.dup2(ready, READY)
        os.closerange(RESULTS if printed else READY + 1, READY)
        os.closerange(READY + 1, confine.OPEN_FILES)
    else:
        os.closerange(RESULTS if printed else READY, LAST_WORDS)


def _run(job: Job, main: process.Main) -> None:
    if job.kind == "assert":
        calls.answer_expressions(job, main)
    elif job.kind == "functional":
        calls.answer_calls(job, main)
    elif job.mode == "real":
        process.run(job, main)
    else:
        harness.run(job, main.prelude)


_STATUS = struct.Struct("<Q")
_CONFINED = b"1"


class Stem:
    """A process that has compiled a program, has run nothing of it, and is forked for each test.

    So tests share no page that one of them can write, no pipe and no offset in a file. The stem is confined
    as the program is, except that it may fork and make files in memory. It writes the board, which is not
    mapped in the process of a test.

    Args:
        talk: a socket. The stem tells the host the end of a test, and waits until it may GO_ON.
        outputs: descriptors of the output and the error output of each test.
    """

    def __init__(
        self, ground: Ground, order: dict[str, Any], job: Job, talk: int, outputs: list[tuple[int, int]]
    ) -> None:
        self._ground, self._order, self._job, self._talk, self._outputs = ground, order, job, talk, outputs
        self._pid = os.getpid()

    def grow(self, ready: int) -> None:
        """Confine this process, and say so on `ready`. Then prepare all that the tests have in common."""
        os.setpgid(0, 0)
        # The streams of all tests are opened here, on files like theirs.
        output, errors = self._outputs[0]
        os.dup2(_given(self._job), 0)
        os.dup2(output if self._job.is_printed else errors, 1)
        os.dup2(errors, 2)
        confine.limits(self._order, self._ground.pid, self._ground.base_bytes)
        if self._ground.barriers is not None:
            self._ground.barriers.stem.install()
        self._job.board.hide()
        os.write(ready, b"1")
        os.close(ready)
        process.open_streams()
        self._ready = process.Ready.prepare(self._job.program)
        self._ground.main.begin()
        gc.collect()
        gc.freeze()  # the collection at the end of each test is shorter

    def run(self) -> None:
        """Fork a process for each test, up to the first that does not end well or is not accepted."""
        for index in range(self._job.count):
            self._job.board.start(index)
            status = self._status_of(index)
            self._job.board.finish(index, status, 0)
            self._job.board.wait_for_host()
            if status != statuses.OK or index + 1 == self._job.count:
                return
            os.write(self._talk, GO_ON)
            if os.read(self._talk, 1) != GO_ON:
                return

    def _status_of(self, index: int) -> int:
        """Return how a test ended in a process of its own."""
        given = _given(self._job)
        if self._job.is_printed:
            process.feed(given, self._job.input(index))
        words, last_words = os.pipe()
        if confine.fork() == 0:
            self._become_test(index, given, last_words)
        os.close(given)
        os.close(last_words)
        _, ended = os.wait()
        told = os.read(words, len(_CONFINED) + _STATUS.size)
        os.close(words)
        if told[:1] != _CONFINED:
            return statuses.NOT_SET_UP
        return self._told(os.waitstatus_to_exitcode(ended), told[1:])

    def _told(self, code: int, said: bytes) -> int:
        """Return the status of a test by its process's end, and by what it said of itself."""
        if code < 0:
            return statuses.killed_by(-code)
        if len(said) == _STATUS.size and (status := _STATUS.unpack(said)[0]):
            return int(status)
        return statuses.exit_with(code) if code or not self._job.is_printed else statuses.OK

    def _become_test(self, index: int, given: int, last_words: int) -> NoReturn:
        status = statuses.NOT_SET_UP
        try:
            os.dup2(last_words, LAST_WORDS)
            _wire(self._job, given, *self._outputs[index], None)
            confine.end_with(self._pid)
            if self._ground.barriers is not None:
                self._ground.barriers.program.install()
            os.write(LAST_WORDS, _CONFINED)
            confine.know_own_thread()
            status = statuses.EXCEPTION
            status = self._run_test(index)
            os.write(LAST_WORDS, _STATUS.pack(status))
        finally:
            os._exit(statuses.process_code(status))

    def _run_test(self, index: int) -> int:
        main = self._ground.main
        if self._job.kind == "functional":
            return calls.answer_call(self._job, index, self._ready, main)
        return process.run_test(self._ready, main)


_MESSAGE = 65536


def main() -> None:
    """Serve the host on descriptor 0 until it closes the socket.

    A second process serves it on another socket. That one has imported the packages, which makes each fork
    take half as long again, so it gets the programs that mention one of them.
    """
    control = _take_control()
    data, fds, _, _ = socket.recv_fds(control, _MESSAGE, 2)
    setup = json.loads(data)
    board, other = Board(fds[0]), socket.socket(fileno=fds[1])
    os.close(fds[0])
    prelude.provide_stdin()
    names = prelude.names()
    prelude.warm()
    own = os.getpid()
    if os.fork() == 0:
        control, other = other, control
        other.close()
        _import(setup)
        ground = _prepare(setup, board, names, own)
    else:
        other.close()
        sys.meta_path.append(Packages(setup["packages"], setup["site"]))
        ground = _prepare(setup, board, names, os.getppid())
    facts = {"interpreter": _interpreter(setup), "uid": os.geteuid(), "landlock": confine.landlock_abi()}
    control.send(json.dumps(facts).encode())
    while True:
        data, fds, _, _ = socket.recv_fds(control, _MESSAGE, confine.OPEN_FILES)
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


class Packages:
    """A finder of packages that can be imported, for programs that do it without a mention in their text."""

    def __init__(self, names: list[str], folders: list[str]) -> None:
        self._found = {name: f"{folder}/{name}" for name in names for folder in folders}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return how a package is loaded. The folder around it may not be readable."""
        folder = self._found.get(name)
        if folder is None:
            return None
        return spec_from_file_location(name, f"{folder}/__init__.py", submodule_search_locations=[folder])


def _import(setup: dict[str, Any]) -> None:
    """Import the packages of a cage."""
    sys.path.extend(setup["site"])
    for package in setup["packages"]:
        import_module(package)
    for folder in setup["site"]:
        sys.path.remove(folder)


def _prepare(setup: dict[str, Any], board: Board, names: dict[str, Any], parent: int) -> Ground:
    """Prepare once what programs need: the filters, the confinement, the module __main__."""
    find_spec("genbench_no_such_module")  # this lists the folders of sys.path, which tier B cannot do later
    sys.argv = [process.FILENAME]
    sys.setrecursionlimit(prelude.RECURSION_LIMIT)
    machine = seccomp.machine()
    if machine is None and setup["tier"] != "unsafe":
        raise OSError(f"no system call table for this processor ({os.uname().machine})")
    confine.zygote(setup)
    if os.getppid() != parent:
        raise OSError("the parent is gone")
    main = process.Main(names)
    random.seed(0)  # a verdict must be repeatable, as for the hash seed
    base_bytes, barriers = confine.address_space(), None
    if machine is not None and setup["tier"] != "unsafe":
        barriers = Barriers.behind(seccomp.build(machine))
    gc.collect()
    gc.freeze()
    return Ground(board, main, base_bytes, barriers, os.getpid())


def _interpreter(setup: dict[str, Any]) -> str:
    """Return the interpreter that runs the programs, with versions."""
    loaded = [name for name in setup["packages"] if name in sys.modules]
    packages = [f"{name} {getattr(sys.modules[name], '__version__', '?')}" for name in loaded]
    return ", ".join([f"python {sys.version.split()[0]}", *packages])


@dataclass(slots=True)
class _Watch:
    """The clock of one process.

    It has a limit per test, by what the board says has begun, and one for all tests. A stem's clock stands
    still while the host compares.
    """

    board: Board
    tests: int
    wall_ns: int
    deadline: int
    end: int
    is_stem: bool = False
    seen: int = 0

    def over(self, now: int) -> bool:
        """Return whether the time is up. Move the deadline on if another test has begun since."""
        if now >= self.end:
            return True
        if now < self.deadline:
            return False
        started, at = self.board.started
        if self.is_stem and at == 0 and started:
            self.deadline = now + self.wall_ns
            return False
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
    pid = confine.fork()
    if pid == 0:
        control.close()
        become(ground, order, fds, ready_out)
    for fd in (*fds, ready_out):
        os.close(fd)
    handle = os.pidfd_open(pid)
    try:
        how = _watch(ground.board, control, handle, order, began)
        _, status, usage = os.wait4(pid, 0)
        cpu_s = usage.ru_utime + usage.ru_stime
        if order["apart"] and ground.barriers is not None:
            cpu_s += _end_orphans(pid)
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
        "cpu_s": cpu_s,
    }


def _end_orphans(stem: int) -> float:
    """Wait for the test's process of a stem that was killed, which ends with it. Return its CPU seconds."""
    cpu_s = 0.0
    with suppress(ChildProcessError):
        while True:
            _, _, usage = os.wait4(-stem, 0)  # the process group that the stem made
            cpu_s += usage.ru_utime + usage.ru_stime
    return cpu_s


def _watch(board: Board, control: socket.socket, handle: int, order: dict[str, Any], began: int) -> str:
    """Wait until the process ends, its time is up or the host says stop. Kill it in the last two cases."""
    wall_ns = int(order["wall_s"] * 1e9)
    end = began + int(order["total_s"] * 1e9)
    watch = _Watch(board, order["count"], wall_ns, began + wall_ns, end, bool(order["apart"]))
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
