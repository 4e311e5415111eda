"""What stops a run: signals, a time limit, and the switch that they set."""

from __future__ import annotations

import asyncio
import signal
import threading
import time

import pytest

from genbench.runs.event_loop import StopSwitch, stop_after, stop_on_signals


@pytest.mark.parametrize(("number", "name"), [(signal.SIGINT, "Ctrl-C"), (signal.SIGTERM, "SIGTERM")])
def test_the_first_signal_stops_and_the_second_interrupts(number: signal.Signals, name: str) -> None:
    told: list[str] = []
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), stop_on_signals(told.append):
        signal.raise_signal(number)
        assert told == [name]
        signal.raise_signal(number)
    assert told == [name] and signal.getsignal(number) is before


def test_a_thread_leaves_the_handlers_of_its_host() -> None:
    before, seen = signal.getsignal(signal.SIGTERM), list[object]()

    def work() -> None:
        with stop_on_signals(lambda name: None):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_time_limit_stops_and_says_why() -> None:
    told: list[str] = []
    with stop_after(0.05 / 3600, told.append):
        end = time.monotonic() + 60
        while not told and time.monotonic() < end:
            time.sleep(0.01)
    assert len(told) == 1 and "hours (--max-hours)" in told[0]


def test_a_limit_that_is_not_reached_is_forgotten() -> None:
    told: list[str] = []
    with stop_after(0.05 / 3600, told.append):
        pass
    time.sleep(0.2)
    assert told == []
    with stop_after(None, told.append):
        assert threading.active_count() >= 1


def test_models_that_draw_at_the_same_time_are_all_stopped() -> None:
    async def work() -> None:
        switch, loop = StopSwitch(), asyncio.get_running_loop()
        events = [switch.attach(loop) for _ in range(2)]
        switch.stop("SIGTERM")
        await asyncio.wait_for(asyncio.gather(*(event.wait() for event in events)), 5)

    asyncio.run(work())


def test_the_first_reason_is_kept() -> None:
    switch = StopSwitch()
    switch.stop("Ctrl-C")
    switch.stop("SIGTERM")
    assert switch.reason == "Ctrl-C"


def test_a_switch_wakes_a_loop_from_another_thread() -> None:
    async def work() -> str | None:
        switch = StopSwitch()
        event = switch.attach(asyncio.get_running_loop())
        threading.Timer(0.02, switch.stop, ["SIGTERM"]).start()
        await asyncio.wait_for(event.wait(), 10)
        return switch.reason

    assert asyncio.run(work()) == "SIGTERM"


def test_a_switch_that_is_set_already_wakes_at_once() -> None:
    async def work() -> bool:
        switch = StopSwitch()
        switch.stop("Ctrl-C")
        return switch.attach(asyncio.get_running_loop()).is_set()

    assert asyncio.run(work())


def test_a_stop_sets_every_event_that_was_attached() -> None:
    """The rounds of an adaptive run attach more events while the engine listens to the first one."""
    switch = StopSwitch()
    kept: list[asyncio.Event] = []

    async def stopped() -> bool:
        loop = asyncio.get_running_loop()
        kept.extend(switch.attach(loop) for _ in range(3))
        switch.stop("SIGTERM")
        await asyncio.sleep(0)
        return all(event.is_set() for event in kept)

    assert asyncio.run(stopped())
    switch.stop("again")  # the loop is closed, and nobody listens
    assert switch.reason == "SIGTERM"
