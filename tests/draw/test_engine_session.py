"""Engines at work on one queue: how draws are dealt among them, and what a dry engine takes over."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.draw.capacity import QUEUED, Capacity
from genbench.draw.draw_queue import Draw, DrawQueue
from genbench.draw.engine_lanes import EngineSession, LaneContext
from genbench.errors import EngineDiedError, EngineError
from genbench.protocols import Engine
from genbench.types import Completion, Request, SampleId

from .sums import sample_draws


@pytest.fixture
def draws(tmp_path: Path) -> list[Draw]:
    """Eighty samples."""
    return sample_draws(tmp_path, k=8)


class Slots(Engine):
    """An engine that computes `slots` samples at the same time. The others wait in it, in order."""

    kv_tokens = 1_000
    others_in_flight, is_wanted = 0, False

    def __init__(self, name: str, slots: int, seconds: float) -> None:
        self.name, self.seconds, self.most = name, seconds, 0
        self._slots = asyncio.Semaphore(slots)
        self._begun: set[SampleId] = set()
        self._here = 0
        self.aborted: list[SampleId] = []

    async def work(self, sample: SampleId) -> None:
        self._here += 1
        self.most = max(self.most, self._here)
        try:
            async with self._slots:
                self._begun.add(sample)
                await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.aborted.append(sample)
            raise
        finally:
            self._here -= 1
            self._begun.discard(sample)

    def has_begun(self, sample: SampleId) -> bool:
        return sample in self._begun

    async def start(self) -> None: ...

    async def generate(self, request: Request, attempt: int) -> Completion:
        raise AssertionError("the drawer draws")

    async def close(self) -> None: ...


class Drawer:
    """Counts who drew what. `fails` may raise for a sample."""

    def __init__(self, fails: Callable[[SampleId], None] = lambda sample: None) -> None:
        self.drawn: list[tuple[str, SampleId]] = []
        self._fails = fails

    async def draw(self, engine: Engine, draw: Draw) -> None:
        assert isinstance(engine, Slots)
        await engine.work(draw.sample)
        self._fails(draw.sample)
        self.drawn.append((engine.name, draw.sample))

    def give_up(self, draw: Draw, why: str) -> None:
        raise AssertionError(why)


def shared(drawer: Drawer, most: int, lanes: int) -> LaneContext:
    return LaneContext(drawer, Capacity(most), asyncio.Event(), print, lambda engine: None, lanes=lanes)


async def together(context: LaneContext, queue: DrawQueue, *engines: Slots) -> list[EngineSession]:
    sessions = [EngineSession(context, engine, queue, alone=False) for engine in engines]
    await asyncio.wait_for(asyncio.gather(*(session.run() for session in sessions)), 20)
    assert len(asyncio.all_tasks()) == 1 and context.sessions == []
    return sessions


def test_engines_that_are_up_together_take_turns(draws: list[Draw]) -> None:
    drawer = Drawer()

    async def work() -> None:
        engines = [Slots(name, 10, 0.1) for name in "abcd"]
        await together(shared(drawer, 64, lanes=4), DrawQueue(draws), *engines)
        assert [engine.most for engine in engines] == [20, 20, 20, 20]

    asyncio.run(work())
    assert {sample for _, sample in drawer.drawn} == {draw.sample for draw in draws}
    assert set(Counter(name for name, _ in drawer.drawn).values()) == {20}


def test_an_engine_that_is_up_first_leaves_the_share_of_those_that_come(draws: list[Draw]) -> None:
    drawer = Drawer()

    async def work() -> None:
        queue, context = DrawQueue(draws), shared(drawer, 64, lanes=4)
        first = EngineSession(context, Slots("a", 64, 30.0), queue, alone=False)
        running = asyncio.create_task(first.run())
        for _ in range(200):
            await asyncio.sleep(0)
        assert queue.waiting == 60
        context.stop.set()
        await running
        assert queue.waiting == 80

    asyncio.run(work())


def test_an_engine_gets_no_more_than_fits(draws: list[Draw]) -> None:
    async def work() -> None:
        engine = Slots("a", 100, 0.001)
        await together(shared(Drawer(), 7, lanes=1), DrawQueue(draws), engine)
        assert engine.most == 7

    asyncio.run(work())


def with_slots(drawer: Drawer, slots: int, lanes: int) -> LaneContext:
    """Engines whose slots are known, as those of vLLM."""
    context = shared(drawer, 2 * slots, lanes)
    context.limit = Capacity(2 * slots, slots)
    return context


def test_an_engine_with_a_queue_behind_it_has_as_many_waiting_requests_as_slots(draws: list[Draw]) -> None:
    async def work() -> None:
        engine, queue = Slots("a", 20, 30.0), DrawQueue(draws)
        context = with_slots(Drawer(), 20, lanes=1)
        running = asyncio.create_task(EngineSession(context, engine, queue, alone=False).run())
        for _ in range(200):
            await asyncio.sleep(0)
        assert engine.most == 40 and queue.waiting == 40
        context.stop.set()
        await running

    asyncio.run(work())


def test_a_single_engine_with_a_queue_behind_it_gets_several_samples_together(draws: list[Draw]) -> None:
    """They are a quarter of the 20 that wait in it. Handing over costs the host, so it is done seldom."""

    class Held(Slots):
        async def work(self, sample: SampleId) -> None:
            ends.append(asyncio.get_running_loop().create_future())
            await ends[-1]

    ends: list[asyncio.Future[None]] = []

    async def work() -> list[int]:
        context, had = with_slots(Drawer(), 20, lanes=1), []
        session = EngineSession(context, Held("a", 20, 0.0), DrawQueue(draws), alone=False)
        running = asyncio.create_task(session.run())
        for place in range(-1, 15):
            if place >= 0:
                ends[place].set_result(None)
            for _ in range(100):
                await asyncio.sleep(0)
            had.append(len(ends))
        context.stop.set()
        await running
        return had

    assert asyncio.run(work()) == [*[40] * 5, *[45] * 5, *[50] * 5, 55]


def test_one_of_several_engines_has_waiting_requests_as_it_finishes_them(draws: list[Draw]) -> None:
    """Nothing has ended in the slow engine. The fast one finishes more in a second than its slots."""

    async def work() -> tuple[Slots, Slots]:
        slow, fast = Slots("slow", 10, 30.0), Slots("fast", 10, 0.02)
        context, queue = with_slots(Drawer(), 10, lanes=2), DrawQueue(draws)
        sessions = [EngineSession(context, engine, queue, alone=False) for engine in (slow, fast)]
        running = asyncio.gather(*(session.run() for session in sessions))
        while queue.waiting > 10:  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0.01)
        context.stop.set()
        await running
        return slow, fast

    slow, fast = asyncio.run(work())
    assert slow.most == 10 + QUEUED and fast.most == 20


def test_a_single_engine_that_has_all_that_is_left_says_so_before_it_ends(draws: list[Draw]) -> None:
    drawer, left = Drawer(), []

    async def work() -> None:
        context, queue = shared(drawer, 64, lanes=1), DrawQueue(draws)
        context.ran_dry = lambda: left.append(80 - len(drawer.drawn))
        await together(context, queue, Slots("a", 64, 0.001))

    asyncio.run(work())
    assert left[0] > 0


@pytest.mark.slow
def test_a_dry_engine_takes_over_what_waits_in_another(draws: list[Draw]) -> None:
    """The slow engine computes one sample at a time and has 39 in its own queue."""
    drawer = Drawer()

    async def work() -> Slots:
        slow, fast = Slots("slow", 1, 0.3), Slots("fast", 40, 0.001)
        await together(shared(drawer, 64, lanes=2), DrawQueue(draws), slow, fast)
        return slow

    slow = asyncio.run(work())
    samples = [sample for _, sample in drawer.drawn]
    assert len(samples) == len(set(samples)) == 80
    assert slow.aborted and Counter(name for name, _ in drawer.drawn)["slow"] < 10


class Shrinking(Capacity):
    """A limit that turns out to be too large for one engine: nothing was known of the lengths at first."""

    found: float = math.inf

    def of(self, engine: Engine, waiting: int | None = None) -> int:
        assert isinstance(engine, Slots)
        return int(min(self.most, self.found)) if engine.name == "slow" else self.most


@pytest.mark.slow
def test_an_idle_engine_gets_what_does_not_fit_into_another(draws: list[Draw]) -> None:
    drawer, limit = Drawer(), Shrinking(80)

    async def work() -> None:
        context, queue = shared(drawer, 80, lanes=1), DrawQueue(draws)
        context.limit = limit
        slow, fast = Slots("slow", 80, 0.6), Slots("fast", 80, 0.001)
        first = asyncio.create_task(EngineSession(context, slow, queue, alone=False).run())
        for _ in range(200):
            await asyncio.sleep(0)
        assert queue.waiting == 0
        limit.found, context.lanes = 10, 2
        await EngineSession(context, fast, queue, alone=False).run()
        await first

    asyncio.run(work())
    assert Counter(name for name, _ in drawer.drawn)["fast"] >= 40  # its share of what is left
    assert len({sample for _, sample in drawer.drawn}) == 80


@pytest.mark.slow
def test_samples_for_which_a_harness_runs_are_not_taken_from_their_engine(draws: list[Draw]) -> None:
    """Whether they wait in it or do not fit: their harness would have to begin again."""
    drawer, limit = Drawer(), Shrinking(80)
    rolling = {draw.sample for draw in draws}

    async def work() -> Slots:
        context, queue = shared(drawer, 80, lanes=1), DrawQueue(draws)
        context.limit, context.rolling = limit, rolling
        slow, fast = Slots("slow", 20, 0.2), Slots("fast", 80, 0.001)
        first = asyncio.create_task(EngineSession(context, slow, queue, alone=False).run())
        for _ in range(200):
            await asyncio.sleep(0)
        assert queue.waiting == 0
        limit.found, context.lanes = 10, 2
        await EngineSession(context, fast, queue, alone=False).run()
        await first
        return slow

    assert asyncio.run(work()).aborted == []
    assert Counter(name for name, _ in drawer.drawn) == {"slow": 80}


def test_an_engine_that_is_up_first_leaves_the_others_their_long_samples(draws: list[Draw]) -> None:
    drawer = Drawer()

    async def work() -> None:
        context, queue = shared(drawer, 64, lanes=4), DrawQueue(draws)
        running = asyncio.create_task(EngineSession(context, Slots("a", 64, 0.001), queue, alone=False).run())
        for _ in range(20):
            await asyncio.sleep(0)
        context.stop.set()
        await running
        left = [draw.sample for draw in iter(queue.take, None)]
        assert left[:4] == [draws[place].sample for place in (1, 2, 3, 5)]

    asyncio.run(work())


class Leased(Slots):
    """An engine that another model uses or waits for."""

    def __init__(self, name: str, slots: int, seconds: float, others: int = 0) -> None:
        super().__init__(name, slots, seconds)
        self.others_in_flight, self.is_wanted = others, False


def test_requests_of_other_models_take_slots_of_an_engine(draws: list[Draw]) -> None:
    async def work() -> None:
        engine = Leased("a", 100, 0.001, others=60)
        await together(shared(Drawer(), 64, lanes=1), DrawQueue(draws), engine)
        assert engine.most == 4

    asyncio.run(work())


@pytest.mark.slow
def test_an_engine_full_of_another_models_requests_is_used_when_they_end(draws: list[Draw]) -> None:
    async def work() -> None:
        engine = Leased("a", 100, 0.5, others=64)  # a busy machine needs time to begin 64
        asyncio.get_running_loop().call_later(0.1, setattr, engine, "others_in_flight", 0)
        await together(shared(Drawer(), 64, lanes=1), DrawQueue(draws), engine)
        assert engine.most == 64

    asyncio.run(work())


@pytest.mark.slow
def test_a_dry_engine_gives_way_to_a_model_that_waits_and_a_busy_one_does_not(draws: list[Draw]) -> None:
    async def work() -> None:
        context, dry = shared(Drawer(), 64, lanes=2), asyncio.Event()
        context.gives_way, context.ran_dry = True, dry.set
        slow, fast = Leased("slow", 40, 1.2), Leased("fast", 40, 0.001)
        slow.is_wanted = fast.is_wanted = True
        sessions = await together(context, DrawQueue(draws), slow, fast)
        assert [session.gave_way for session in sessions] == [False, True] and dry.is_set()

    asyncio.run(work())


def test_an_error_of_the_drawer_ends_the_session_and_leaves_nothing_in_flight(draws: list[Draw]) -> None:
    def fails(sample: SampleId) -> None:
        if sample.problem_id == "q3":
            raise EngineError("the disk is gone")

    async def work() -> None:
        engine = Slots("a", 4, 0.001)
        with pytest.raises(EngineError, match="the disk is gone"):
            await together(shared(Drawer(fails), 4, lanes=1), DrawQueue(draws), engine)
        assert engine._here == 0

    asyncio.run(work())


def test_a_death_ends_the_session_and_puts_back_all_that_was_in_flight(draws: list[Draw]) -> None:
    drawn = Counter[SampleId]()

    def fails(sample: SampleId) -> None:
        drawn[sample] += 1
        if len(drawn) == 11:
            raise EngineDiedError("killed")

    async def work() -> None:
        queue, context = DrawQueue(draws), shared(Drawer(fails), 8, lanes=1)
        (session,) = await together(context, queue, Slots("a", 8, 0.001))
        assert session.death is not None and str(session.death) == "killed"
        assert session.finished >= 10 and queue.waiting == 80 - session.finished
        assert sum(context.deaths.values()) >= 1

    asyncio.run(work())
