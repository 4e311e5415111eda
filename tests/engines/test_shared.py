"""Engines that outlive their model: who gets which, and when they are closed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from genbench.engines.placement import EngineKeeper
from genbench.engines.vllm.kind import VllmSettings
from genbench.errors import EngineDiedError, EngineError
from genbench.protocols import Engine
from genbench.types import Completion, Request, SampleId, ScoreRequest

REQUEST = Request(SampleId("t", "p", 0), 0, (), 1, 8, "")


@dataclass
class Engines:
    """All engines that a test makes, and what they did."""

    made: list[Unshared] = field(default_factory=list)
    serves: bool = True
    kind: type[Unshared] | None = None


@dataclass(frozen=True)
class Settings(VllmSettings):
    """Settings that make an engine of the test instead of vLLM."""

    engines: Engines = field(default_factory=Engines, compare=False)

    def make(self) -> Engine:
        engine = (self.engines.kind or (Told if self.engines.serves else Unshared))(self)
        self.engines.made.append(engine)
        return engine


class Unshared(Engine):
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

    def serve(self, settings: Any) -> Served:
        return Served(self, settings)


class Served(Engine):
    """The engine as one model uses it."""

    def __init__(self, engine: Unshared, settings: Settings) -> None:
        self.engine, self.settings, self.closed = engine, settings, 0

    async def start(self) -> None: ...

    async def generate(self, request: Request, attempt: int) -> Completion:
        await self.engine.generate(request, attempt)
        text = str(self.settings.adapter)
        return Completion(request.sample, 0, 1, "", text, "stop", 0, 0, None, 8, attempt, None)

    async def close(self) -> None:
        self.closed += 1


def settings(engines: Engines, **more: Any) -> Settings:
    path = Path("m")
    base = Settings(
        path, path, None, "bfloat16", False, 8, 64, {}, max_model_len=64, share=True, engines=engines
    )
    return replace(base, **more)


class Slow(Told):
    """An engine that answers when it is told to."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.may_answer = asyncio.Event()

    async def generate(self, request: Request, attempt: int) -> Completion:
        await self.may_answer.wait()
        return await super().generate(request, attempt)


async def use(keeper: EngineKeeper, wanted: Settings) -> str:
    lease = keeper.lease(wanted, f"replica {wanted.replica}")
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


def test_two_models_use_one_engine_at_the_same_time_and_see_each_other() -> None:
    engines = Engines(kind=Slow)

    async def work() -> list[str]:
        async with EngineKeeper() as keeper:
            base, tuned = (
                keeper.lease(settings(engines, adapter=path), model=name)
                for name, path in (("base", None), ("tuned", Path("tuned")))
            )
            await base.start()
            assert base.facts == {}
            await tuned.start()
            assert base.facts == {"shared_with": ["tuned"]} and tuned.facts == {"shared_with": ["base"]}
            drawing = [asyncio.create_task(lease.generate(REQUEST, 1)) for lease in (base, base, tuned)]
            await asyncio.sleep(0)
            assert (base.others_in_flight, tuned.others_in_flight) == (1, 2)
            assert [lease.is_wanted for lease in (base, tuned)] == [False, False]
            slow = engines.made[0]
            assert isinstance(slow, Slow)
            slow.may_answer.set()
            texts = [completion.text for completion in await asyncio.gather(*drawing)]
            assert base.others_in_flight == 0
            await base.close()
            await tuned.close()
            return texts

    assert asyncio.run(work()) == ["None", "None", "tuned"]
    assert len(engines.made) == 1 and engines.made[0].closed == 1


def test_the_next_model_waits_until_the_engine_on_its_place_is_closed() -> None:
    engines = Engines(kind=Unshared)

    async def work() -> None:
        async with EngineKeeper() as keeper:
            first, second = (keeper.lease(settings(engines, model=Path(name), share=False)) for name in "ab")
            await first.start()
            wanted = [first.is_wanted]
            coming = asyncio.create_task(second.start())
            for _ in range(3):
                await asyncio.sleep(0)
            wanted.append(first.is_wanted)
            assert wanted == [False, True] and not coming.done() and len(engines.made) == 1
            await first.close()
            await coming
            assert [engine.closed for engine in engines.made] == [1, 0] and second.is_wanted is False
            await second.close()

    asyncio.run(work())
    assert [engine.closed for engine in engines.made] == [1, 1]


def test_engines_of_two_models_do_not_load_at_the_same_time() -> None:
    loading: list[str] = []

    class Loads(Unshared):
        async def start(self) -> None:
            loading.append(f"{self.settings.model} begins")
            await asyncio.sleep(0.01)
            loading.append(f"{self.settings.model} is up")

    engines = Engines(kind=Loads)

    async def work() -> None:
        async with EngineKeeper() as keeper:
            models = [settings(engines, model=Path(name), share=False) for name in "aab"]
            leases = [
                keeper.lease(one, f"place {number}", one.model.name) for number, one in enumerate(models)
            ]
            await asyncio.gather(*(lease.start() for lease in leases))
            await asyncio.gather(*(lease.close() for lease in leases))

    asyncio.run(work())
    assert loading == ["a begins", "a begins", "a is up", "a is up", "b begins", "b is up"]


def test_a_lease_that_is_not_started_answers_nothing() -> None:
    lease = EngineKeeper().lease(settings(Engines()))
    with pytest.raises(EngineDiedError, match="not running"):
        asyncio.run(lease.generate(REQUEST, 1))


class Scoring(Unshared):
    """An engine that scores given texts as well."""

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        if self.dies:
            raise EngineDiedError("gone")
        return Completion(request.sample, 0, 1, "", "scored", "stop", 0, 0, None, 8, attempt, None)


def lease_scores(engines: Engines, *, dies: bool = False) -> tuple[str, bool]:
    """The text of a scored request through a lease, and whether its engine is closed with it."""

    async def work() -> tuple[str, bool]:
        async with EngineKeeper() as keeper:
            lease = keeper.lease(settings(engines, share=False), "replica 0")
            await lease.start()
            engines.made[0].dies = dies
            request = ScoreRequest(SampleId("t", "p", 0), 0, (), 1, 8, "")
            try:
                text = (await lease.score(request, 1)).text
            except EngineError as error:
                text = str(error)
            assert lease.others_in_flight == 0
            await lease.close()
            return text, engines.made[0].closed == 1

    return asyncio.run(work())


def test_a_lease_scores_given_texts_as_its_engine_does() -> None:
    assert lease_scores(Engines(kind=Scoring))[0] == "scored"


def test_an_engine_that_dies_while_it_scores_is_closed_with_its_lease() -> None:
    assert lease_scores(Engines(kind=Scoring), dies=True) == ("gone", True)


def test_a_lease_of_an_engine_that_cannot_score_says_what_to_use() -> None:
    text, _ = lease_scores(Engines())
    assert text == "task t scores given texts, and Told has no method `score`; use engine.kind vllm"
