"""Processes of `genbench` and of vLLM that are forked from one which has imported everything.

Such a process is the real one: it has an id, arguments, a folder, an environment and files of its own. What
it imports was imported before, and at its end no module is taken apart. Importing takes 2 s of CPU for a
command, 20 s for one with an engine, whose process imports vLLM once more, and 0.8 s for a worker of
verifiers. Tests that look at how a process begins start `COMMAND`, or have the fixture `cold_workers`.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import functools
import gc
import hashlib
import importlib
import importlib.machinery
import importlib.metadata
import itertools
import json
import logging.config
import multiprocessing.process
import multiprocessing.util
import os
import re
import resource
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, Self, cast

import psutil
import setproctitle

ColdPopen = subprocess.Popen
"""What starts every process by itself. Tests replace it in the module subprocess."""
ROOT = Path(__file__).resolve().parent.parent
GENBENCH = ("-m", "genbench")
COMMAND = (sys.executable, *GENBENCH)
_WORKER = ("-P", "-m", "genbench.verifiers.pool.worker")
_VERIFIERS = (
    "genbench.verifiers.pool.worker",
    "genbench.verifiers.math.verifier",
    "genbench.verifiers.choice.verifier",
    "genbench.verifiers.instructions.verifier",
)
_MODULES = (
    *_VERIFIERS,
    "genbench.cli",
    "genbench.pipeline",
    "genbench.reports.write",
    "genbench.reports.parity",
    "genbench.runs.perplexity",
    "pandas",
    "pyarrow.compute",
    "ruamel.yaml",
    "genbench.reports.parquet",
    "genbench.engines.tokenizer",
    "genbench.engines.vllm.kind",
    "genbench.tasks.page.reader",
    "genbench.tasks.catalogue",
    "genbench.team.service.app",
    "alembic.command",
    "uvicorn.loops.uvloop",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "transformers.tokenization_utils_tokenizers",
    "rich.table",
)
_ENGINE = (
    "genbench.engines.vllm.engine",
    "vllm.v1.engine.core",
    "vllm.v1.executor.uniproc_executor",
    "vllm.v1.worker.cpu_worker",
    "vllm.model_executor.models.llama",
    "vllm.model_executor.model_loader",
    "vllm.model_executor.layers.quantization.online.base",
    "vllm.v1.attention.backends.cpu_attn",
)
_IMPORTED = {"worker": _VERIFIERS, "command": _MODULES, "engine": (*_MODULES, *_ENGINE)}
"""What each kind of process has imported that is forked."""
_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_LONGEST = 1 << 20
"""Bytes of a message."""
_SPARES = {"worker": 0, "command": 2, "engine": 4}
"""Children that a forked process has for the first processes of its own."""
_TOOL = """\
#!{python} -IS
import json, os, signal, socket, sys

program, arguments = {program}, sys.argv[1:]
if not program:
    words = 2 if arguments[0] in ("-c", "-m") else 1
    program, arguments = arguments[:words], arguments[words:]
asked = {{"program": program, "arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}}
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
    channel.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, {longest})
    channel.connect({address!r})
    socket.send_fds(channel, [json.dumps(asked | {{"session": False}}).encode()], [0, 1, 2])
    told = {{}}
    while "ended" not in told:
        told = json.loads(channel.recv({longest}) or '{{"ended": 0, "status": 256}}')
if os.WIFSIGNALED(told["status"]):
    number = os.WTERMSIG(told["status"])
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
os._exit(os.waitstatus_to_exitcode(told["status"]))
"""


class _Parent:
    """The process that is forked, as the tests see it. All workers of pytest-xdist have the same."""

    def __init__(self, kind: str) -> None:
        session = os.environ.get("XDG_STATE_HOME", str(os.getpid()))
        digest = hashlib.sha256(session.encode()).hexdigest()[:16]
        self.address = address = f"\0genbench-tests-{kind}-{digest}"
        self._lock, self._channel = threading.Lock(), _socket()
        self._ended: dict[int, int] = {}
        while self._channel.connect_ex(address):
            # There is none yet, or another worker has just ended it.
            with _socket() as listener, suppress(OSError):
                listener.bind(address)
                listener.listen()
                self._start(listener.fileno(), kind)

    @staticmethod
    def _start(listener: int, kind: str) -> None:
        code = f"from tests.warm import serve; serve({listener}, {kind!r})"
        null = subprocess.DEVNULL
        command = [sys.executable, "-c", code]
        # It ends with the last of its clients, of which this process may not be one.
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            subprocess.Popen(command, cwd=ROOT, pass_fds=[listener], stdin=null, stdout=null, stderr=null)

    def fork(self, request: Mapping[str, Any], files: Sequence[int]) -> tuple[int, int]:
        """Start a process. Return its id, and a number which no other process ever has, as ids come again."""
        with self._lock:
            socket.send_fds(self._channel, [json.dumps(request).encode()], files)
            while True:
                told = self._told()
                if "forked" in told:
                    return told["forked"], told["number"]

    def status(self, number: int, timeout_s: float | None) -> int | None:
        """Wait for the end of a process. Return what waitpid tells of it, or None if it still runs."""
        with self._lock:
            while number not in self._ended:
                if not select.select([self._channel], [], [], timeout_s)[0]:
                    return None
                self._told()
            return self._ended[number]

    def close(self) -> None:
        """Let go of the process, which ends with the last that does. Those that it has forked go on."""
        self._channel.close()

    def _told(self) -> dict[str, int]:
        message = self._channel.recv(_LONGEST)
        assert message, "the process that is forked has ended"
        told: dict[str, int] = json.loads(message)
        if "ended" in told:
            self._ended[told["ended"]] = told["status"]
        return told


def _socket() -> socket.socket:
    found = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
    return found


class Mounts:
    """Mounts that are seen only by processes that are started with them.

    Args:
        folder: where `do` works.
    """

    def __init__(self, folder: Path) -> None:
        options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self._shell = subprocess.Popen(["unshare", "-Urm", "sh"], cwd=folder, **options)
        self.do("true")

    @property
    def pid(self) -> int:
        """Return the process whose namespaces are entered."""
        return self._shell.pid

    def do(self, line: str) -> None:
        """Run a line of shell, which may mount."""
        assert self._shell.stdin is not None and self._shell.stdout is not None
        self._shell.stdin.write(f"{line}\necho $?\n")
        self._shell.stdin.flush()
        said = self._shell.stdout.readline()
        assert said == "0\n", f"{line}: wanted a user namespace that may mount a tmpfs ({said!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._shell.communicate()


@functools.cache
def _parent(kind: str) -> _Parent:
    found = _Parent(kind)
    atexit.register(found.close)
    return found


class Popen(ColdPopen[Any]):
    """A process of `genbench`, used as one of subprocess. The arguments are those behind `genbench`.

    Args:
        engine: whether it may load vLLM.
        program: what Python runs: a module behind `-m`, or the path of a file.
        mounts: what it sees mounted, if that is not what all processes see.
        file_bytes: the size of the largest file that it may write, in bytes.
        jobs: how many of the jobs that it starts as a worker of a queue are forked too.
    """

    def __init__(
        self,
        args: Sequence[str],
        *,
        engine: bool = False,
        program: Sequence[str] = GENBENCH,
        mounts: Mounts | None = None,
        file_bytes: int | None = None,
        jobs: int = 0,
        **options: Any,
    ) -> None:
        self._parent: _Parent | None
        self._within = {"mounts": mounts and mounts.pid, "file_bytes": file_bytes, "jobs": jobs}
        kind = "worker" if program == _WORKER else "engine" if engine else "command"
        self._parent, self._program = _parent(kind), list(program)
        super().__init__(list(args), **options)

    def _execute_child(self, args: Any, *more: Any) -> None:
        if self._parent is None:
            super()._execute_child(args, *more)  # type: ignore[misc]  # its stub has the public part only
            return
        cwd, env, pipes, new_session = more[4], more[5], more[9:15], more[20]
        request = {
            "program": self._program,
            "arguments": [os.fspath(item) for item in args],
            "folder": os.fspath(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
            "session": bool(new_session),
            **self._within,
        }
        try:
            self.pid, self._number = self._parent.fork(request, list(_three(pipes).values()))
            self._child_created = True
        finally:
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]  # its stub has the public part only

    def _internal_poll(self, *more: Any, **options: Any) -> int | None:
        if self._parent is None:
            code: int | None = super()._internal_poll(*more, **options)  # type: ignore[misc]
            return code
        if self.returncode is None:
            self._handle(self._parent.status(self._number, 0))
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self._parent is None:
            code: int = super()._wait(timeout)  # type: ignore[misc]
            return code
        if self.returncode is None:
            self._handle(self._parent.status(self._number, timeout))
            if self.returncode is None:
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
        return int(self.returncode)

    def _handle(self, status: int | None) -> None:
        if status is not None:
            self.returncode = os.waitstatus_to_exitcode(status)


class AnyPopen(Popen):
    """A process of any program, used as one of subprocess. One that is a worker of verifiers is forked."""

    def __init__(self, args: Any, *more: Any, **options: Any) -> None:
        if _is_a_worker(args):
            super().__init__(args[1 + len(_WORKER) :], program=_WORKER, **options)
        else:
            self._parent = None
            ColdPopen.__init__(self, args, *more, **options)


def _is_a_worker(args: Any) -> bool:
    """Return whether a command is a worker of verifiers."""
    return isinstance(args, list) and args[: 1 + len(_WORKER)] == [sys.executable, *_WORKER]


def _three(pipes: Sequence[int]) -> dict[int, int]:
    """Return the open files of a process's first three, from what subprocess knows of its pipes."""
    stdin, _, _, stdout, _, stderr = pipes
    return {number: number if own == -1 else own for number, own in enumerate((stdin, stdout, stderr))}


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


def write_tools(place: Path, **programs: Sequence[str]) -> Path:
    """Write programs that have a command forked, for shell scripts. Return their folder.

    Each is what Python runs under that name: `()` for a `python` of `-c`, `-m` or a file. They work as long
    as this process does.
    """
    place.mkdir(exist_ok=True)
    address = _parent("command").address
    for name, program in programs.items():
        text = _TOOL.format(python=sys.executable, program=list(program), longest=_LONGEST, address=address)
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    return place


def serve(file: int, kind: str) -> NoReturn:
    """Be the process that is forked, until the last client has closed its socket.

    Args:
        file: the number of the socket that listens.
        kind: what is forked: a `command`, one with an `engine`, or a `worker` of verifiers.
    """
    listener = socket.socket(fileno=file)
    packages = _Packages()
    # The place of a process's name is found while the environment is that of the start.
    setproctitle.getproctitle()
    if kind == "engine":
        from genbench.engines.vllm import environment

        environment.prepare()
    # A package that is imported anew has patterns which were compiled before.
    re._MAXCACHE = 1 << 16  # type: ignore[attr-defined]
    for name in _IMPORTED[kind]:
        importlib.import_module(name)
    if kind != "worker":
        _make_what_commands_make()
    if kind == "engine":
        _make_what_engines_make()
    packages.keep()
    # What is imported is not taken apart when a forked process ends.
    for finalizer in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        finalizer.atexit = False
    gc.collect()
    gc.freeze()
    # An engine that ends gives back what it froze: here what all processes share, which takes 2 s to look at.
    gc.unfreeze = lambda: None
    clients: dict[int, socket.socket] = {}
    running: dict[int, tuple[int, int, socket.socket]] = {}
    numbers = itertools.count()
    while True:
        ready = set(select.select([listener.fileno(), *clients, *running], [], [])[0])
        for handle in ready & set(running):
            pid, number, client = running.pop(handle)
            os.close(handle)
            record = {"ended": number, "status": os.waitpid(pid, 0)[1]}
            with suppress(OSError):  # who wanted it is gone
                client.send(json.dumps(record).encode())
        if listener.fileno() in ready:
            client, _ = listener.accept()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
            clients[client.fileno()] = client
        for handle in ready & set(clients):
            pid = _fork_for(clients[handle], [listener.fileno(), *clients, *running], kind)
            if pid:
                number = next(numbers)
                running[os.pidfd_open(pid)] = (pid, number, clients[handle])
                with suppress(OSError):  # who wanted it is gone
                    clients[handle].send(json.dumps({"forked": pid, "number": number}).encode())
                continue
            clients.pop(handle).close()
            if not clients and not select.select([listener], [], [], 0)[0]:
                os._exit(0)


def _fork_for(client: socket.socket, own: Sequence[int], kind: str) -> int:
    """Fork what a client asks for. Return its id, or 0 if the client is gone.

    Args:
        own: the open files of this process, which the forked one does not have.
    """
    message, files, _, _ = socket.recv_fds(client, _LONGEST, 3)
    if not message:
        return 0
    pid = os.fork()
    if not pid:
        for file in own:
            os.close(file)
        _become(json.loads(message), dict(enumerate(files)), kind)
    for file in files:
        os.close(file)
    return pid


class _Packages:
    """The entry points of all installed packages, which are read once for all forked processes."""

    def __init__(self) -> None:
        self._read: Any = importlib.metadata.entry_points
        self._places, self._found = set[str](), cast(Any, None)
        importlib.metadata.entry_points = self.entry_points

    def keep(self) -> None:
        """Read them. Imports may have added places to look at."""
        self._places, self._found = set(sys.path), self._read()

    def entry_points(self, **wanted: Any) -> Any:
        """Return them, read again where a folder that was not looked at brings more of them."""
        others = [Path(place) for place in sys.path if place not in self._places]
        if self._found is None or any(any(place.glob("*.*-info")) for place in others):
            return self._read(**wanted)
        return self._found.select(**wanted)


def _make_what_commands_make() -> None:
    """Make what does not depend on the command: the command line, templates, the letters of plots."""
    import typer.main

    from genbench.cli.app import app
    from genbench.reports.page.plots import heat_map
    from genbench.reports.page.templates import page_environment

    typer.main.get_command = functools.cache(typer.main.get_command)
    command: Any = typer.main.get_command(app)
    command.list_commands(None)  # those of annexes too
    heat_map("first", [(1, 1.0, 1.0)])
    page_environment().get_template("report.html.j2")


def _make_what_engines_make() -> None:
    """Put vLLM's kernels for CPUs in their places, for which it looks at all that is imported."""
    cpu: Any = importlib.import_module("vllm.platforms.cpu")
    cpu.CpuPlatform.register_triton_kernel_overrides()
    cpu.CpuPlatform.register_triton_kernel_overrides = lambda *_: None
    _configure_loggers_at_once()
    # Each engine fills its cache with zeros: an eighth of that memory is more than the tests need.
    cpu.GiB_bytes //= 8


def _configure_loggers_at_once() -> None:
    """Let logging.config forget known levels once, instead of once for each of vLLM's 300 loggers."""
    manager: Any = logging.Manager
    config: Any = logging.config
    handle, forget = config._handle_existing_loggers, manager._clear_cache

    def handle_all(*arguments: Any) -> None:
        manager._clear_cache = lambda _: None
        try:
            handle(*arguments)
        finally:
            manager._clear_cache = forget
            forget(logging.root.manager)

    config._handle_existing_loggers = handle_all


def _become(request: Mapping[str, Any], files: Mapping[int, int], kind: str) -> NoReturn:
    """Be the process that was asked for, with open files under these numbers."""
    if request["session"]:
        os.setsid()
    if request.get("mounts"):
        _enter(request["mounts"])
    if request.get("file_bytes") is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_bytes"],) * 2)
    _take_files(files)
    _take_surroundings(request["folder"], request["environment"])
    if "pid_file" in request:
        Path(request["pid_file"]).write_text(f"{os.getpid()}\n")
    jobs, own = _Spares(request.get("jobs", 0)), _Spares(_SPARES[kind])
    if kind == "engine":
        own.for_multiprocessing()
    if kind != "worker":
        subprocess.Popen = _spare_popen(own, jobs)  # type: ignore[assignment, misc]
    # A command has imported the worker's module, which runs as its main module now.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="runpy")
    if kind == "worker":
        setproctitle.setproctitle(shlex.join([sys.executable, *request["program"], *request["arguments"]]))
    *options, name = request["program"]
    sys.argv = [name, *request["arguments"]]
    if "-P" in options:
        del sys.path[0]
    if not options:
        sys.path[0] = str(Path(name).resolve().parent)
    _forget_another_package()
    if "-c" in options:
        sys.argv[0], sys.path[0] = "-c", ""
        _end_with(lambda: exec(name, {"__name__": "__main__"}))  # noqa: S102
    if options:
        _end_with(lambda: runpy.run_module(name, run_name="__main__", alter_sys=True))
    _end_with(lambda: runpy.run_path(name, run_name="__main__"))


def _forget_another_package() -> None:
    """Forget what was imported of `genbench` if Python would find another one here."""
    found = importlib.machinery.PathFinder.find_spec("genbench")
    if found is not None and found.origin != sys.modules["genbench"].__file__:
        for name in [name for name in sys.modules if name.partition(".")[0] == "genbench"]:
            del sys.modules[name]


def _enter(pid: int) -> None:
    """Enter the user and mount namespaces of a process."""
    libc, handle = ctypes.CDLL(None, use_errno=True), os.pidfd_open(pid)
    if libc.setns(handle, _NEW_USER | _NEW_MOUNTS):
        raise OSError(ctypes.get_errno(), "setns")
    os.close(handle)


def _end_with(program: Callable[[], object]) -> NoReturn:
    """Run a program and end this process as an interpreter would, but without taking its modules apart.

    That would take 1 s of CPU for a command and 4 s with an engine: it copies what the fork has shared.
    """
    code, is_interrupted = 0, False
    try:
        program()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        if code == 1 and end.code != 1:
            print(end.code, file=sys.stderr)
    except BaseException as error:
        code, is_interrupted = 1, isinstance(error, KeyboardInterrupt)
        sys.excepthook(type(error), error, error.__traceback__)
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if not stream.closed:
                stream.flush()
        except OSError:
            code = 120  # what the interpreter says of output that nobody took
    if is_interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code & 0xFF)


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
    multiprocessing.process.ORIGINAL_DIR = folder  # type: ignore[attr-defined]  # where spawned processes find __main__
    sys.path[0] = folder
    _look_for_sitecustomize()


def _look_for_sitecustomize() -> None:
    """Do what Python does at its start with the variable PYTHONPATH."""
    places = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.path[1:1] = [place for place in places if place not in sys.path[1:]]
    sys.modules.pop("sitecustomize", None)
    with suppress(ImportError):
        importlib.import_module("sitecustomize")


class _Spares:
    """Children that are forked before this process has threads, or any file but its own three.

    Each waits to become one of the first processes that this one starts: vLLM spawns its engine's process,
    which would import all of vLLM again.
    """

    def __init__(self, count: int) -> None:
        self._free: list[tuple[int, socket.socket]] = []
        for _ in range(count):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LONGEST)
            pid = os.fork()
            if not pid:
                ours.close()
                for _, other in self._free:
                    other.close()
                _wait_to_be_started(theirs)
            theirs.close()
            self._free.append((pid, ours))

    def take(self, record: Mapping[str, Any], files: Mapping[int, int]) -> int | None:
        """Let a child become a process. Return its id, or None if no child is left.

        Args:
            files: the open file for each number that the process is to have it under.
        """
        if not self._free:
            return None
        pid, channel = self._free.pop(0)
        with channel:
            message = json.dumps({**record, "numbers": list(files)}).encode()
            socket.send_fds(channel, [message], list(files.values()))
        return pid

    def for_multiprocessing(self) -> None:
        """Let children be what multiprocessing spawns."""
        spawn = multiprocessing.util.spawnv_passfds

        def spawn_a_spare(path: bytes, arguments: Sequence[Any], files: Sequence[int]) -> int:
            code = next((item for item in map(os.fsdecode, arguments) if "spawn_main(" in item), "")
            numbers = {number: number for number in (0, 1, 2, *sorted(set(files)))}
            asked = {"code": code, "folder": str(Path.cwd()), "environment": dict(os.environ)}
            pid = self.take(asked, numbers) if code else None
            return spawn(path, arguments, files) if pid is None else pid

        setattr(multiprocessing.util, spawn.__name__, spawn_a_spare)


def _spare_popen(own: _Spares, jobs: _Spares) -> type[ColdPopen[Any]]:
    """Return the class of processes with which spare children become workers of verifiers, and jobs."""

    class SparePopen(ColdPopen[Any]):
        def _execute_child(self, args: Any, *more: Any) -> None:
            passed, cwd, env, pipes, new_session = more[3], more[4], more[5], more[9:15], more[20]
            spares, asked, arguments = _Spares(0), {}, []
            if _is_a_worker(args):
                spares, asked = own, {"kind": "worker", "program": _WORKER}
                arguments = args[1 + len(_WORKER) :]
            elif isinstance(args, list) and args[:2] == ["/bin/sh", "-c"] and args[4:7] == [*COMMAND]:
                spares, asked = jobs, {"kind": "engine", "program": GENBENCH, "pid_file": args[3]}
                arguments = args[7:]
            request = {
                **asked,
                "arguments": arguments,
                "session": bool(new_session),
                "folder": os.fspath(cwd or Path.cwd()),
                "environment": dict(os.environ if env is None else env),
            }
            pid = spares.take(request, {**_three(pipes), **{number: number for number in passed}})
            if pid is None:
                super()._execute_child(args, *more)  # type: ignore[misc]  # its stub has the public part only
            else:
                self.pid, self._child_created = pid, True
                self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    return SparePopen


def _wait_to_be_started(channel: socket.socket) -> NoReturn:
    """Be a started process as soon as one is wanted. End with the parent if none is."""
    with channel:
        message, files, _, _ = socket.recv_fds(channel, _LONGEST, 64)
    if not message:
        os._exit(0)
    record = json.loads(message)
    wanted = dict(zip(record["numbers"], files, strict=True))
    if "program" in record:
        _become(record, wanted, record["kind"])
    _take_files(wanted)
    _take_surroundings(record["folder"], record["environment"])
    sys.argv = ["-c", "--multiprocessing-fork"]
    # The line that multiprocessing would start Python with.
    _end_with(lambda: exec(record["code"], {"__name__": "__main__"}))  # noqa: S102


def alive(processes: Sequence[psutil.Process]) -> list[int]:
    """Return the ids of those that still run, which a zombie does not, other than this one."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return [pid for pid in found if pid != os.getpid()]


def wait_for_the_end(processes: Sequence[psutil.Process]) -> None:
    """Wait until none of them runs. Those of a parent that was killed may stay zombies."""
    end = time.monotonic() + 10
    while alive(processes):
        assert time.monotonic() < end, "processes of a parent that has ended are still there"
        time.sleep(0.01)
