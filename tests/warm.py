"""Processes of `genbench` and of vLLM that are forked from one which has imported everything.

Such a process is the real one: it has an id, arguments, a folder, an environment and files of its own, and it
ends as an interpreter ends. Only what it imports was imported before. That takes 2 s of CPU for a command,
and 20 s for one with an engine, whose process imports vLLM once more. Tests that look at how a process
begins start `COMMAND`.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import gc
import importlib
import json
import multiprocessing.util
import os
import runpy
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GENBENCH = ("-m", "genbench")
COMMAND = (sys.executable, *GENBENCH)
_MODULES = (
    "genbench.cli",
    "genbench.pipeline",
    "genbench.reports.write",
    "genbench.exchange.parquet",
    "genbench.engines.tokenizer",
    "genbench.engines.vllm.kind",
    "genbench.tasks.page.reader",
)
_ENGINE = (
    "genbench.engines.vllm.engine",
    "vllm.v1.engine.core",
    "vllm.v1.executor.uniproc_executor",
    "vllm.v1.worker.cpu_worker",
    "vllm.model_executor.models.llama",
    "vllm.model_executor.model_loader",
    "vllm.v1.attention.backends.cpu_attn",
)
_LONGEST = 1 << 20
"""Bytes of a message."""
_SPARES = 3
"""Children of a process with an engine that have imported what the engine's process does."""


class _Parent:
    """The process that is forked, as the tests see it."""

    def __init__(self, *, engine: bool) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
        self._lock, self._channel = threading.Lock(), ours
        self._ended: dict[int, int] = {}
        code = f"from tests.warm import serve; serve({theirs.fileno()}, engine={engine})"
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-c", code],
                cwd=ROOT,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    def fork(self, request: Mapping[str, Any], files: Sequence[int]) -> int:
        """Start a process. Return its id."""
        with self._lock:
            socket.send_fds(self._channel, [json.dumps(request).encode()], files)
            while True:
                told = self._told()
                if "forked" in told:
                    return int(told["forked"])

    def status(self, pid: int, timeout_s: float | None) -> int | None:
        """Wait for the end of a process. Return what waitpid tells of it, or None if it still runs."""
        with self._lock:
            while pid not in self._ended:
                if not select.select([self._channel], [], [], timeout_s)[0]:
                    return None
                self._told()
            return self._ended[pid]

    def close(self) -> None:
        """End the process. Those that it has forked go on."""
        self._channel.close()
        self.process.kill()
        self.process.wait()

    def _told(self) -> dict[str, int]:
        message = self._channel.recv(_LONGEST)
        assert message, f"the process that is forked ended with {self.process.wait()}"
        told: dict[str, int] = json.loads(message)
        if "ended" in told:
            self._ended[told["ended"]] = told["status"]
        return told


@functools.cache
def _parent(engine: bool) -> _Parent:
    found = _Parent(engine=engine)
    atexit.register(found.close)
    return found


class Popen(subprocess.Popen[Any]):
    """A process of `genbench`, used as one of subprocess. The arguments are those behind `genbench`.

    Args:
        engine: whether it may load vLLM.
        program: what Python runs: a module behind `-m`, or the path of a file.
    """

    def __init__(
        self,
        args: Sequence[str],
        *,
        engine: bool = False,
        program: Sequence[str] = GENBENCH,
        **options: Any,
    ) -> None:
        self._parent, self._program = _parent(engine), list(program)
        super().__init__(list(args), **options)

    def _execute_child(self, args: Any, *more: Any) -> None:
        cwd, env, pipes, new_session = more[4], more[5], more[9:15], more[20]
        stdin, _, _, stdout, _, stderr = pipes
        request = {
            "program": self._program,
            "arguments": [os.fspath(item) for item in args],
            "folder": os.fspath(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "session": bool(new_session),
        }
        files = [number if own == -1 else own for number, own in enumerate((stdin, stdout, stderr))]
        try:
            self.pid = self._parent.fork(request, files)
            self._child_created = True
        finally:
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]  # its stub has the public part only

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            self._handle(self._parent.status(self.pid, 0))
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            self._handle(self._parent.status(self.pid, timeout))
            if self.returncode is None:
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
        return int(self.returncode)

    def _handle(self, status: int | None) -> None:
        if status is not None:
            self.returncode = os.waitstatus_to_exitcode(status)


def run(
    args: Sequence[str], *, timeout: float | None = None, input: str | bytes | None = None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a command to its end, as `subprocess.run` does with `capture_output` and without `check`."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
        return subprocess.CompletedProcess([*COMMAND, *args], process.returncode, out, err)


def serve(number: int, *, engine: bool) -> None:
    """Be the process that is forked, until the other end of the socket is closed.

    Args:
        number: of the socket's file.
    """
    from genbench.engines.vllm import environment

    channel = socket.socket(fileno=number)
    if engine:
        # vLLM names its processes. The place of the name is found while the environment is that of the start.
        importlib.import_module("setproctitle").getproctitle()
        environment.prepare()
    for name in (*_MODULES, *(_ENGINE if engine else ())):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    running: dict[int, int] = {}
    while True:
        ready = set(select.select([channel.fileno(), *running], [], [])[0])
        for handle in ready & set(running):
            pid = running.pop(handle)
            os.close(handle)
            channel.send(json.dumps({"ended": pid, "status": os.waitpid(pid, 0)[1]}).encode())
        if channel.fileno() in ready:
            message, files, _, _ = socket.recv_fds(channel, _LONGEST, 3)
            if not message:
                return
            pid = os.fork()
            if not pid:
                channel.close()
                for handle in running:
                    os.close(handle)
                _become(json.loads(message), files, engine=engine)
                return
            for file in files:
                os.close(file)
            running[os.pidfd_open(pid)] = pid
            channel.send(json.dumps({"forked": pid}).encode())


def _become(request: Mapping[str, Any], files: Sequence[int], *, engine: bool) -> None:
    """Be the process that was asked for."""
    if request["session"]:
        os.setsid()
    _take_files(dict(enumerate(files)))
    _take_surroundings(request["folder"], request["environment"])
    *kind, program = request["program"]
    sys.argv = [program, *request["arguments"]]
    if engine:
        _spare_children()
    if kind:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(program, run_name="__main__")


def _take_files(wanted: Mapping[int, int]) -> None:
    """Give open files the numbers that they are wanted under."""
    apart = {number: fcntl.fcntl(file, fcntl.F_DUPFD, 200) for number, file in wanted.items()}
    for file in wanted.values():
        os.close(file)
    for number, file in apart.items():
        os.dup2(file, number)
        os.close(file)


def _take_surroundings(folder: str, environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path[0] = folder
    _look_for_sitecustomize()


def _look_for_sitecustomize() -> None:
    """Do what Python does at its start with the variable PYTHONPATH."""
    places = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.path[1:1] = [place for place in places if place not in sys.path]
    sys.modules.pop("sitecustomize", None)
    with suppress(ImportError):
        importlib.import_module("sitecustomize")


def _spare_children() -> None:
    """Let the first processes that multiprocessing spawns be children that were forked now.

    vLLM spawns its engine's process, which imports all of vLLM again. A child that is forked before this
    process has threads, or any file but its own three, is as good, and has imported it.
    """
    spares: list[tuple[int, socket.socket]] = []
    for _ in range(_SPARES):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
        pid = os.fork()
        if not pid:
            ours.close()
            for _, other in spares:
                other.close()
            _wait_to_be_spawned(theirs)
        theirs.close()
        spares.append((pid, ours))
    spawn = multiprocessing.util.spawnv_passfds

    def take_a_spare(path: bytes, arguments: Sequence[Any], files: Sequence[int]) -> int:
        code = next((item for item in map(os.fsdecode, arguments) if "spawn_main(" in item), "")
        if not spares or not code:
            return spawn(path, arguments, files)
        pid, channel = spares.pop(0)
        numbers = [0, 1, 2, *sorted(set(files))]
        record = {
            "code": code,
            "numbers": numbers,
            "folder": str(Path.cwd()),
            "environment": dict(os.environ),
        }
        with channel:
            socket.send_fds(channel, [json.dumps(record).encode()], numbers)
        return pid

    setattr(multiprocessing.util, spawn.__name__, take_a_spare)


def _wait_to_be_spawned(channel: socket.socket) -> None:
    """Be a spawned process as soon as one is wanted. End with the parent if none is."""
    with channel:
        message, files, _, _ = socket.recv_fds(channel, _LONGEST, 64)
    if not message:
        os._exit(0)
    record = json.loads(message)
    _take_files(dict(zip(record["numbers"], files, strict=True)))
    _take_surroundings(record["folder"], record["environment"])
    sys.argv = ["-c", "--multiprocessing-fork"]
    exec(record["code"], {"__name__": "__main__"})  # noqa: S102  the line that multiprocessing would start Python with
