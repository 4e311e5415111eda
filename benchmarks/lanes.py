"""How well several engines are kept busy: wall time over the lower bound, by lanes and suite.

    python benchmarks/lanes.py [--lanes 1,8] [--suite aime,gpqa,reasoning,short] [--json FILE]

The lanes are genbench's own. The engines are models of a GPU: every step computes one token for each
running request and takes as long as reading the weights and the KV cache at the GPU's bandwidth. Requests
are admitted in order while slots and KV blocks are free, and the youngest is preempted and computed again
when blocks run out, as vLLM does. The clock is simulated, so that nights pass in seconds. The lower bound is
the larger of two: all tokens at the speed of full engines, and the longest single answer. The constants are
assumed (3B parameters in bfloat16 on an H100: 3.35 TB/s at 70 %, 80 GB) and fitted to no GPU.

`greedy` is the anchor: every engine takes twice its slots as soon as it is up. `draws/s` are the requests
that the lanes and the model of the engines go through in a second of real time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import selectors
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from genbench.draw.capacity import Capacity, InFlightLength
from genbench.draw.enginesession import LaneContext
from genbench.draw.lanes import Lane, draw_all
from genbench.draw.queue import Draw, missing_draws
from genbench.engines.sizes import requests_in_flight
from genbench.protocols import Engine
from genbench.store.drawn import Drawn
from genbench.suite.suitefile import read_suite
from genbench.tasks.load import load_task
from genbench.types import Completion, Request, SampleId

BANDWIDTH = 3.35e12 * 0.7
"""Bytes a second that a step reads (H100)."""
WEIGHTS = 2 * 3.1e9
KV_BYTES = 2 * 36 * 4 * 128 * 2
"""Bytes of one token in the KV cache: 36 layers, 4 KV heads of 128, keys and values, bfloat16."""
KV_TOKENS = int((80e9 * 0.9 - WEIGHTS - 4e9) / KV_BYTES)
STEP_S = 0.003
"""Seconds of a step apart from memory."""
PREFILL = 60_000.0
"""Prompt or recomputed tokens a second."""
CAP = 32_768


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer instead of waiting."""

    now = 0.0

    def __init__(self) -> None:
        super().__init__(_NoWait(self))

    def time(self) -> float:
        return self.now


class _NoWait(selectors.DefaultSelector):
    def __init__(self, loop: SimulatedLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("nothing will ever happen")
        self._loop.now += max(0.0, timeout)
        return super().select(0)


@dataclass(slots=True)
class Running:
    """A request in an engine: the tokens that it will have and those that it has."""

    number: int
    length: int
    done: asyncio.Future[None]
    have: int = 0
    begun: bool = False


class SimulatedEngine:
    """An engine that steps like a GPU.

    Args:
        lengths: tokens of each sample's completion.
        watermark: share of the KV cache that stays free of new requests.
    """

    def __init__(
        self, lengths: dict[SampleId, int], slots: int, load_s: float, watermark: float = 0.05
    ) -> None:
        self.lengths, self.slots, self.load_s = lengths, slots, load_s
        self.kv_tokens: int | None = KV_TOKENS
        self.tokens = self.preemptions = 0
        self._free_for_new = KV_TOKENS * (1 - watermark)
        self._waiting: deque[Running] = deque()
        self._running: list[Running] = []
        self._by_sample: dict[SampleId, Running] = {}
        self._wake = asyncio.Event()
        self._stepper: asyncio.Task[None] | None = None
        self._numbers = iter(range(10**9))

    async def start(self) -> None:
        await asyncio.sleep(self.load_s)
        self._stepper = asyncio.create_task(self._steps())

    async def draw(self, sample: SampleId) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        request = Running(next(self._numbers), self.lengths[sample], done)
        self._by_sample[sample] = request
        self._waiting.append(request)
        self._wake.set()
        try:
            await done
        except asyncio.CancelledError:
            if request in self._waiting:
                self._waiting.remove(request)
            else:
                self._running.remove(request)
            raise
        finally:
            del self._by_sample[sample]

    def has_begun(self, sample: SampleId) -> bool:
        request = self._by_sample.get(sample)
        return request is None or request.begun

    async def _steps(self) -> None:
        """Step to the next event at a time: an end, or KV blocks that run out."""
        while True:
            if not self._running and not self._waiting:
                self._wake.clear()
                await self._wake.wait()
                await asyncio.sleep(0)
            prefill = self._admit()
            running = self._running
            used = sum(request.have for request in running)
            until_end = min(request.length - request.have for request in running)
            until_full = max(1, (KV_TOKENS - used) // len(running))
            # New requests are seen at the next event. At most 64 steps keep that close to a GPU's.
            steps = min(
                until_end, until_full, 64 if self._waiting or len(running) < self.slots else until_end
            )
            seconds = steps * (STEP_S + (WEIGHTS + KV_BYTES * used) / BANDWIDTH)
            seconds += KV_BYTES * len(running) * steps * (steps + 1) / 2 / BANDWIDTH + prefill / PREFILL
            await asyncio.sleep(seconds)
            self._advance(steps)

    def _admit(self) -> int:
        """Take waiting requests into free slots. Return the tokens that must be computed for them first."""
        used, prefill = sum(request.have for request in self._running), 0
        while self._waiting and len(self._running) < self.slots:
            request = self._waiting[0]
            if self._running and used + request.have + 500 > self._free_for_new:
                break
            self._running.append(self._waiting.popleft())
            request.begun = True
            used += request.have
            prefill += request.have + 300
        return prefill

    def _advance(self, steps: int) -> None:
        for request in self._running:
            request.have += steps
        self.tokens += steps * len(self._running)
        ended = [request for request in self._running if request.have >= request.length]
        self._running = [request for request in self._running if request.have < request.length]
        for request in ended:
            if not request.done.done():
                request.done.set_result(None)
        while (
            len(self._running) > 1
            and sum(item.have for item in self._running) + len(self._running) > KV_TOKENS
        ):
            youngest = max(self._running, key=lambda item: item.number)
            self._running.remove(youngest)
            self._waiting.appendleft(youngest)
            self.preemptions += 1

    async def generate(self, request: Request, attempt: int) -> Completion:
        raise AssertionError("the world draws")

    async def close(self) -> None:
        if self._stepper is not None:
            self._stepper.cancel()
            await asyncio.gather(self._stepper, return_exceptions=True)


@dataclass(slots=True)
class World:
    """Draws samples with simulated engines."""

    limit: Capacity
    attempt: int = 1
    engines: list[SimulatedEngine] = field(default_factory=list)

    async def draw(self, engine: Engine, draw: Draw) -> None:
        assert isinstance(engine, SimulatedEngine)
        await engine.draw(draw.sample)
        self.limit.lengths.add(300 / draw.task.k, engine.lengths[draw.sample])

    def give_up(self, draw: Draw, why: str) -> None:
        raise AssertionError(why)


@dataclass(frozen=True, slots=True)
class Work:
    """A benchmark: problems, samples of each, median length, spread over problems and within one."""

    name: str
    problems: int
    k: int
    median: float
    over: float = 0.6
    within: float = 0.35


SUITES = {
    "aime": [Work("aime", 30, 64, 14_000)],
    "gpqa": [Work("gpqa", 198, 8, 7_000)],
    "reasoning": [
        Work("aime", 30, 64, 14_000),
        Work("lcb", 268, 16, 11_000),
        Work("gpqa", 198, 8, 7_000),
        Work("math500", 500, 4, 4_000),
        Work("ifeval", 541, 1, 1_500),
    ],
    "short": [Work("short", 20_000, 1, 550, 0.4, 0.2)],
}


def suite(works: Sequence[Work], folder: Path, seed: int = 7) -> tuple[list[Draw], dict[SampleId, int]]:
    """Return the draws of a suite in genbench's order, and the length of each sample."""
    rng = random.Random(seed)
    entries = ""
    lengths: dict[SampleId, int] = {}
    for work in works:
        rows = folder / f"{work.name}.jsonl"
        with rows.open("w", encoding="utf-8") as out:
            for index in range(work.problems):
                print(json.dumps({"id": f"p{index}", "question": f"{index}?", "answer": "1"}), file=out)
        fields = "{id: id, question: question, reference: answer}"
        entries += (
            f"  - {{name: {work.name}, kind: math, k: {work.k}, data: {{path: {rows}, fields: {fields}}}}}\n"
        )
        for index in range(work.problems):
            centre = math.log(work.median) + rng.gauss(0, work.over)
            for sample in range(work.k):
                length = int(math.exp(centre + rng.gauss(0, work.within)))
                lengths[SampleId(work.name, f"p{index}", sample)] = max(16, min(CAP, length))
    path = folder / "suite.yaml"
    path.write_text(f"models: {{m: {{path: nowhere}}}}\ntasks:\n{entries}", encoding="utf-8")
    read = read_suite(path)
    tasks = [load_task(read, entry, None, None) for entry in read.config.tasks]
    return missing_draws(tasks, {task.name: Drawn() for task in tasks}), lengths


def bound(lengths: dict[SampleId, int], lanes: int, slots: int) -> float:
    """Return the least seconds: full engines all the time, or the longest answer alone."""
    total, longest = sum(lengths.values()), max(lengths.values())
    seen = sum(length * length for length in lengths.values()) / (2 * total)
    together = min(slots, KV_TOKENS / seen, len(lengths) / lanes)
    step = STEP_S + (WEIGHTS + KV_BYTES * seen * together) / BANDWIDTH
    return max(total / lanes / together * step, longest * (STEP_S + WEIGHTS / BANDWIDTH))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One simulated night: its seconds, and the tokens and preemptions of each engine."""

    seconds: float
    tokens: list[int]
    preemptions: int
    real_s: float


def simulated(
    works: Sequence[Work], lanes: int, slots: int, load_s: float, *, dealt: bool, known: bool
) -> Outcome:
    """Run a suite with simulated engines.

    Args:
        load_s: seconds until the first engine is up. The others follow after as many again.
        dealt: with genbench's lanes. Otherwise every engine takes twice its slots as soon as it is up.
        known: a stored run tells the lengths (`--lengths-from`): the longest problems come first.
    """
    loop = SimulatedLoop()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        draws, lengths = suite(works, Path(folder))
    if known:
        draws = sorted(draws, key=lambda draw: -_mean_length(draw, lengths))
    engines = [SimulatedEngine(lengths, slots, load_s * (1 + (lane > 0))) for lane in range(lanes)]
    try:
        if dealt:
            loop.run_until_complete(_dealt(engines, draws, lengths if known else {}, slots))
        else:
            loop.run_until_complete(_greedy(engines, draws, slots))
        return Outcome(
            loop.now,
            [engine.tokens for engine in engines],
            sum(engine.preemptions for engine in engines),
            time.perf_counter() - began,
        )
    finally:
        loop.close()


def _mean_length(draw: Draw, lengths: dict[SampleId, int]) -> float:
    same = [lengths[SampleId(draw.task.name, draw.problem.problem_id, index)] for index in range(draw.task.k)]
    return sum(same) / len(same)


async def _dealt(
    engines: list[SimulatedEngine], draws: list[Draw], known: dict[SampleId, int], slots: int
) -> None:
    lengths = InFlightLength([known[draw.sample] for draw in draws] if known else ())
    world = World(Capacity(requests_in_flight(slots, {}), lengths))
    shared = LaneContext(world, world.limit, asyncio.Event(), print, lambda engine: None)
    lanes = [Lane(f"lane {number}", partial(_given, engine), shared) for number, engine in enumerate(engines)]
    await draw_all(lanes, shared, draws)
    for lane in lanes:
        await lane.close()


def _given(engine: SimulatedEngine) -> Engine:
    return engine


async def _greedy(engines: list[SimulatedEngine], draws: list[Draw], slots: int) -> None:
    queue = deque(draws)

    async def lane(engine: SimulatedEngine) -> None:
        await engine.start()

        async def work() -> None:
            while queue:
                await engine.draw(queue.popleft().sample)

        await asyncio.gather(*(work() for _ in range(2 * slots)))

    await asyncio.gather(*(lane(engine) for engine in engines))
    for engine in engines:
        await engine.close()


def rows(names: Sequence[str], numbers: Sequence[int], slots: int, load_s: float) -> Iterator[dict[str, Any]]:
    """Yield one row for each suite, number of lanes and way of dealing."""
    for name in names:
        for lanes in numbers:
            with tempfile.TemporaryDirectory() as folder:
                draws, lengths = suite(SUITES[name], Path(folder))
            least = bound(lengths, lanes, slots) + load_s * (1 + (lanes > 1))
            for dealt, known in ((False, False), (True, False), (True, True)):
                found = simulated(SUITES[name], lanes, slots, load_s, dealt=dealt, known=known)
                mean = sum(found.tokens) / lanes
                yield {
                    "suite": name,
                    "lanes": lanes,
                    "dealing": ("greedy", "lanes", "lanes, lengths known")[dealt + known],
                    "minutes": round(found.seconds / 60, 1),
                    "over_bound": round(found.seconds / least, 3),
                    "most_over_mean": round(max(found.tokens) / mean, 3),
                    "least_over_mean": round(min(found.tokens) / mean, 3),
                    "preemptions_per_sample": round(found.preemptions / len(draws), 2),
                    "draws_per_real_second": round(len(draws) / found.real_s),
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
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = []
    heads = ("suite", "lanes", "dealing", "min", "/bound", "max/mean", "min/mean", "preempted", "draws/s")
    print("{:10} {:>5} {:22} {:>7} {:>7} {:>8} {:>8} {:>9} {:>8}".format(*heads), flush=True)
    numbers = [int(lanes) for lanes in options.lanes.split(",")]
    for row in rows(options.suite.split(","), numbers, options.slots, options.load):
        print("{:10} {:5} {:22} {:7} {:7} {:8} {:8} {:9} {:8}".format(*row.values()), flush=True)
        found.append(row)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
