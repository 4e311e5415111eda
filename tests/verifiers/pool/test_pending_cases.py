"""The line of cases that wait for a worker: batches of new ones, and single ones whose worker died."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from genbench.types import Finding
from genbench.verifiers.pool.pool import Job, WaitingCases
from genbench.verifiers.pool.process import VerifierSpec


def in_line(
    work: Callable[[WaitingCases, list[Job]], Coroutine[Any, Any, list[int]]],
    deaths: list[int],
    *,
    is_due: bool = True,
) -> list[int]:
    """Return what `work` finds in a line of jobs for one worker, each with so many deaths."""

    async def run() -> list[int]:
        line = WaitingCases(1, lambda: is_due)
        loop = asyncio.get_running_loop()
        jobs = [Job(VerifierSpec("v", {}), b"%d" % n, loop.create_future(), d) for n, d in enumerate(deaths)]
        await line.give_back([job for job in jobs if job.deaths], was_repeated=False)
        for job in jobs:
            if not job.deaths:
                await line.put(job)
        return await work(line, jobs)

    return asyncio.run(run())


def numbers(batch: list[Job]) -> list[int]:
    return [int(job.body) for job in batch]


async def taken(line: WaitingCases, _: list[Job]) -> list[int]:
    return numbers(await line.take())


def test_a_case_whose_worker_died_goes_first_and_by_itself_if_it_is_due() -> None:
    assert in_line(taken, [0, 0, 1]) == [2]


def test_it_waits_while_it_is_not_due_and_others_are_there() -> None:
    assert in_line(taken, [0, 1, 0], is_due=False) == [0, 2]


def test_it_does_not_wait_for_its_time_if_no_other_is_there() -> None:
    assert in_line(taken, [1], is_due=False) == [0]


def test_only_one_such_case_is_taken_at_a_time() -> None:
    async def work(line: WaitingCases, _: list[Job]) -> list[int]:
        first = await line.take()
        second = asyncio.create_task(line.take())
        await asyncio.sleep(0.01)
        assert not second.done()
        await line.give_back([], was_repeated=True)
        return numbers(first) + numbers(await second)

    assert in_line(work, [1, 1]) == [0, 1]


def test_what_a_dead_worker_left_undone_goes_before_later_cases() -> None:
    async def work(line: WaitingCases, jobs: list[Job]) -> list[int]:
        batch = await line.take()
        await line.put(Job(jobs[0].spec, b"9", asyncio.get_running_loop().create_future()))
        batch[0].deaths += 1
        await line.give_back(batch, was_repeated=False)
        return numbers(await line.take())

    assert in_line(work, [0, 0, 0], is_due=False) == [1, 2, 9]


def test_all_without_a_finding_are_undone_and_each_is_named_once() -> None:
    async def work(line: WaitingCases, jobs: list[Job]) -> list[int]:
        batch = await line.take()
        batch[0].resolve(Finding(0.0))
        await line.give_back(batch[1:2], was_repeated=False)
        return sorted(numbers(line.undone()))

    assert in_line(work, [0, 0, 0, 1], is_due=False) == [1, 2, 3]
