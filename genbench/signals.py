"""Ctrl-C and SIGTERM: the first asks the run to stop cleanly, the second stops at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "SIGTERM"}


@contextmanager
def stop_on_signals(stop: Callable[[str], None]) -> Iterator[None]:
    """Calls `stop(name)` at the first signal; a second one raises KeyboardInterrupt.

    Only the main thread can have handlers; elsewhere (a notebook's worker, a training loop's
    thread) the host's own handling stays.
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
