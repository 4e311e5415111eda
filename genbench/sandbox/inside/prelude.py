"""The names that every program can use without an import, as solutions to contest problems expect.

The list and its order are LiveCodeBench's (lcb_runner/evaluation/testing_util.py at 28fef95). The order
matters: builtins after operator and io gives back pow, open and abs, and the modules themselves come
last, so that `datetime` is the module.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

RECURSION_LIMIT = 50_000
_STARRED = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random", "statistics",
    "itertools", "functools", "operator", "io", "sys", "json", "builtins", "typing",
)  # fmt: skip
_WARM = (
    "array", "atexit", "cmath", "dataclasses", "decimal", "enum", "fractions", "numbers", "queue",
    "textwrap", "threading", "time", "traceback",
)  # fmt: skip


def names() -> dict[str, Any]:
    """Return a namespace with the prelude in it."""
    found: dict[str, Any] = {}
    modules = {name: import_module(name) for name in _STARRED}
    for module in modules.values():
        public = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        found.update((name, getattr(module, name)) for name in public)
    return found | modules


def warm() -> None:
    """Import modules that programs often import, and add the builtins that `site` would have added."""
    for name in _WARM:
        import_module(name)
    for name in ("exit", "quit"):
        setattr(builtins, name, _leave)


class _Opener:
    """A function that opens files in a cage without /proc, where /dev/stdin cannot be a link.

    It is an object because a built-in function does not become a method either.
    """

    def __init__(self, real: Callable[..., Any]) -> None:
        self._real = real

    def __call__(self, file: Any, *args: Any, **options: Any) -> Any:
        if isinstance(file, str | os.PathLike) and os.fspath(file) in _STDIN:
            # The link would give the file from its start, with an offset of its own.
            own = os.dup(0)
            os.lseek(own, 0, os.SEEK_SET)
            return own if self._real is _os_open else self._real(own, *args, **options)
        return self._real(file, *args, **options)


_STDIN = frozenset({"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_os_open = os.open


def provide_stdin() -> None:
    """Let programs open /dev/stdin if the cage does not have it. Call it before `names`."""
    if not os.path.exists("/dev/stdin"):  # noqa: PTH110 - pathlib would keep the function that is replaced here
        builtins.open = io.open = _Opener(io.open)
        os.open = _Opener(_os_open)  # type: ignore[assignment]


def _leave(code: object = None) -> None:
    with suppress(Exception):  # a program may have put any object there
        sys.stdin.close()
    raise SystemExit(code)
