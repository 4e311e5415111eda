"""Loads what takes long beside the event loop: bounded, and given up without leaving processes behind."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_END_S = 20.0
"""A load whose processes were killed comes back within this, or never."""


async def load_beside(work: Callable[[], T], limit_s: float, discard: Callable[[T], None]) -> T:
    """`work` in a thread of its own, so that other engines go on and signals are heard.

    Args:
        discard: takes a result that came when nobody wanted it any more.

    Raises:
        TimeoutError: it took longer than `limit_s`. Then, and when this is cancelled, the processes
            that `work` started are killed.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    before = set(multiprocessing.active_children())

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            if result is not None:
                discard(result)
        elif error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            _tell(loop, settle, None, error)
        else:
            _tell(loop, settle, result, None)

    # A daemon: a load that hangs for good must not keep this process from ending.
    threading.Thread(target=run, daemon=True, name="genbench-load").start()
    try:
        return await asyncio.wait_for(asyncio.shield(done), limit_s)
    except (TimeoutError, asyncio.CancelledError):
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        await asyncio.wait({done}, timeout=_END_S)
        if not done.done():
            done.cancel()
        elif done.exception() is None:
            discard(done.result())
        raise


def _tell(
    loop: asyncio.AbstractEventLoop,
    settle: Callable[[T | None, BaseException | None], None],
    result: T | None,
    error: BaseException | None,
) -> None:
    try:
        loop.call_soon_threadsafe(settle, result, error)
    except RuntimeError:  # the loop is closed: this process is ending
        return
