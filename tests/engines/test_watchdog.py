"""The watchdog of an engine that is alive and gives no token."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from genbench.engines.vllm.monitoring import Watchdog


def after_a_token(silence_s: float = 10.0) -> Watchdog:
    watchdog = Watchdog(silence_s)
    watchdog.heard()
    return watchdog


def silent_for(watchdog: Watchdog, seconds: float) -> bool:
    """Let so many seconds of work pass in ticks. Return what the last tick says."""
    found = False
    for _ in range(round(seconds / watchdog.tick_s)):
        found = watchdog.tick(watchdog.tick_s, has_work=True)
    return found


def test_a_silence_within_the_limit_is_no_stall() -> None:
    assert not silent_for(after_a_token(), 10.0)


def test_a_silence_beyond_the_limit_is_a_stall() -> None:
    assert silent_for(after_a_token(), 10.5)


def test_the_first_token_may_take_five_times_as_long() -> None:
    watchdog = Watchdog(10.0)
    assert not silent_for(watchdog, 50.0)
    assert silent_for(watchdog, 0.5)


def test_an_engine_without_work_is_never_stalled() -> None:
    watchdog = after_a_token()
    assert not any(watchdog.tick(5.0, has_work=False) for _ in range(1000))
    assert watchdog.silent_s == 0.0


def test_every_token_begins_the_count_again() -> None:
    watchdog = after_a_token()
    for _ in range(20):
        assert not silent_for(watchdog, 9.0)
        watchdog.heard()


def test_a_slow_model_raises_its_own_limit() -> None:
    watchdog = after_a_token()
    silent_for(watchdog, 6.0)
    watchdog.heard()
    assert watchdog.limit_s == pytest.approx(60.0)
    assert not silent_for(watchdog, 59.0)
    assert silent_for(watchdog, 2.0)


def test_a_fast_model_keeps_the_limit_of_the_suite() -> None:
    watchdog = after_a_token()
    watchdog.tick(0.5, has_work=True)
    watchdog.heard()
    assert watchdog.limit_s == 10.0


def test_a_run_that_was_stopped_itself_blames_no_engine() -> None:
    watchdog = after_a_token()
    assert not watchdog.tick(100_000.0, has_work=True)
    assert watchdog.silent_s == 2 * watchdog.tick_s


@pytest.mark.parametrize(("silence_s", "tick_s"), [(1.0, 0.05), (10.0, 0.5), (120.0, 5.0), (3600.0, 5.0)])
def test_ticks_are_a_twentieth_of_the_limit_and_at_most_five_seconds(silence_s: float, tick_s: float) -> None:
    assert Watchdog(silence_s).tick_s == tick_s


def test_watching_ends_at_a_stall_and_not_before() -> None:
    async def watch() -> tuple[float, int]:
        now, ticks = 0.0, 0
        watchdog = after_a_token(0.02)

        def clock() -> float:
            nonlocal now, ticks
            now, ticks = now + watchdog.tick_s, ticks + 1
            return now

        busy: Callable[[], bool] = lambda: ticks > 5  # noqa: E731
        await asyncio.wait_for(watchdog.watch(busy, clock), 5)
        return watchdog.silent_s, ticks

    silent_s, ticks = asyncio.run(watch())
    assert silent_s > 0.02
    assert ticks >= 5 + 20
