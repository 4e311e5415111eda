"""Mode `lcb-compat` for programs that read and print: the behaviour of LiveCodeBench's own evaluator.

Facts: lcb_runner/evaluation/testing_util.py at 28fef95 (2025-07-16), lines 74-209. The program becomes the
body of a function that is called once per test in one process. Standard input is an object with a few of a
file's methods. Standard output is a string.
"""

from __future__ import annotations

import ast
import builtins
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, TextIO, cast

from . import board as statuses
from .calls import refuse_future
from .job import RESULTS, Job
from .process import attempt, compiled, join_threads, open_streams, report, run_code

_ENTRY = "wrapped_function"
_INT_DIGITS = 50_000
_MISSING_MODULES = ("ipdb", "joblib", "resource", "psutil", "tkinter")
_MISSING_IN_OS = (
    "chdir", "chmod", "chown", "chroot", "fchdir", "fchmod", "fchown", "fork", "forkpty", "getcwd", "kill",
    "killpg", "lchmod", "lchown", "putenv", "remove", "removedirs", "rename", "renames", "replace", "rmdir",
    "setuid", "system", "truncate", "unlink",
)  # fmt: skip


def run(job: Job, prelude: dict[str, Any]) -> None:
    """Run all tests of the job in one process and one namespace, up to the first failure."""
    sys.set_int_max_str_digits(_INT_DIGITS)
    open_streams()
    _take_away()
    job.board.start(0)
    main: list[Callable[[], object]] = []
    status = attempt(lambda: main.append(_entry(job.program, prelude)), job.program)
    if not main:
        job.board.finish(0, status if status != statuses.OK else statuses.exit_with(0), 0)
        return
    for index in range(job.count):
        job.board.start(index)
        status, text = _call(main[0], job.input(index).decode(), job.program)
        status = max(status, attempt(partial(_write, text), job.program))
        job.board.finish(index, status, os.fstat(RESULTS).st_size)
        if statuses.kind_of(status) != statuses.OK:
            return


def _take_away() -> None:
    """Set to None the functions that the evaluator disables before it runs a program."""
    for name in _MISSING_IN_OS:
        if hasattr(os, name):
            setattr(os, name, None)
    for module, names in ((shutil, ("rmtree", "move", "chown")), (subprocess, ("Popen",))):
        for name in names:
            setattr(module, name, None)
    builtins.quit = None  # type: ignore[assignment]
    builtins.help = None  # type: ignore[assignment]
    for name in _MISSING_MODULES:
        sys.modules[name] = None  # type: ignore[assignment]


def _entry(text: str, prelude: dict[str, Any]) -> Callable[[], object]:
    """Return the program's function. Raise its syntax error, or what its module level raises."""
    source = _wrapped(_without_guard(text))
    refuse_future(source)
    module = ModuleType("solution")
    vars(module).update(prelude, stdin=sys.stdin, stdout=sys.stdout, stderr=sys.stderr, quit=None, help=None)
    run_code(compiled(source), module)
    owner = vars(module)["Solution"]() if "class Solution" in source else module
    found: Callable[[], object] = getattr(owner, _ENTRY)
    return found


def _without_guard(text: str) -> str:
    """Return the text with the body of a last `if __name__ == '__main__':` instead of the statement."""
    try:
        tree = ast.parse(text)
        last = tree.body[-1]
        if isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'":
            return ast.unparse(ast.Module([*tree.body[:-1], *last.body], []))
    except Exception:  # a text that cannot be parsed or printed is not changed
        pass
    return text


def _wrapped(text: str) -> str:
    """Return the top-level imports and a function of all the rest, or the text if that cannot be printed."""
    try:
        body = ast.parse(text).body
        imports = [s for s in body if isinstance(s, ast.Import | ast.ImportFrom)]
        rest = [s for s in body if not isinstance(s, ast.Import | ast.ImportFrom)]
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        function = ast.FunctionDef(_ENTRY, nothing, rest, [], lineno=1)
        return ast.unparse(ast.Module([*imports, function], []))
    except Exception:
        return text


def _call(entry: Callable[[], object], text: str, program: str) -> tuple[int, str]:
    """Return (status, printed output) of one test."""
    captured = io.StringIO()
    captured.close = lambda _: 1  # type: ignore[method-assign, assignment, misc]
    before, out = sys.stdin, sys.stdout
    lines = iter(text.split("\n"))
    _patch(before, text, lines)
    sys.stdin, sys.stdout = cast(TextIO, _Stdin(text)), captured
    builtins.open = lambda *_, **__: io.StringIO(text)  # type: ignore[assignment]
    status = statuses.OK
    try:
        entry()
    except SystemExit:
        pass
    except BaseException as error:
        status = report(error, program)
    left: list[bool] = []
    attempt(lambda: left.append(join_threads()), program)
    status |= statuses.THREADS_LEFT if any(left) else 0
    sys.stdin, sys.stdout = before, out
    builtins.open = io.open
    return status, captured.getvalue()


def _patch(stream: Any, text: str, lines: Iterator[str]) -> None:
    """Make the stream that `from sys import stdin` bound give lines without ends and the whole text."""
    stream.read = lambda *_: text
    stream.readlines = lambda *_: text.split("\n")
    stream.readline = lambda *_: next(lines)


def _write(text: str) -> None:
    data = text.encode(errors="backslashreplace")
    while data:
        data = data[os.write(RESULTS, data) :]


class _Stdin:
    """The `sys.stdin` of a test. It has no iteration. read and readlines always return everything."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = io.StringIO(text)
        self.buffer = _Buffer(text.encode())

    def read(self, *_: object) -> str:
        return self._text

    def readline(self, *size: int) -> str:
        return self._lines.readline(*size)

    def readlines(self, *_: object) -> list[str]:
        return self._text.split("\n")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lines, name)


class _Buffer:
    """The `sys.stdin.buffer` of a test. It returns the first line every time."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, *_: object) -> bytes:
        return self._data

    def readline(self, *_: object) -> bytes:
        return self._data.split(b"\n")[0] + b"\n"
