"""Load engines: in a thread, with a time limit, and side by side once the first one is up."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")
_END_S = 20.0
"""Seconds within which a load returns after its processes were killed, or never."""


class LoadingOrder:
    """The order in which the replicas of one model load: the first alone, the others at the same time.

    The first one writes vLLM's compile cache, which the others then read. A first one that fails leaves its
    place to the next.
    """

    def __init__(self) -> None:
        self.configuring = threading.Lock()
        """Held while vLLM makes its configuration, which reads and sets variables of the process."""
        self._first = asyncio.Lock()
        self._is_up = False
        self._loading = 0
        self._output = ExitStack()

    @asynccontextmanager
    async def turn(self, output: Callable[[], AbstractContextManager[None]]) -> AsyncIterator[None]:
        """Wait until this engine may load.

        Args:
            output: redirects the output of this process. It is entered once for all that load together.
        """
        alone = not self._is_up
        if alone:
            await self._first.acquire()
        try:
            if alone and self._is_up:
                self._first.release()
                alone = False
            with ExitStack() as leaving:
                self._enter(output)
                leaving.callback(self._leave)
                yield
            self._is_up = True
        finally:
            if alone:
                self._first.release()

    def _enter(self, output: Callable[[], AbstractContextManager[None]]) -> None:
        if self._loading == 0:
            self._output.enter_context(output())
        self._loading += 1

    def _leave(self) -> None:
        self._loading -= 1
        if self._loading == 0:
            self._output.close()


async def load_in_thread(work: Callable[[], T], limit_s: float, discard: Callable[[T], None]) -> T:
    """Run `work` in a thread of its own, so that other engines and signal handlers go on.

    Args:
        discard: called with a result that comes after the time limit or a cancellation.

    Raises:
        TimeoutError: it took longer than `limit_s`. The processes that `work` started are killed, as
            they are if this is cancelled.
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

    # A daemon thread: a load that hangs must not keep this process from ending.
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
