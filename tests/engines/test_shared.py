"""Engines that outlive their model: who gets which, and when they are closed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.shared import EngineKeeper, SharedEngine
from genbench.engines.vllm_settings import VllmSettings
from genbench.errors import EngineDiedError, EngineError
from genbench.protocols import Engine
from genbench.types import Completion, Request, SampleId

REQUEST = Request(SampleId("t", "p", 0), 0, (), 1, 8, "")


@dataclass
class Engines:
    """All engines that a test makes, and what they did."""

    made: list[Unshared] = field(default_factory=list)
    serves: bool = True


@dataclass(frozen=True)
class Settings(VllmSettings):
    """Settings that make an engine of the test instead of vLLM."""

    engines: Engines = field(default_factory=Engines, compare=False)

    def make(self) -> Engine:
        engine = (Told if self.engines.serves else Unshared)(self)
        self.engines.made.append(engine)
        return engine


class Unshared:
    """An engine that cannot go on with another model."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.closed, self.dies = settings, 0, False

    async def start(self) -> None:
        if self.settings.dtype == "broken":
            raise EngineError("cannot start")

    async def generate(self, request: Request, attempt: int) -> Completion:
        if self.dies:
            raise EngineDiedError("gone")
        return Completion(
            request.sample, 0, 1, "", str(self.settings.adapter), "stop", 0, 0, None, 8, attempt, None
        )

    async def close(self) -> None:
        self.closed += 1


class Told(Unshared):
    """An engine that can."""

    def serve(self, settings: Any) -> None:
        self.settings = settings


def settings(engines: Engines, **more: Any) -> Settings:
    base = Settings(Path("m"), Path("m"), None, "bfloat16", False, 64, 8, 64, {}, share=True, engines=engines)
    return replace(base, **more)


async def use(keeper: EngineKeeper, wanted: Settings) -> str:
    assert wanted.share_key is not None
    lease = keeper.lease(wanted, wanted.share_key)
    await lease.start()
    try:
        return (await lease.generate(REQUEST, 1)).text
    finally:
        await lease.close()


def test_the_next_adapter_goes_on_with_the_engine_that_is_up() -> None:
    engines = Engines()

    async def work() -> list[str]:
        async with EngineKeeper() as keeper:
            found = [await use(keeper, settings(engines, adapter=Path(name))) for name in ("a", "b")]
            assert engines.made[0].closed == 0
            return found

    assert asyncio.run(work()) == ["a", "b"]
    assert len(engines.made) == 1 and engines.made[0].closed == 1


def test_another_checkpoint_closes_the_engine_before_it_loads() -> None:
    engines = Engines()

    async def work() -> None:
        async with EngineKeeper() as keeper:
            await use(keeper, settings(engines))
            await use(keeper, settings(engines, model=Path("other")))
            assert [engine.closed for engine in engines.made] == [1, 0]

    asyncio.run(work())


def test_replicas_of_one_checkpoint_are_kept_together() -> None:
    engines = Engines()

    async def work() -> None:
        async with EngineKeeper() as keeper:
            for replica in (0, 1, 0, 1):
                await use(keeper, settings(engines, replicas=2, replica=replica))

    asyncio.run(work())
    assert len(engines.made) == 2 and [engine.closed for engine in engines.made] == [1, 1]


def test_a_dead_engine_is_closed_and_the_next_lease_makes_another() -> None:
    engines = Engines()

    async def work() -> None:
        async with EngineKeeper() as keeper:
            await use(keeper, settings(engines))
            engines.made[0].dies = True
            with pytest.raises(EngineDiedError):
                await use(keeper, settings(engines))
            assert engines.made[0].closed == 1
            await use(keeper, settings(engines))

    asyncio.run(work())
    assert len(engines.made) == 2


def test_an_engine_that_cannot_start_is_closed() -> None:
    engines = Engines()

    async def work() -> None:
        async with EngineKeeper() as keeper:
            with pytest.raises(EngineError, match="cannot start"):
                await use(keeper, settings(engines, dtype="broken"))

    asyncio.run(work())
    assert engines.made[0].closed == 1


def test_a_key_without_a_method_serve_is_told() -> None:
    engines = Engines(serves=False)

    async def work() -> None:
        async with EngineKeeper() as keeper:
            with pytest.raises(EngineError, match="Unshared has a share_key and no method 'serve'"):
                await use(keeper, settings(engines))

    asyncio.run(work())
    assert not isinstance(engines.made[0], SharedEngine)


def test_a_lease_that_is_not_started_answers_nothing() -> None:
    wanted = settings(Engines())
    assert wanted.share_key is not None
    lease = EngineKeeper().lease(wanted, wanted.share_key)
    with pytest.raises(EngineDiedError, match="not running"):
        asyncio.run(lease.generate(REQUEST, 1))
