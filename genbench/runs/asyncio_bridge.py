"""Execution of a coroutine from code that may or may not be inside an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`. Inside a running loop (a notebook) it runs in its own thread."""
    if not _is_inside_loop():
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, work).result()


def _is_inside_loop() -> bool:
    """Return whether a loop runs in this thread.

    No coroutine may run while the error of asyncio is handled. Every later error of the run would refer to
    it, and it refers to the callers, with all the problems of the run.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
