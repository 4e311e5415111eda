"""How well several engines are kept busy: wall time over the lower bound, by lanes and suite.

    python benchmarks/lanes.py [--lanes 1,8] [--suite aime,gpqa,reasoning,short] [--json FILE]
    python benchmarks/lanes.py --models 2 [--load 75]
    python benchmarks/lanes.py --tail --lanes 64 --slots 256

The lanes are genbench's own. The engines are models of a GPU on a simulated clock (simulated_engine.py). The
lower bound is the larger of two: all tokens at the speed of full engines and every prompt once, or the
longest single answer. `over_drain` is the wall time over that of a night in which all samples run from the
start and are dealt evenly. It is given if all fit at once, since no dealing can be faster then.

`greedy` is the anchor: every engine takes twice its slots as soon as it is up. `draws_per_real_second` are
the requests that the lanes and the model of the engines go through in a second of real time.

With `--tail` the lanes alone, ordered by the lengths of the night before, and with speculation while few
requests run, at gains that are assumed.

With `--models 2` a second model follows: after the first one, on places that ran dry, or with the same
engines (`share: true`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.simulated_engine import KV_TOKENS, SimulatedEngine, SimulatedLoop, Speculation
from benchmarks.simulated_suites import SUITES, bound, drained, lengths_of, suite
from genbench.draw.capacity import Capacity, InFlightLength, assumed_length
from genbench.draw.draw_queue import Draw, one
from genbench.draw.engine_lanes import Lane, LaneContext, draw_all
from genbench.engines.placement import EngineKeeper
from genbench.protocols import Engine
from genbench.types import Request, SampleId

Lengths = Mapping[SampleId, int]


@dataclass(slots=True)
class World:
    """Draws samples with simulated engines."""

    limit: Capacity

    async def draw(self, engine: Engine, draw: Draw) -> None:
        completion = await engine.generate(Request(draw.sample, 0, (), 0, 0, ""), 1)
        self.limit.note(draw, completion)

    def give_up(self, draw: Draw, why: str) -> None:
        raise AssertionError(why)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One simulated night: its seconds, and the tokens and preemptions of each engine."""

    seconds: float
    tokens: list[int]
    preemptions: int
    real_s: float


def in_simulated_time(engines: list[SimulatedEngine], work: Callable[[], Any]) -> Outcome:
    """Run a coroutine function to its end on a simulated clock."""
    loop, began = SimulatedLoop(), time.perf_counter()
    try:
        loop.run_until_complete(work())
        return Outcome(
            loop.now,
            [engine.tokens for engine in engines],
            sum(engine.preemptions for engine in engines),
            time.perf_counter() - began,
        )
    finally:
        loop.close()


def longest_first(draws: Sequence[Draw], lengths: Lengths) -> list[Draw]:
    """Return the draws as `--lengths-from` orders them: the problems with the longest answers first."""

    def mean(draw: Draw) -> float:
        name, problem, k = draw.task.name, draw.problem.problem_id, draw.task.k
        return sum(lengths[SampleId(name, problem, index)] for index in range(k)) / k

    return sorted(draws, key=lambda draw: -mean(draw))


def _simulated_s() -> float:
    return asyncio.get_running_loop().time()


def _mean_of_problem(known: Lengths) -> Callable[[Draw], float]:
    """Return what `--lengths-from` knows of a draw: the mean length of its problem's answers."""
    sums: dict[tuple[str, str], list[int]] = {}
    for sample, length in known.items():
        sums.setdefault((sample.task, sample.problem_id), []).append(length)
    return lambda draw: statistics.fmean(sums[draw.task.name, draw.problem.problem_id])


async def dealt(
    makers: Mapping[str, Callable[[], Engine]],
    draws: Sequence[Draw],
    slots: int,
    known: Lengths | None = None,
    ran_dry: Callable[[], None] = lambda: None,
) -> None:
    """Draw with genbench's lanes."""
    expected = InFlightLength([known[draw.sample] for draw in draws] if known else (), assumed_length(draws))
    weigh = _mean_of_problem(known) if known else one
    world = World(Capacity(2 * slots, slots, expected, weigh=weigh, clock=_simulated_s))
    shared = LaneContext(world, world.limit, asyncio.Event(), print, lambda engine: None)
    shared.ran_dry, shared.gives_way = ran_dry, True
    lanes = [Lane(name, make, shared) for name, make in makers.items()]
    await draw_all(lanes, shared, draws)
    for lane in lanes:
        await lane.close()


async def greedy(engines: Sequence[SimulatedEngine], draws: Sequence[Draw], slots: int) -> None:
    """Let every engine take twice its slots as soon as it is up."""
    queue = deque(draws)

    async def lane(engine: SimulatedEngine) -> None:
        await engine.start()

        async def work() -> None:
            while queue:
                await engine.generate(Request(queue.popleft().sample, 0, (), 0, 0, ""), 1)

        await asyncio.gather(*(work() for _ in range(2 * slots)))

    await asyncio.gather(*(lane(engine) for engine in engines))
    for engine in engines:
        await engine.close()


def given(engine: SimulatedEngine) -> Engine:
    return engine


def rows(names: Sequence[str], numbers: Sequence[int], slots: int, load_s: float) -> Iterator[dict[str, Any]]:
    """Yield one row for each suite, number of lanes and way of dealing.

    Args:
        load_s: seconds until the first engine is up. The others follow after as many again.
    """
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            draws = suite(SUITES[name], Path(folder))
        lengths = lengths_of(SUITES[name])
        for lanes in numbers:
            load = load_s * (1 + (lanes > 1))
            least, fits = bound(lengths, lanes, slots) + load, len(lengths) <= lanes * slots
            fits = fits and sum(lengths.values()) <= lanes * KV_TOKENS
            for way in ("greedy", "lanes", "lanes, lengths known"):
                engines = [SimulatedEngine(lengths, slots, load_s * (1 + (at > 0))) for at in range(lanes)]
                makers = {f"lane {at}": partial(given, engine) for at, engine in enumerate(engines)}
                known = lengths if way.endswith("known") else None
                order = longest_first(draws, lengths) if known else draws
                found = in_simulated_time(
                    engines,
                    partial(greedy, engines, draws, slots)
                    if way == "greedy"
                    else partial(dealt, makers, order, slots, known),
                )
                mean = sum(found.tokens) / lanes
                yield {
                    "suite": name,
                    "lanes": lanes,
                    "dealing": way,
                    "minutes": round(found.seconds / 60, 1),
                    "over_bound": round(found.seconds / least, 3),
                    "over_drain": round(found.seconds / (drained(lengths, lanes) + load), 3) if fits else "-",
                    "most_over_mean": round(max(found.tokens) / mean, 3),
                    "least_over_mean": round(min(found.tokens) / mean, 3),
                    "preemptions_per_sample": round(found.preemptions / len(draws), 2),
                    "draws_per_real_second": round(len(draws) / found.real_s),
                }


GAINS = (1.3, 1.7, 2.2)
"""Assumed gains of speculation, of n-grams to a trained draft. None was measured."""


def tails(
    names: Sequence[str], numbers: Sequence[int], slots: int, load_s: float
) -> Iterator[dict[str, Any]]:
    """Yield the wall time of ways to shorten the end of a night, over the bound without speculation."""
    ways: dict[str, tuple[bool, Speculation | None]] = {"lanes": (False, None), "last night": (True, None)}
    for few in (8, 32):
        ways |= {f"speculation x {gain} up to {few}": (False, Speculation(few, gain)) for gain in GAINS}
    ways |= {f"both, x {GAINS[1]} up to 32": (True, Speculation(32, GAINS[1]))}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            draws = suite(SUITES[name], Path(folder))
        lengths, before = lengths_of(SUITES[name]), lengths_of(SUITES[name], last_night=True)
        for lanes in numbers:
            least = bound(lengths, lanes, slots) + load_s * (1 + (lanes > 1))
            for way, (is_ordered, speculation) in ways.items():
                engines = [
                    SimulatedEngine(lengths, slots, load_s * (1 + (at > 0)), speculation=speculation)
                    for at in range(lanes)
                ]
                makers = {f"lane {at}": partial(given, engine) for at, engine in enumerate(engines)}
                known = before if is_ordered else None
                order = longest_first(draws, before) if is_ordered else draws
                found = in_simulated_time(engines, partial(dealt, makers, order, slots, known))
                yield {
                    "suite": name,
                    "lanes": lanes,
                    "way": way,
                    "minutes": round(found.seconds / 60, 2),
                    "over_bound": round(found.seconds / least, 3),
                }


@dataclass(slots=True)
class SimulatedSettings:
    """Settings of the engines of one model. With a key the engines are shared."""

    lengths: Lengths
    slots: int
    load_s: float
    share_key: object | None
    made: list[SimulatedEngine] = field(default_factory=list)

    def make(self) -> SimulatedEngine:
        self.made.append(SimulatedEngine(self.lengths, self.slots, self.load_s))
        return self.made[-1]


async def in_turn(models: Sequence[Any], draws: Sequence[Draw], lanes: int, *, early: bool) -> None:
    """Draw one model after the other, the next one `early`: when the one before ran dry."""
    tasks: list[asyncio.Task[None]] = []
    async with EngineKeeper() as keeper:
        for number, settings in enumerate(models):
            dry = asyncio.Event()
            names = [f"replica {at}" for at in range(lanes)]
            leases: Any = {name: partial(keeper.lease, settings, name, f"model {number}") for name in names}
            drawing = dealt(leases, draws, settings.slots, None, dry.set)
            tasks.append(asyncio.create_task(drawing))
            await (dry.wait() if early else tasks[-1])
        await asyncio.gather(*tasks)


def two_models(
    names: Sequence[str], numbers: Sequence[int], slots: int, load_s: float
) -> Iterator[dict[str, Any]]:
    """Yield the wall time of a base and a tuned model, by the way in which the second one follows."""
    ways = {"after the first": (False, False), "on dry places": (True, False), "same engines": (True, True)}
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            draws = suite(SUITES[name], Path(folder))
        both = [lengths_of(SUITES[name], seed) for seed in (7, 8)]
        for lanes in numbers:
            least = sum(bound(lengths, lanes, slots) for lengths in both)
            for way, (early, share) in ways.items():
                models = [SimulatedSettings(item, slots, load_s, "base" if share else None) for item in both]
                found = in_simulated_time([], partial(in_turn, models, draws, lanes, early=early))
                engines = sum(len(model.made) for model in models)
                yield {
                    "suite": name,
                    "lanes": lanes,
                    "second model": way,
                    "minutes": round(found.seconds / 60, 1),
                    "over_bound": round(found.seconds / (least + load_s), 3),
                    "engines_loaded": engines,
                }


def main() -> None:
    """Print the table, and write it as JSON if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lanes", default="1,2,8,64")
    parser.add_argument("--suite", default=",".join(SUITES))
    parser.add_argument("--slots", type=int, default=1024, help="max_num_seqs of each engine")
    parser.add_argument("--load", type=float, default=0.0, help="seconds until the first engine is up")
    parser.add_argument("--models", type=int, choices=(1, 2), default=1)
    parser.add_argument("--tail", action="store_true", help="ways to shorten the end of a night")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    numbers = [int(lanes) for lanes in options.lanes.split(",")]
    table = two_models if options.models == 2 else tails if options.tail else rows
    for row in table(options.suite.split(","), numbers, options.slots, options.load):
        if not found:
            print("| " + " | ".join(row) + " |\n|" + "---|" * len(row), flush=True)
        print("| " + " | ".join(map(str, row.values())) + " |", flush=True)
        found.append(row)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
