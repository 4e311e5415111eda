"""A watchdog of an engine that is alive and makes no progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

_FIRST = 5.0
"""The first token may take so many times as long: kernels are compiled, and long prompts are read."""
_LONGEST = 10.0
"""A silence is suspicious from so many times the longest one that ended by itself."""
_TICKS = 20
_LONGEST_TICK_S = 5.0


class Watchdog:
    """Measures for how long an engine with work gives no token.

    The limit depends on load and model through the silences that were seen before. It is `silence_s`, or ten
    times the longest silence so far if that is more, and five times `silence_s` before the first token.

    Args:
        silence_s: seconds without a token after which an engine counts as dead.
    """

    def __init__(self, silence_s: float) -> None:
        self._silence_s = silence_s
        self._longest_s = 0.0
        self._has_heard = False
        self.silent_s = 0.0
        """Seconds without a token while there was work."""

    @property
    def limit_s(self) -> float:
        """Return the seconds of silence after which the engine counts as dead."""
        if not self._has_heard:
            return _FIRST * self._silence_s
        return max(self._silence_s, _LONGEST * self._longest_s)

    @property
    def tick_s(self) -> float:
        """Return how often `tick` should be called, in seconds."""
        return min(self._silence_s / _TICKS, _LONGEST_TICK_S)

    def heard(self) -> None:
        """Record that the engine gave a token."""
        self._longest_s = max(self._longest_s, self.silent_s)
        self._has_heard = True
        self.silent_s = 0.0

    def tick(self, passed_s: float, *, has_work: bool) -> bool:
        """Let time pass. Return whether the engine has been silent for too long.

        Args:
            passed_s: seconds since the last call. Of a long time only two ticks count, since then this
                process was stopped itself, and the engine perhaps with it.
            has_work: whether a request is in flight.
        """
        self.silent_s = self.silent_s + min(passed_s, 2 * self.tick_s) if has_work else 0.0
        return self.silent_s > self.limit_s

    async def watch(self, has_work: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        """Return when the engine has been silent for too long."""
        last = clock()
        while True:
            await asyncio.sleep(self.tick_s)
            now = clock()
            if self.tick(now - last, has_work=has_work()):
                return
            last = now
