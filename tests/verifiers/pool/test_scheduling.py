"""Turns of workers: together, or alone."""

from __future__ import annotations

import asyncio

import pytest

from genbench.verifiers.pool.pool import Turns


def test_one_alone_waits_for_those_inside_and_goes_before_later_ones() -> None:
    async def work() -> list[str]:
        turns, seen, leave = Turns(), list[str](), asyncio.Event()

        async def together(name: str) -> None:
            async with turns.together():
                seen.append(name)
                await leave.wait()

        async def alone() -> None:
            async with turns.alone():
                seen.append("alone begins")
                await asyncio.sleep(0.01)
                seen.append("alone ends")

        tasks = [asyncio.create_task(together(name)) for name in ("first", "second")]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        tasks.append(asyncio.create_task(alone()))
        await asyncio.sleep(0.01)
        tasks.append(asyncio.create_task(together("later")))
        await asyncio.sleep(0.01)
        assert seen == ["first", "second"]
        leave.set()
        await asyncio.gather(*tasks)
        return seen

    assert asyncio.run(work()) == ["first", "second", "alone begins", "alone ends", "later"]


def test_one_that_gives_up_waiting_holds_nobody_back() -> None:
    async def work() -> bool:
        turns = Turns()

        async def alone() -> None:
            async with turns.alone():
                pass

        async with turns.together():
            waiting = asyncio.create_task(alone())
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        async with asyncio.timeout(5), turns.together(), turns.together():
            return True

    assert asyncio.run(work())


def test_two_are_never_alone_together() -> None:
    async def work() -> int:
        turns, inside, most = Turns(), 0, 0

        async def alone() -> None:
            nonlocal inside, most
            async with turns.alone():
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0.001)
                inside -= 1

        await asyncio.gather(*(alone() for _ in range(5)))
        return most

    assert asyncio.run(work()) == 1


def test_one_alone_waits_only_half_of_its_time_for_those_inside() -> None:
    async def work() -> float:
        turns, loop = Turns(most_s=0.4), asyncio.get_running_loop()
        async with turns.together():
            begin = loop.time()
            async with turns.alone():
                return loop.time() - begin

    assert 0.15 < asyncio.run(work()) < 0.35


def test_one_that_stays_holds_the_others_back_for_a_bounded_time() -> None:
    async def work() -> float:
        turns, loop, end = Turns(most_s=0.2), asyncio.get_running_loop(), asyncio.Event()

        async def alone() -> None:
            async with turns.alone():
                await end.wait()

        staying = asyncio.create_task(alone())
        await asyncio.sleep(0.01)
        begin = loop.time()
        async with turns.together():
            waited = loop.time() - begin
        assert not staying.done()
        end.set()
        await staying
        return waited

    assert 0.1 < asyncio.run(work()) < 0.3


@pytest.mark.slow
def test_the_next_turn_is_due_after_three_times_the_time_that_others_waited() -> None:
    async def work() -> tuple[bool, bool, bool]:
        turns = Turns()
        before = turns.is_due()
        async with turns.alone():
            await asyncio.sleep(0.1)
        await asyncio.sleep(0.2)
        during = turns.is_due()
        await asyncio.sleep(0.2)
        return before, during, turns.is_due()

    assert asyncio.run(work()) == (True, False, True)
