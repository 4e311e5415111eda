"""Engines side by side: who draws what when they die, cannot start, or meet a sample that kills them."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from genbench.draw.capacity import Capacity
from genbench.draw.draw_queue import Draw
from genbench.draw.engine_lanes import Lane, LaneContext, draw_all
from genbench.errors import EngineDiedError, EngineError, RequestStuckError
from genbench.protocols import Engine
from genbench.types import Completion, Request, SampleId

from .sums import sample_draws


@pytest.fixture
def draws(tmp_path: Path) -> list[Draw]:
    """Forty samples."""
    return sample_draws(tmp_path, k=4)


Happening = Callable[[str, int, Draw], str | None]
"""(lane, its engine's number from 0, draw) -> "die", "late death", "stuck", or None."""


@dataclass
class World:
    """Engines that do as `happens` says, and what was drawn with them."""

    happens: Happening = lambda lane, number, draw: None
    starts: Callable[[str, int], float | str] = lambda lane, number: 0.0
    """Seconds that a start takes, or why it fails; "killed": its process was."""
    drawn: list[tuple[str, SampleId]] = field(default_factory=list)
    given_up: list[SampleId] = field(default_factory=list)
    born: Counter[str] = field(default_factory=Counter)
    closed: int = 0
    said: list[str] = field(default_factory=list)
    at_once: Counter[str] = field(default_factory=Counter)
    alone: set[SampleId] = field(default_factory=set)

    async def draw(self, engine: Engine, draw: Draw) -> None:
        assert isinstance(engine, Told)
        await engine.work(draw)
        self.drawn.append((engine.lane, draw.sample))

    def give_up(self, draw: Draw, why: str) -> None:
        self.given_up.append(draw.sample)

    wanted: bool = False
    """Whether another model waits for every place."""

    def run(self, draws: list[Draw], lanes: int, workers: int = 4, stop_after_s: float | None = None) -> None:
        async def work() -> None:
            stop = asyncio.Event()
            if stop_after_s is not None:
                asyncio.get_running_loop().call_later(stop_after_s, stop.set)
            shared = LaneContext(self, Capacity(workers), stop, self.said.append, lambda engine: None)
            shared.gives_way = True
            names = [f"lane {index}" for index in range(lanes)]
            made = [Lane(name, partial(Told, self, name), shared) for name in names]
            try:
                await asyncio.wait_for(draw_all(made, shared, draws), 20)
            finally:
                for lane in made:
                    await lane.close()
            assert len(asyncio.all_tasks()) == 1

        asyncio.run(work())
        assert self.closed == sum(self.born.values())


class Told(Engine):
    """One engine of a lane."""

    others_in_flight, is_wanted = 0, False

    def __init__(self, world: World, lane: str) -> None:
        self.world, self.lane = world, lane
        self.number = world.born[lane]
        world.born[lane] += 1
        self.dead = asyncio.Event()
        self.others_in_flight, self.is_wanted = 0, world.wanted

    async def start(self) -> None:
        found = self.world.starts(self.lane, self.number)
        if isinstance(found, str):
            raise (EngineDiedError if found == "killed" else EngineError)(found)
        await asyncio.sleep(found)

    async def work(self, draw: Draw) -> None:
        """As vLLM's: when the engine dies, all that are in flight hear of it."""
        self.world.at_once[self.lane] += 1
        if sum(self.world.at_once.values()) == 1:
            self.world.alone.add(draw.sample)
        try:
            await asyncio.sleep(0.001)
            match self.world.happens(self.lane, self.number, draw):
                case "die":
                    self.dead.set()
                case "late death":
                    await asyncio.sleep(0.3)
                    self.dead.set()
                case "stuck":
                    raise RequestStuckError("no answer")
            await asyncio.sleep(0.001)
            if self.dead.is_set():
                raise EngineDiedError(f"{self.lane} died")
        finally:
            self.world.at_once[self.lane] -= 1

    async def generate(self, request: Request, attempt: int) -> Completion:
        raise AssertionError("the world draws")

    async def close(self) -> None:
        self.world.closed += 1


def _once(world: World, draws: list[Draw], without: int = 0) -> None:
    samples = [sample for _, sample in world.drawn]
    assert len(samples) == len(set(samples)) == len(draws) - without


def test_all_lanes_draw_from_one_queue(draws: list[Draw]) -> None:
    world = World()
    world.run(draws, lanes=3)
    _once(world, draws)
    assert {lane for lane, _ in world.drawn} == {"lane 0", "lane 1", "lane 2"}


def test_what_one_engine_leaves_behind_the_others_draw(draws: list[Draw]) -> None:
    world = World(lambda lane, number, draw: "die" if lane == "lane 1" and number == 0 else None)
    world.starts = lambda lane, number: 30.0 if number else 0.0  # what follows comes too late
    world.run(draws, lanes=2)
    _once(world, draws)
    assert {lane for lane, _ in world.drawn} == {"lane 0"} and world.born == {"lane 0": 1, "lane 1": 2}


def test_random_deaths_mark_nobody(draws: list[Draw]) -> None:
    rng = random.Random(7)
    world = World(lambda lane, number, draw: "die" if rng.random() < 0.05 else None)
    world.run(draws, lanes=2, workers=6)
    _once(world, draws)
    assert world.given_up == [] and sum(world.born.values()) > 3


def test_a_sample_that_kills_is_marked_after_two_deaths_alone_and_no_other(draws: list[Draw]) -> None:
    killer, deaths = draws[5].sample, list[str]()

    def happens(lane: str, number: int, draw: Draw) -> str | None:
        if draw.sample != killer:
            return None
        deaths.append(lane)
        return "die"

    world = World(happens)
    world.run(draws, lanes=2)
    _once(world, draws, without=1)
    assert world.given_up == [killer] and killer in world.alone
    assert len(deaths) == 4  # two in company, two alone
    assert sum(world.born.values()) - 2 <= 4


def test_a_sample_without_an_answer_is_marked_and_no_engine_dies(draws: list[Draw]) -> None:
    silent = draws[5].sample
    world = World(lambda lane, number, draw: "stuck" if draw.sample == silent else None)
    world.run(draws, lanes=2)
    _once(world, draws, without=1)
    assert world.given_up == [silent] and sum(world.born.values()) == 2


def test_a_lane_that_only_dies_is_given_up_and_the_others_go_on(draws: list[Draw]) -> None:
    world = World(lambda lane, number, draw: "die" if lane == "lane 0" else None)
    world.starts = lambda lane, number: 0.0 if lane == "lane 0" else 0.1
    world.run(draws, lanes=2, workers=2)
    _once(world, draws)
    assert world.born["lane 0"] == 3 and world.given_up == []
    assert world.said == [
        "lane 0 is given up: 3 engines died with nothing finished between them; lane 0 died"
    ]


def test_when_every_lane_dies_the_run_stops_with_nothing_marked(draws: list[Draw]) -> None:
    world = World(lambda lane, number, draw: "die")
    with pytest.raises(EngineError, match=r"(?s)all 2 engines are given up:.*the same command goes on"):
        world.run(draws, lanes=2)
    assert world.drawn == [] and world.given_up == []


def test_engines_that_answer_nothing_count_as_dead(draws: list[Draw]) -> None:
    world = World(lambda lane, number, draw: "stuck")
    with pytest.raises(EngineError, match="3 engines died with nothing finished between them; no answer"):
        world.run(draws, lanes=1)
    assert world.drawn == [] and world.given_up == []


def test_an_engine_that_cannot_start_leaves_its_share_to_the_others(draws: list[Draw]) -> None:
    world = World(starts=lambda lane, number: "out of memory" if lane == "lane 1" else 0.0)
    world.run(draws, lanes=2)
    _once(world, draws)
    assert world.said == ["lane 1 is given up: out of memory"] and world.born["lane 1"] == 1


def test_engines_that_are_killed_while_they_load_are_followed_by_others(draws: list[Draw]) -> None:
    world = World(starts=lambda lane, number: "killed" if number in (0, 1, 3) else 0.0)
    world.happens = lambda lane, number, draw: "die" if number == 2 and len(world.drawn) > 5 else None
    world.run(draws, lanes=1)
    _once(world, draws)
    assert world.born["lane 0"] == 5


def test_engines_that_are_always_killed_while_they_load_end_the_run(draws: list[Draw]) -> None:
    world = World(starts=lambda lane, number: "killed")
    with pytest.raises(EngineError, match="3 engines died with nothing finished between them; killed"):
        world.run(draws, lanes=1)
    assert (world.born["lane 0"], world.given_up) == (3, [])


def test_one_engine_that_cannot_start_ends_the_run_with_its_own_words(draws: list[Draw]) -> None:
    world = World(starts=lambda lane, number: "out of memory\nwhat may help: less")
    with pytest.raises(EngineError, match=r"^out of memory\nwhat may help: less\nwhen that is mended"):
        world.run(draws, lanes=1)


def test_an_engine_that_still_loads_when_all_is_drawn_is_not_waited_for(draws: list[Draw]) -> None:
    world = World(starts=lambda lane, number: 600.0 if lane == "lane 1" else 0.0)
    world.run(draws, lanes=2)
    _once(world, draws)


def test_a_stop_ends_loading_and_drawing(draws: list[Draw]) -> None:
    world = World(starts=lambda lane, number: 600.0)
    world.run(draws, lanes=2, stop_after_s=0.05)
    assert world.drawn == []


@pytest.mark.slow
def test_a_lane_that_gave_its_place_away_goes_on_when_no_other_is_left(draws: list[Draw]) -> None:
    last: list[str] = []

    def happens(lane: str, number: int, draw: Draw) -> str | None:
        if draw.sample != draws[-1].sample or number:
            return None
        last.append(lane)
        return "late death"

    def starts(lane: str, number: int) -> float | str:
        return "cannot start" if number and lane in last else 0.0

    world = World(happens, starts, wanted=True)
    world.run(draws, 2)
    _once(world, draws)
    (other,) = {"lane 0", "lane 1"} - set(last)
    assert world.born == {last[0]: 2, other: 2} and world.drawn[-1] == (other, draws[-1].sample)
