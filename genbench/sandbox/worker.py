"""The host's side of one caged zygote.

It starts the cage, gives it programs, and ends it with all processes.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import GenbenchError
from genbench.sandbox import keeper
from genbench.sandbox.cage import Cage
from genbench.sandbox.inside.board import Board
from genbench.sandbox.inside.job import ENOUGH, GO_ON
from genbench.sandbox.inside.namespace import is_root_of_the_machine

_START_S = 60.0
_MESSAGE = 65536
_GRACE_S = 10.0
"""Seconds beyond a program's own time after which the zygote counts as dead."""
_FAREWELL_S = 1.0
_LOOKS_S = (0.01, 0.02, 0.04, 0.08, 0.16, 0.25)
"""Seconds after which the host reads what a running program has printed. The last one is repeated."""
_THREADS = 1024
"""Threads of one program, beyond those that its user has already. The kernel counts by user."""
_PRIVATE_UIDS, _PIDS, _ROUNDS = 0x70000000, 1 << 22, 64
"""The first unused user id, the largest number of process ids, and how often they fit below 2 ** 31.

Bubblewrap writes ids as signed numbers, so it refuses to start as a user of a higher one.
"""
_number = itertools.count()
CAGE_OF = "GENBENCH_CAGE_OF"
"""The variable that marks a cage's processes while bubblewrap starts. Its value is the pid of the run."""


class SandboxError(GenbenchError):
    """An error of the cage, not of the program. If the program broke the cage, it breaks the next one too."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of one process of a program: by itself, at its time limit, or stopped by the host.

    `status` is its exit code, or the negative signal number.
    """

    how: str
    status: int
    armed: bool
    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a program's processes: memory files with its job and inputs, and for their output.

    `outputs` are the output and the error output of each process. `talk` are our and the stem's end of a
    socket, on which a stem says that a test is over, and waits until it may go on. Without a stem it is None.
    """

    job: int
    inputs: int
    outputs: Sequence[tuple[int, int]]
    talk: tuple[int, int] | None = None

    @property
    def sent(self) -> list[int]:
        """Return the descriptors in the order in which the zygote expects them."""
        talk = [] if self.talk is None else [self.talk[1]]
        return [self.job, self.inputs, *(fd for pair in self.outputs for fd in pair), *talk]


class Worker:
    """A zygote in its cage.

    The cage dies with the thread that made the worker, so start it in a thread that does not end. Do not use
    it from two threads at a time.

    Raises:
        SandboxError: the cage cannot be started here. The message has its last error output.
    """

    def __init__(self, cage: Cage) -> None:
        self.cage = cage
        self._board_fd, self._log = os.memfd_create("board"), os.memfd_create("log")
        Board.wipe(self._board_fd)
        self.board = Board(self._board_fd)
        self._threads = _THREADS + threads_of_user()
        watched, self._lifeline = os.pipe()
        try:
            self._process, self._control = self._spawn(watched)
        except OSError as error:
            self._release()
            raise SandboxError(f"{cage.label}: {error}") from None
        finally:
            os.close(watched)
        self._orders = itertools.count()
        self._heavy, theirs = _control_pair()
        with theirs:
            self.facts = self._greet(theirs)

    def _spawn(self, watched: int) -> tuple[subprocess.Popen[bytes], socket.socket]:
        """Start the cage. In tier A it is below a keeper, which ends it with the other end of `watched`."""
        ours, theirs = _control_pair()
        is_kept = self.cage.tier == "a"
        with theirs:
            try:
                process = subprocess.Popen(
                    keeper.command(watched, self.cage.command, outer_user(self.cage))
                    if is_kept
                    else self.cage.command,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=self._log,
                    env=self._environment(),
                    cwd="/",
                    start_new_session=True,
                    pass_fds=[watched] if is_kept else [],
                )
            except OSError:
                ours.close()
                raise
        return process, ours

    def _environment(self) -> dict[str, str]:
        """Return the environment of the cage's own start. Bubblewrap clears it before anything runs inside.

        If the keeper is killed too while bubblewrap starts, the run's guard finds the rest by the mark.
        """
        if self.cage.tier != "a":
            return dict(self.cage.environment)
        libraries = {name: value for name, value in os.environ.items() if name == "LD_LIBRARY_PATH"}
        return {**libraries, **self.cage.environment, CAGE_OF: str(os.getppid())}

    def _greet(self, other: socket.socket) -> dict[str, Any]:
        """Set up the zygote and its twin with packages. Return the facts that the twin tells."""
        setup = {
            "tier": self.cage.tier,
            "uid": private_uid(),
            "readable": self.cage.readable,
            "site": self.cage.site,
            "packages": self.cage.packages,
        }
        try:
            socket.send_fds(self._control, [json.dumps(setup).encode()], [self._board_fd, other.fileno()])
            other.close()
            data = self._control.recv(_MESSAGE) and self._heavy.recv(_MESSAGE)
        except OSError as error:
            data, reason = b"", str(error)
        else:
            reason = "the process ended"
        if not data:
            said = self._said()
            self.close()
            raise SandboxError(f"{self.cage.label}: {said or reason}")
        facts: dict[str, Any] = json.loads(data)
        return facts

    def _said(self) -> str:
        """Return the last line on the cage's error output, once it has ended (or been ended)."""
        self._wait()
        text = os.pread(self._log, 1 << 20, 0).decode(errors="replace").strip()
        return text.splitlines()[-1] if text else ""

    def _death(self) -> str:
        """Return how a zygote ended that closed its socket."""
        said = self._said()
        return f"the zygote died (exit status {self._process.returncode}{': ' + said if said else ''})"

    def run(
        self, order: dict[str, Any], files: Files, enough: Callable[[], bool], *, packages: bool = True
    ) -> Ended:
        """Run one process for `order["count"]` tests, or for each of them. `enough` tells whether to stop.

        Args:
            packages: start from an interpreter that has imported the cage's packages, which takes longer.

        Raises:
            SandboxError: the zygote died or does not answer. The worker cannot be used any more.
        """
        Board.wipe(self._board_fd)
        number = next(self._orders)
        order = order | {"program": True, "threads": self._threads, "cpu_s": int(order["total_s"]) + 1}
        order["number"] = number
        control = self._heavy if packages else self._control
        try:
            socket.send_fds(control, [json.dumps(order).encode()], files.sent)
            reply = self._reply(control, order["total_s"] + _GRACE_S, enough, files.talk)
        except ConnectionError:  # the zygote had ended before the request
            raise SandboxError(f"{self.cage.label}: {self._death()}") from None
        except OSError as error:
            raise SandboxError(f"{self.cage.label}: {error}") from None
        ended = self._ended(reply, number)
        if not ended.armed and ended.how == "ended":
            said = os.pread(files.outputs[0][1], 4096, 0).decode(errors="replace")
            raise SandboxError(f"{self.cage.label}: a program's process could not be set up: {said}")
        return ended

    def _ended(self, reply: bytes, number: int) -> Ended:
        """Return the end of a process that a reply describes.

        Raises:
            SandboxError: It is not the reply to the order of that number.
        """
        try:
            told = json.loads(reply)
            if told.pop("number") == number:
                return Ended(**told)
        except (ValueError, TypeError, KeyError, AttributeError):
            pass
        raise SandboxError(f"{self.cage.label}: the zygote's reply is not to the order that was given")

    def _reply(
        self,
        control: socket.socket,
        patience_s: float,
        enough: Callable[[], bool],
        talk: tuple[int, int] | None,
    ) -> bytes:
        """Return what the zygote says at the end of an order. Stop its process if it is enough."""
        end, looks = time.monotonic() + patience_s, 0
        poller = select.poll()
        poller.register(control, select.POLLIN)
        if talk is not None:
            poller.register(talk[0], select.POLLIN)
        while time.monotonic() < end:
            ready = {fd for fd, _ in poller.poll(1000 * _LOOKS_S[min(looks, len(_LOOKS_S) - 1)])}
            if control.fileno() in ready:
                if data := control.recv(_MESSAGE):
                    return data
                raise OSError(self._death())
            if talk is not None and talk[0] in ready:
                os.read(talk[0], 1)
                os.write(talk[0], ENOUGH if enough() else GO_ON)
                continue
            looks += 1
            if enough():
                control.send(b'{"stop": true}')
                enough = _never
        raise OSError("the zygote does not answer")

    def close(self) -> None:
        """End the cage and everything in it, and wait until it is gone."""
        self._control.close()
        self._heavy.close()
        self._wait()
        self._release()

    def _wait(self) -> None:
        """Wait until the cage's process has ended. End it if it does not."""
        try:
            self._process.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            self._cut_lifeline()
            try:
                self._process.wait(_FAREWELL_S if self.cage.tier == "a" else 0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _cut_lifeline(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def _release(self) -> None:
        self._cut_lifeline()
        self.board.close()
        os.close(self._board_fd)
        os.close(self._log)


def _control_pair() -> tuple[socket.socket, socket.socket]:
    """Return our end and theirs of a socket for orders and replies."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(_START_S)
    return ours, theirs


def private_uid() -> int:
    """Return a user id for a cage.

    The zygote cannot choose it, because its pid is always the same in its namespace. The kernel counts
    processes by user, so the threads of one program must not reduce those of another.
    """
    return _PRIVATE_UIDS + os.getpid() + _PIDS * (next(_number) % _ROUNDS)


def outer_user(cage: Cage) -> int | None:
    """Return the id that root takes for a cage with a user namespace, in which it would stay root outside."""
    return private_uid() if cage.user == "userns" and is_root_of_the_machine() else None


def _never() -> bool:
    return False


def threads_of_user() -> int:
    """Return the threads that the kernel counts for this user id. A limit must be above this number."""
    count = 0
    for place in Path("/proc").glob("[0-9]*"):
        try:
            count += sum(1 for _ in (place / "task").iterdir()) if place.stat().st_uid == os.getuid() else 0
        except OSError:  # it ended meanwhile, or is not readable
            continue
    return count
