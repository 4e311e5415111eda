"""Repeated tries of one request at one server: what may succeed later, and how long to wait for it."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import TypeVar

T = TypeVar("T")
_LONGEST_PAUSE_S = 60.0
_LONGEST_RETRY_AFTER_S = 300.0
_SHORTEST_LIMIT_S = 30.0
_ABSURD_RETRY_AFTER_S = 3600.0


class Transient(Exception):  # noqa: N818  never leaves the engines, whose callers turn it into an error
    """A try that may succeed when it is repeated.

    `pause_s` is the wait that the server asks for. `unheard` means that no HTTP answer came at all.
    """

    def __init__(self, why: str, pause_s: float | None = None, *, unheard: bool = False) -> None:
        super().__init__(why)
        self.pause_s = pause_s
        self.unheard = unheard


class TriesUsedUp(Exception):  # noqa: N818  as above
    """All tries of one request failed. The text says how many, and why the last one did."""


OnFailure = Callable[[Transient], Awaitable[None]]


async def persist(
    work: Callable[[], Awaitable[T]],
    retries: int,
    first_pause_s: float,
    seed: int,
    failed: OnFailure | None = None,
) -> T:
    """Repeat `work` until it raises no Transient, and return its result.

    Args:
        retries: how often it is repeated at most.
        first_pause_s: the first wait before a retry. It doubles up to a minute, with jitter.
        seed: the seed of the jitter.
        failed: called with each failure before the pause. It may raise to end the tries.

    Raises:
        TriesUsedUp: all tries failed. Other errors of `work` are raised at once.
    """
    jitter = random.Random(seed)
    for attempt in range(retries + 1):
        try:
            return await work()
        except Transient as failure:
            if failed is not None:
                await failed(failure)
            if attempt == retries:
                tries = f"{attempt + 1} tries" if attempt else "one try"
                raise TriesUsedUp(f"no usable reply in {tries}; the last: {failure}") from None
            pause = min(first_pause_s * 2**attempt, _LONGEST_PAUSE_S) * (0.5 + jitter.random())
            await asyncio.sleep(pause if failure.pause_s is None else failure.pause_s)
    raise AssertionError("the loop returns or raises")


def retry_after(headers: Mapping[str, str], reply_s: float) -> float | None:
    """Return the seconds that the server asks for (a number or a date), at most five minutes.

    They are None, so that the client chooses, if the server asks for nothing, for no number of seconds, or
    for more than an hour.

    Args:
        reply_s: the limit of a whole reply. Nobody waits longer for a pause, but for half a minute at least.
    """
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
            seconds = when.timestamp() - parsedate_to_datetime(headers["date"]).timestamp()
        except (ValueError, TypeError, KeyError, OverflowError):
            return None
    if not math.isfinite(seconds) or seconds > _ABSURD_RETRY_AFTER_S:
        return None
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER_S, max(reply_s, _SHORTEST_LIMIT_S))
