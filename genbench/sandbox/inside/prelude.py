"""The names that every program can use without an import, as solutions to contest problems expect.

The list and its order are LiveCodeBench's (lcb_runner/evaluation/testing_util.py at 28fef95). The order
matters: builtins after operator and io gives back pow, open and abs, and the modules themselves come
last, so that `datetime` is the module.
"""

from __future__ import annotations

import builtins
import sys
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


def _leave(code: object = None) -> None:
    with suppress(Exception):  # a program may have put any object there
        sys.stdin.close()
    raise SystemExit(code)
