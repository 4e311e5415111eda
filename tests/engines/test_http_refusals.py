"""Whether a server refuses everything, or only some requests."""

from __future__ import annotations

import asyncio

import pytest

from genbench.engines.http.engine import RefusalDetector
from genbench.errors import EngineError


async def refuse(detector: RefusalDetector) -> str:
    detector.enter()
    await asyncio.sleep(0)  # all requests are sent before the first answer comes
    try:
        await detector.refused("refuses every request")
    except EngineError as error:
        return str(error)
    else:
        return "its own fault"
    finally:
        detector.leave()


async def succeed(detector: RefusalDetector) -> str:
    detector.enter()
    await asyncio.sleep(0.01)
    detector.succeed()
    detector.leave()
    return "answered"


def outcomes(refused: int, answered: int) -> list[str]:
    async def work() -> list[str]:
        detector = RefusalDetector()
        works = [refuse(detector) for _ in range(refused)] + [succeed(detector) for _ in range(answered)]
        return await asyncio.wait_for(asyncio.gather(*works), 5)

    return asyncio.run(work())


@pytest.mark.parametrize("refused", [4, 9])
def test_many_refusals_and_no_success_are_the_servers(refused: int) -> None:
    assert set(outcomes(refused, 0)) == {"refuses every request"}


@pytest.mark.parametrize("refused", [1, 3])
def test_few_refusals_are_the_requests_own(refused: int) -> None:
    assert set(outcomes(refused, 0)) == {"its own fault"}


def test_one_success_clears_the_server() -> None:
    assert outcomes(20, 1) == ["its own fault"] * 20 + ["answered"]


def test_after_a_success_refusals_do_not_wait() -> None:
    async def work() -> str:
        detector = RefusalDetector()
        detector.succeed()
        detector.enter()  # another request is in flight
        return await asyncio.wait_for(refuse(detector), 5)

    assert asyncio.run(work()) == "its own fault"
