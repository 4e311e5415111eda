"""Mode `real`: each test as `python program.py < input > output` would run it, many in one process.

Every test gets a new __main__, new standard streams and fresh interpreter settings. If something cannot be
renewed (a thread that does not end, a closed descriptor), the process ends. The host starts a new one.
"""

from __future__ import annotations

import ast
import atexit
import builtins
import gc
import linecache
import os
import random
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from types import CodeType, ModuleType, TracebackType
from typing import Any, cast

from . import board as statuses
from .job import Job
from .prelude import RECURSION_LIMIT

_MISSING = object()


class Bindings(MutableMapping[str, object]):
    """The local names of a module's code. It reads and writes the namespace and records what is bound.

    An answer without a definition must not pass because the prelude has a function of the tested name.
    """

    def __init__(self, namespace: dict[str, Any], prelude: dict[str, Any]) -> None:
        self._namespace, self._prelude = namespace, prelude
        self._bound: set[str] = set()

    def __getitem__(self, name: str) -> object:
        return self._namespace[name]

    def __setitem__(self, name: str, value: object) -> None:
        self._bound.add(name)
        self._namespace[name] = value

    def __delitem__(self, name: str) -> None:
        del self._namespace[name]
        self._bound.discard(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._namespace)

    def __len__(self) -> int:
        return len(self._namespace)

    def is_own(self, name: str) -> bool:
        """Return whether the program bound the name, at module level or by `global` in a function."""
        value = self._namespace.get(name, _MISSING)
        return name in self._bound or value is not self._prelude.get(name, _MISSING)

    def require(self, name: str) -> None:
        """Raise NameError unless the program bound the name."""
        if not self.is_own(name):
            raise NameError(f"the program does not define '{name}'")

    def require_one_of(self, source: str) -> None:
        """Raise NameError unless a test's source uses a name that the program bound.

        In an expression the called names count, since `math.isclose(gcd(4, 6), 2)` tests gcd and not math.
        """
        tree = ast.parse(source)
        names = set(
            _called(tree) if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) else _loaded(tree)
        )
        if names and not any(map(self.is_own, names)):
            raise NameError(f"the program does not define {', '.join(map(repr, sorted(names)))}")


def _called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def _loaded(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id


FILENAME = "program.py"
IMPORTED = "solution"
"""The name of the module of a program that is called. Its classes name it, and pickle looks it up."""
_LAST_FRAMES = -20
_DEFAULT_STACK = 0
_LONG = 1 << 63
"""Exit codes beyond a C long become status 255."""


class Main:
    """The module __main__ in which programs run, with the prelude.

    It is made once, before any fork: to copy the prelude means to touch 200 pages of memory. So after a
    program only what it changed is undone.
    """

    def __init__(self, prelude: dict[str, Any]) -> None:
        self.prelude = prelude
        self.module = ModuleType("__main__")
        self.names = vars(self.module)
        self.names.update(prelude)
        self.names.update(__name__="__main__", __builtins__=builtins, __file__=FILENAME)
        self._initial = dict(self.names)
        self._newest = next(reversed(self.names))

    def begin(self) -> ModuleType:
        """Return the module, registered as __main__ (pickle, dataclasses and typing look it up)."""
        # Names that `from sys import *` bound to the streams of another test.
        self.names.update(stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr)
        sys.modules["__main__"] = self.module
        return self.module

    def begin_imported(self) -> ModuleType:
        """Return the module for a program that is called. What is guarded by `__main__` does not run.

        Official evaluators import a program too: human-eval's exec finds the `__name__` of builtins, and
        LiveCodeBench's functional tests make a module "tmp_sol".
        """
        module = self.begin()
        self.names["__name__"] = IMPORTED
        sys.modules[IMPORTED] = module
        return module

    def renew(self) -> None:
        """Set the module to its state at the start."""
        self.names.clear()
        self.names.update(self._initial)

    def end(self, code: CodeType) -> None:
        """Release what the program named, as an ending interpreter does.

        Python collects a module in one piece, so a finalizer still finds all other names. Here objects with a
        finalizer go first, in the order of their names.
        """
        names = self._rebound(code, []) + self._new()
        final = [name for name in names if hasattr(type(self.names[name]), "__del__")]
        for name in dict.fromkeys(final + names):
            if name not in self._initial:
                self.names.pop(name, None)
            elif name != "__builtins__":
                # Python sets None, but the prelude has names of built-ins, which must show again.
                self.names[name] = self._initial[name]

    def _new(self) -> list[str]:
        """Return the names that the prelude lacks, in their order. They are the newest of the dictionary."""
        found = []
        for name in reversed(self.names):
            if name == self._newest:
                break
            found.append(name)
        return [name for name in reversed(found) if isinstance(name, str)]

    def _rebound(self, code: CodeType, found: list[str]) -> list[str]:
        """Return the names of the prelude that the program's text may have bound anew."""
        own, first = self.names, self._initial
        for name in code.co_names:
            if name in first and name in own and own[name] is not first[name]:
                found.append(name)
        for inner in code.co_consts:
            if isinstance(inner, CodeType):
                self._rebound(inner, found)
        return found


@dataclass(frozen=True, slots=True)
class Ready:
    """A program that is ready to run: its code, or None for a text that is none. Nothing of it has run."""

    text: str
    code: CodeType | None

    @classmethod
    def prepare(cls, text: str) -> Ready:
        """Compile a program. Its error is raised again where it runs, and reported there."""
        try:
            return cls(text, compiled(text))
        except BaseException:
            return cls(text, None)


def run(job: Job, main: Main) -> None:
    """Run all tests of the job in order, or as many as this process can."""
    descriptors = _inodes()
    intact = dict(vars(builtins))
    ready = Ready.prepare(job.program)
    for index in range(job.count):
        job.board.start(index)
        feed(0, job.input(index))
        open_streams()
        status = run_test(ready, main)
        fresh = _inodes() == descriptors
        job.board.finish(index, status, os.fstat(1).st_size if fresh else 0)
        if status != statuses.OK or not fresh or not _renew(intact):
            return
        main.renew()


def run_test(ready: Ready, main: Main) -> int:
    """Run a program from its start to the end of its interpreter. Return how it ended."""
    try:
        code = ready.code or compiled(ready.text)
    except BaseException as error:
        return report(error, ready.text)
    text = ready.text
    status = attempt(partial(run_code, code, main.begin()), text)
    status = attempt(_end_threads, text) if status == statuses.OK else status
    attempt(_run_atexit, text)  # Python prints an error of a function at exit, and ends with the same status
    # The order of a real exit: flush, the module's own objects (a file that is still open), flush. Before the
    # objects go, sys has the streams back that it started with, since a stream of the program's own (a FastIO
    # template) needs names of the module.
    for step in (flush, restore_streams, partial(main.end, code), gc.collect, flush):
        late = attempt(step, text)
        status = late if status == statuses.OK else status
    return status


def compiled(text: str) -> CodeType:
    """Return the program's code. Raise what Python raises for a text that is not a program."""
    return compile(text, FILENAME, "exec", dont_inherit=True)


def run_code(code: CodeType, module: ModuleType, names: Bindings | None = None) -> None:
    """Execute a program as a module. `names` records what its module level binds."""
    if names is None:
        exec(code, vars(module))  # noqa: S102 - inside the cage; this is what it is for
    else:
        exec(code, vars(module), names)  # noqa: S102


def attempt(step: Callable[[], object], text: str) -> int:
    """Run a step. Return how it ended, with its traceback on the error output."""
    try:
        step()
    except BaseException as error:
        return report(error, text)
    return statuses.OK


def report(error: BaseException, text: str) -> int:
    """Print what Python prints when `error` ends a program. Return the status."""
    if isinstance(error, SystemExit):
        code = _exit_code(error.code)
        return statuses.OK if code == 0 else statuses.exit_with(code)
    if isinstance(error, MemoryError):
        _say("MemoryError")
        return statuses.MEMORY
    status = statuses.EXCEPTION
    if isinstance(error, KeyboardInterrupt):  # Python ends itself by the signal
        status = statuses.killed_by(signal.SIGINT)
    try:
        linecache.cache[FILENAME] = (len(text), None, text.splitlines(keepends=True), FILENAME)
        error.__traceback__ = _own_frames(error.__traceback__)
        _say("".join(traceback.format_exception(error, limit=_LAST_FRAMES)))
    except BaseException:  # an exception whose own methods fail
        _say(type(error).__name__)
    return status


def _exit_code(code: object) -> int:
    """Return the exit status that Python makes of a SystemExit's code. Print a text as Python does."""
    if code is None:
        return 0
    if isinstance(code, int):
        return int(code) & 0xFF if -_LONG <= int(code) < _LONG else 0xFF
    with suppress(BaseException):  # a code whose own methods fail
        _say(str(code))
    return 1


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the program's first frame on, or all of it if the program has none."""
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename != FILENAME:
        inner = inner.tb_next
    return inner or trace


def _say(text: str) -> None:
    with suppress(OSError):  # closed, or full
        os.write(2, text.encode(errors="backslashreplace") + b"\n")


def open_streams() -> None:
    """Open new streams on descriptors 0, 1 and 2, as an interpreter that is started with files does."""
    sys.stdin = sys.__stdin__ = _stream(0, "r")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "w")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "w", errors="backslashreplace", buffering=1)  # type: ignore[misc]


def _stream(fd: int, how: str, *, errors: str = "strict", buffering: int = -1) -> TextIOWrapper:
    stream = open(fd, how, buffering, encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
    return cast(TextIOWrapper, stream)


def flush() -> None:
    """Write out what the program's standard streams still buffer."""
    for stream in (getattr(sys, "stdout", None), sys.__stdout__, getattr(sys, "stderr", None)):
        # A stream of the program's own need not have `closed`.
        if stream is not None and not getattr(stream, "closed", False):
            stream.flush()


def restore_streams() -> None:
    """Let sys have the standard streams that the program started with."""
    sys.stdin, sys.stdout, sys.stderr = sys.__stdin__, sys.__stdout__, sys.__stderr__


def feed(fd: int, data: bytes) -> None:
    """Make a descriptor a file with `data`, read from its start. There is one copy, in the kernel."""
    os.ftruncate(fd, 0)
    view = memoryview(data)
    done = 0
    while done < len(view):
        done += os.pwrite(fd, view[done:], done)
    os.lseek(fd, 0, os.SEEK_SET)


def join_threads() -> bool:
    """Wait for the threads that the program left running, except daemons, as an ending interpreter does.

    Return whether there were any.
    """
    own, found = threading.current_thread(), False
    while left := [t for t in threading.enumerate() if t is not own and not t.daemon]:
        left[0].join()
        found = True
    return found


def _end_threads() -> None:
    if len(sys._current_frames()) == 1 and not _thread_exits():
        return
    for shut in reversed(_thread_exits()):
        shut()  # executors that were not shut down cannot be used after it
    join_threads()


def _thread_exits() -> list[Callable[[], object]]:
    """Return the functions that the threading module calls before it joins.

    They are private there, and there is no public access.
    """
    return list(getattr(threading, "_threading_atexits", []))


def _run_atexit() -> None:
    atexit._run_exitfuncs()


def _renew(intact: dict[str, Any]) -> bool:
    """Set the interpreter to its state at the start. Return False if something of the last test remains."""
    if len(sys._current_frames()) > 1 or _thread_exits():
        return False
    if vars(builtins) != intact:
        vars(builtins).clear()
        vars(builtins).update(intact)
    signal.setitimer(signal.ITIMER_REAL, 0)
    sys.setrecursionlimit(RECURSION_LIMIT)
    threading.stack_size(_DEFAULT_STACK)
    random.seed(0)
    return True


def _inodes() -> tuple[int, int] | None:
    """Return the files that descriptors 0 and 1 refer to, or None if one is closed."""
    try:
        return os.fstat(0).st_ino, os.fstat(1).st_ino
    except OSError:
        return None
