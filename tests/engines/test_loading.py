"""Slow loads: results, failures, time limits and cancellations, and the processes that they leave."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
import time

import pytest

from genbench.engines.loading import load_in_thread


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


def test_processes_of_a_load_that_takes_too_long_are_killed() -> None:
    started: list[multiprocessing.process.BaseProcess] = []

    def hang() -> None:
        child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,), daemon=True)
        child.start()
        started.append(child)
        child.join()

    with pytest.raises(TimeoutError):
        asyncio.run(load_in_thread(hang, 3, print))
    started[0].join(10)
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
