"""Run a coroutine to its end, and stop a run from outside: by Ctrl-C, SIGTERM or a time limit."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

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


_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


@contextmanager
def stop_on_signals(stop: Callable[[str], None]) -> Iterator[None]:
    """Call `stop(name)` at the first signal. Raise KeyboardInterrupt at the next.

    The first signal ends the run cleanly. Only the main thread can have handlers. In another thread (of a
    notebook or a training loop) the handlers of the host are kept.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = 0

    def handle(number: int, _: FrameType | None) -> None:
        nonlocal seen
        seen += 1
        if seen > 1:
            raise KeyboardInterrupt
        stop(_NAMES[signal.Signals(number)])

    before = {number: signal.signal(number, handle) for number in _NAMES}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stop_after(hours: float | None, stop: Callable[[str], None]) -> Iterator[None]:
    """Call `stop` after so many hours by a monotonic clock, or never for None."""
    if hours is None:
        yield
        return
    why = f"the limit of {hours:g} hours (--max-hours)"
    timer = threading.Timer(hours * 3600, stop, [why])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class StopSwitch:
    """A switch that tells running work to stop. It may be set from signal handlers and from any thread."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._events: WeakKeyDictionary[asyncio.Event, asyncio.AbstractEventLoop] = WeakKeyDictionary()

    def stop(self, reason: str) -> None:
        """Stop the run. The first reason is kept."""
        self.reason = self.reason or reason
        for event, loop in list(self._events.items()):
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def attach(self, loop: asyncio.AbstractEventLoop) -> asyncio.Event:
        """Return a new event of `loop` that is set when the run is stopped, as all earlier ones are."""
        event = asyncio.Event()
        self._events[event] = loop
        if self.reason is not None:
            event.set()
        return event
