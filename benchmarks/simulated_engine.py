"""An engine that steps like a GPU on a simulated clock, so that nights pass in seconds.

Every step computes one token for each running request. It takes as long as reading the weights and the KV
cache at the GPU's bandwidth, and prompts are computed in addition. Requests are admitted in order while slots
and KV blocks are free. The youngest is preempted and computed again when blocks run out, as vLLM does.

The constants are assumed (3B parameters in bfloat16 on an H100: 3.35 TB/s at 70 %, 80 GB). They are fitted to
no GPU.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import math
import selectors
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from genbench.protocols import Engine
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
PROMPT_TOKENS = 300
_RESERVED = 500
"""Free tokens that a new request must find, apart from its own."""


@dataclass(frozen=True, slots=True)
class Speculation:
    """Speculation that is on only while few requests run, when a step waits for the weights.

    Args:
        few: requests up to which it is on.
        gain: tokens of a step over those without it, divided by how much longer the step takes.
    """

    few: int
    gain: float


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
class _Asked:
    """A request in an engine: the tokens that it will have, and those that it had when it was admitted."""

    number: int
    length: int
    done: asyncio.Future[None]
    have: int = 0
    since: int = 0
    """Steps of the engine when it was admitted."""
    begun: bool = False


@dataclass(slots=True)
class _Running:
    """The requests that are computed. Sums are kept, so that a step costs as much for 1 as for 1,000."""

    steps: int = 0
    asked: dict[int, _Asked] = field(default_factory=dict)
    _ends: list[tuple[int, int]] = field(default_factory=list)
    _offsets: int = 0

    @property
    def used(self) -> int:
        """Return the tokens of all in the KV cache."""
        return self.steps * len(self.asked) + self._offsets

    def add(self, asked: _Asked) -> None:
        asked.since, asked.begun = self.steps, True
        self.asked[asked.number] = asked
        self._offsets += asked.have - self.steps
        heapq.heappush(self._ends, (self.steps + asked.length - asked.have, asked.number))

    def remove(self, asked: _Asked) -> None:
        del self.asked[asked.number]
        self._offsets -= asked.have - asked.since
        asked.have += self.steps - asked.since

    def next_end(self) -> int:
        """Return the steps until the next request ends."""
        while not self._is_current(self._ends[0]):
            heapq.heappop(self._ends)
        return self._ends[0][0] - self.steps

    def _is_current(self, entry: tuple[int, int]) -> bool:
        asked = self.asked.get(entry[1])
        return asked is not None and entry[0] == asked.since + asked.length - asked.have

    def ended(self) -> list[_Asked]:
        """Remove and return what has all its tokens."""
        found = []
        while self.asked and self.next_end() <= 0:
            found.append(self.asked[heapq.heappop(self._ends)[1]])
            self.remove(found[-1])
        return found


class SimulatedEngine(Engine):
    """An engine of the simulation.

    Args:
        lengths: tokens of each sample's completion.
        slots: max_num_seqs.
        load_s: seconds until it is up.
        watermark: share of the KV cache that stays free of new requests.
        speculation: None: there is none.
    """

    kv_tokens: int | None = KV_TOKENS

    def __init__(
        self,
        lengths: Mapping[SampleId, int],
        slots: int,
        load_s: float,
        watermark: float = 0.05,
        speculation: Speculation | None = None,
    ) -> None:
        self._speculation = speculation
        self.lengths, self.slots, self.load_s = lengths, slots, load_s
        self.tokens = self.preemptions = 0
        self._free_for_new = KV_TOKENS * (1 - watermark)
        self._waiting: deque[_Asked] = deque()
        self._running = _Running()
        self._own = ServedLengths(self, lengths)
        self._wake = asyncio.Event()
        self._stepper: asyncio.Task[None] | None = None
        self._numbers = itertools.count()
        self._prefill_s = 0.0

    async def start(self) -> None:
        await asyncio.sleep(self.load_s)
        self._stepper = asyncio.create_task(self._work())

    def serve(self, settings: Any) -> ServedLengths:
        """Return the engine as another model uses it, whose answers have other lengths."""
        return ServedLengths(self, settings.lengths)

    async def generate(self, request: Request, attempt: int) -> Completion:
        return await self._own.generate(request, attempt)

    def has_begun(self, sample: SampleId) -> bool:
        return self._own.has_begun(sample)

    async def compute(self, asked: _Asked) -> None:
        """Compute a request to its end."""
        asked.number = next(self._numbers)
        self._waiting.append(asked)
        if len(self._waiting) == 1:
            self._wake.set()
        try:
            await asked.done
        except asyncio.CancelledError:
            if asked in self._waiting:
                self._waiting.remove(asked)
            else:
                self._running.remove(asked)
            raise

    async def _work(self) -> None:
        """Step to the next event at a time: an end, KV blocks that run out, or a request that comes."""
        while True:
            self._wake.clear()
            self._admit()
            count = len(self._running.asked)
            if count == 0:
                await self._wake.wait()
                continue
            until_full = max(1, (KV_TOKENS - self._running.used) // count)
            steps = await self._step(min(self._running.next_end(), until_full))
            self._running.steps += steps
            self.tokens += steps * len(self._running.asked)
            for asked in self._running.ended():
                if not asked.done.done():
                    asked.done.set_result(None)
            self._preempt()

    def _admit(self) -> None:
        """Take waiting requests into free slots. Their prompts are computed first."""
        while self._waiting and len(self._running.asked) < self.slots:
            asked = self._waiting[0]
            if self._running.asked and self._running.used + asked.have + _RESERVED > self._free_for_new:
                break
            self._running.add(self._waiting.popleft())
            self._prefill_s += (asked.have + PROMPT_TOKENS) / PREFILL

    async def _step(self, most: int) -> int:
        """Return how many steps were made: `most`, or fewer if a request came that may be admitted."""
        loop = asyncio.get_running_loop()
        began, count = loop.time(), len(self._running.asked)
        first = STEP_S + (WEIGHTS + KV_BYTES * self._running.used) / BANDWIDTH
        more = KV_BYTES * count / BANDWIDTH
        if self._speculation is not None and count <= self._speculation.few:
            first, more = first / self._speculation.gain, more / self._speculation.gain
        timer = loop.call_later(self._prefill_s + _seconds(most, first, more), self._wake.set)
        await self._wake.wait()
        timer.cancel()
        passed = loop.time() - began
        prefilled = min(passed, self._prefill_s)
        self._prefill_s -= prefilled
        steps = min(most, math.ceil(_steps(passed - prefilled, first, more) - 1e-6))
        left = _seconds(steps, first, more) - (passed - prefilled)
        if left > 1e-9:
            await asyncio.sleep(left)
        return steps if len(self._running.asked) == count else 0 if steps == 0 else steps

    def _preempt(self) -> None:
        running = self._running
        while len(running.asked) > 1 and running.used + len(running.asked) > KV_TOKENS:
            youngest = running.asked[max(running.asked)]
            running.remove(youngest)
            self._waiting.appendleft(youngest)
            self.preemptions += 1

    async def close(self) -> None:
        if self._stepper is not None:
            self._stepper.cancel()
            await asyncio.gather(self._stepper, return_exceptions=True)


class ServedLengths(Engine):
    """A simulated engine as one model uses it: the lengths of its answers, and its requests."""

    kv_tokens: int | None = KV_TOKENS

    def __init__(self, engine: SimulatedEngine, lengths: Mapping[SampleId, int]) -> None:
        self._engine, self._lengths = engine, lengths
        self._asked: dict[SampleId, _Asked] = {}

    async def start(self) -> None:
        """Do nothing, since the engine is loaded."""

    async def generate(self, request: Request, attempt: int) -> Completion:
        sample, length = request.sample, self._lengths[request.sample]
        self._asked[sample] = _Asked(0, length, asyncio.get_running_loop().create_future())
        try:
            await self._engine.compute(self._asked[sample])
        finally:
            del self._asked[sample]
        return Completion(sample, 0, 0, "", "", "stop", PROMPT_TOKENS, length, 0, length, attempt, None)

    def has_begun(self, sample: SampleId) -> bool:
        asked = self._asked.get(sample)
        return asked is None or asked.begun

    async def close(self) -> None:
        """Do nothing: the engine stays up."""


def _seconds(steps: int, first: float, more: float) -> float:
    """Return the seconds of some steps, of which each takes `more` longer than the one before."""
    return steps * first + more * steps * (steps + 1) / 2


def _steps(seconds: float, first: float, more: float) -> float:
    """Return how many steps fit into some seconds."""
    half = first + more / 2
    return (math.sqrt(half * half + 2 * more * seconds) - half) / more
