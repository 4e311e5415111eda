"""Slow loads: results, failures, time limits and cancellations, and the processes that they leave."""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from genbench.engines.vllm.loading import LoadingOrder, load_in_thread


def after(seconds: float, result: str) -> str:
    time.sleep(seconds)
    return result


def test_the_result_comes_from_a_thread_and_the_loop_goes_on() -> None:
    async def work() -> tuple[str, int]:
        turns = 0

        async def turn() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.005)
                turns += 1

        turning = asyncio.create_task(turn())
        name = await load_in_thread(lambda: after(0.2, threading.current_thread().name), 10, print)
        turning.cancel()
        return name, turns

    name, turns = asyncio.run(work())
    assert name == "genbench-load" and turns > 2


def test_a_failure_is_raised_as_it_is() -> None:
    def fail() -> None:
        raise LookupError("no such weights")

    with pytest.raises(LookupError, match="no such weights"):
        asyncio.run(load_in_thread(fail, 10, print))


def test_a_result_that_comes_too_late_is_discarded() -> None:
    discarded: list[str] = []
    with pytest.raises(TimeoutError):
        asyncio.run(load_in_thread(lambda: after(0.4, "late"), 0.1, discarded.append))
    assert discarded == ["late"]


@pytest.mark.slow
def test_processes_of_a_load_that_takes_too_long_are_killed() -> None:
    started: list[multiprocessing.process.BaseProcess] = []

    def hang() -> None:
        child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,), daemon=True)
        child.start()
        started.append(child)
        child.join()

    with pytest.raises(TimeoutError):
        asyncio.run(load_in_thread(hang, 3, print))
    started[0].join(60)
    assert started[0].exitcode == -9


def test_a_load_that_is_cancelled_discards_its_result() -> None:
    discarded: list[str] = []

    async def work() -> None:
        loading = asyncio.create_task(load_in_thread(lambda: after(0.3, "late"), 10, discarded.append))
        await asyncio.sleep(0.05)
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading

    asyncio.run(work())
    assert discarded == ["late"]


class Loads:
    """Engines that load in some order, and the redirections of the output."""

    def __init__(self) -> None:
        self.order = LoadingOrder()
        self.events: list[str] = []
        self.together = self.most_together = self.redirected = 0

    @contextmanager
    def output(self) -> Iterator[None]:
        self.redirected += 1
        assert self.redirected == 1
        yield
        self.redirected -= 1

    async def load(self, name: str, *, fails: bool = False) -> None:
        async with self.order.turn(self.output):
            assert self.redirected == 1
            self.together += 1
            self.most_together = max(self.most_together, self.together)
            self.events.append(f"{name} begins")
            await asyncio.sleep(0.01)
            self.events.append(f"{name} ends")
            self.together -= 1
            if fails:
                raise ValueError(name)


def test_the_first_engine_loads_alone_and_the_others_together() -> None:
    async def work() -> Loads:
        loads = Loads()
        await asyncio.gather(*(loads.load(name) for name in "abcd"))
        return loads

    loads = asyncio.run(work())
    assert loads.events[:2] == ["a begins", "a ends"]
    assert loads.events[2:5] == ["b begins", "c begins", "d begins"]
    assert (loads.most_together, loads.redirected) == (3, 0)


def test_after_a_first_engine_that_fails_the_next_one_loads_alone() -> None:
    async def work() -> Loads:
        loads = Loads()
        tasks = [loads.load("a", fails=True), loads.load("b"), loads.load("c"), loads.load("d")]
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [str(error) for error in found if error is not None] == ["a"]
        return loads

    loads = asyncio.run(work())
    assert loads.events[:4] == ["a begins", "a ends", "b begins", "b ends"]
    assert loads.events[4:6] == ["c begins", "d begins"] and loads.redirected == 0


def test_a_later_engine_loads_at_once() -> None:
    async def work() -> Loads:
        loads = Loads()
        await loads.load("a")
        await asyncio.wait_for(loads.load("b"), 1)
        return loads

    assert asyncio.run(work()).events[-1] == "b ends"


def test_a_wait_for_the_first_engine_can_be_cancelled() -> None:
    async def work() -> None:
        loads = Loads()
        first, second = asyncio.create_task(loads.load("a")), asyncio.create_task(loads.load("b"))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        await asyncio.wait_for(loads.load("c"), 1)
        assert loads.redirected == 0

    asyncio.run(work())


LEFT = """
import asyncio, atexit, time
from genbench.engines.vllm import loading

loading._END_S = 0.1

async def stop():
    task = asyncio.create_task(loading.load_in_thread(lambda: time.sleep(60), 100, print))
    await asyncio.sleep(0.1)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("stopped")

atexit.register(print, "the end")
asyncio.run(stop())
"""


def test_a_process_ends_as_one_that_was_stopped_though_a_thread_still_loads() -> None:
    """Python would end the thread below C++ code: "FATAL: exception not rethrown", exit code 134."""
    begun = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "stopped\nthe end\n", "")
    assert time.monotonic() - begun < 50
