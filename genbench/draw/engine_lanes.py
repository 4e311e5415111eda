"""Engines that share one queue. Each is kept busy, replaced when it dies, and given up if that fails too."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Container, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from genbench.draw.capacity import Capacity, FinishRate
from genbench.draw.draw_queue import Draw, DrawQueue
from genbench.errors import EngineDiedError, EngineError, GenbenchError, RequestStuckError
from genbench.protocols import Engine
from genbench.types import SampleId

_STUCK_IN_A_ROW = 3
"""An engine counts as dead when so many requests got no answer, with none answered between."""
_ALONE_AFTER = 2
"""Deaths in which a sample was in flight before it is drawn alone, to find out whether it is the cause."""
_AT_A_TIME = 16
"""Samples that an engine gets together, if enough wait in it. It takes less CPU than one at a time."""
_LOOK_AGAIN_S = 0.5
"""Seconds after which an engine with free slots looks again at what waits in the others."""


class Drawer(Protocol):
    """What draws one sample with one engine, and records it."""

    def draw(self, engine: Engine, draw: Draw) -> Coroutine[Any, Any, None]:
        """Draw a sample and record it."""

    def give_up(self, draw: Draw, why: str) -> None:
        """Record that a sample could not be drawn."""


class Away:
    """The samples that engines have and that ask nothing of them: a rollout whose harness or tools work.

    They hold no place. A rollout that asks again gets its reply in any case, so an engine may have as many
    more as harnesses run at the same time (`limits.concurrent`).
    """

    def __init__(self) -> None:
        self._samples: set[SampleId] = set()
        self._listeners: set[asyncio.Event] = set()

    def among(self, samples: Container[SampleId]) -> set[SampleId]:
        """Return which of an engine's samples hold no place."""
        return {sample for sample in self._samples if sample in samples}

    def add(self, sample: SampleId) -> None:
        """Record that a sample asks nothing, and tell the engines that a place is free."""
        self._samples.add(sample)
        for event in self._listeners:
            event.set()

    def discard(self, sample: SampleId) -> None:
        """Record that a sample asks its engine, or is over."""
        self._samples.discard(sample)

    def listen(self, event: asyncio.Event) -> None:
        """Set an event whenever a place is free."""
        self._listeners.add(event)

    def ignore(self, event: asyncio.Event) -> None:
        """Set an event no more."""
        self._listeners.discard(event)


@dataclass(slots=True)
class LaneContext:
    """What all lanes of one run share.

    Args:
        drawer: draws and records one sample.
        limit: how many samples an engine has in flight.
        stop: set by signals. No further draw is taken then.
        tell: called with lines for people.
        started: called with each engine that is up.
        replaced: called with a line for people when a dead engine is followed by another one.
        deaths: by sample, the engines that died while it was in flight.
        suspects: samples that are drawn alone at the end.
        ran_dry: called when no sample waits any more.
        gives_way: an engine that ran dry is closed if another model waits for its place.
        lanes: lanes whose engine is up or coming.
        sessions: the engines at work.
        queued: by session, the samples that waited inside its engine at the time `counted`.
        facts: by lane, what its last engine reported.
        rolling: samples that no other engine may take over, because a harness runs for them.
        away: samples that hold no place at the moment.
    """

    drawer: Drawer
    limit: Capacity
    stop: asyncio.Event
    tell: Callable[[str], None]
    started: Callable[[Engine], None]
    replaced: Callable[[str], None] = lambda line: None
    ran_dry: Callable[[], None] = lambda: None
    gives_way: bool = False
    deaths: Counter[SampleId] = field(default_factory=Counter)
    suspects: list[Draw] = field(default_factory=list)
    lanes: int = 1
    sessions: list[EngineSession] = field(default_factory=list)
    queued: dict[EngineSession, int] = field(default_factory=dict)
    counted: float = -math.inf
    facts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    rolling: Container[SampleId] = ()
    away: Away = field(default_factory=Away)

    def fullest(self, now: float) -> EngineSession | None:
        """Return the session in whose engine most samples wait, or None if none waits.

        All lanes use one count, since it goes through everything in flight.
        """
        if now >= self.counted + _LOOK_AGAIN_S:
            self.counted = now
            self.queued = {session: len(session.not_begun()) for session in self.sessions}
        here = [session for session in self.sessions if self.queued.get(session)]
        return max(here, key=self.queued.__getitem__, default=None)


class EngineSession:
    """One engine at work on one queue.

    The engine gets as many samples as fit, and no more than its share of what is left, so that no engine has
    a backlog while another is idle. When the queue is empty and slots are free, it takes over what waits in
    another engine.

    Args:
        alone: one sample is drawn at a time, so that a death is its fault.
    """

    def __init__(self, shared: LaneContext, engine: Engine, queue: DrawQueue, *, alone: bool) -> None:
        self._shared, self._engine, self._queue, self.alone = shared, engine, queue, alone
        self._tasks: dict[SampleId, asyncio.Task[None]] = {}
        self._taken = 0
        self._weight = 0.0
        """The work of the samples that the engine has."""
        self._handed_over: set[SampleId] = set()
        self._changed = asyncio.Event()
        self._failure: BaseException | None = None
        self._stuck = 0
        self._looked = -math.inf
        self._rate = FinishRate()
        self.death: EngineDiedError | None = None
        self.gave_way = False
        """Whether the session ended for another model, with nothing left to do for this engine."""
        self.finished = 0

    async def run(self) -> None:
        """Draw until the queue is over, the engine is dead, or the run stops. Leave nothing in flight."""
        stopping = asyncio.ensure_future(_set_after(self._shared.stop, self._changed))
        self._queue.listen(self._changed)
        self._shared.away.listen(self._changed)
        self._shared.sessions.append(self)
        try:
            while not self._ended:
                self._changed.clear()
                await self._fill()
                await self._wait()
            if self._failure is not None:
                raise self._failure
        finally:
            self._shared.sessions.remove(self)
            self._queue.ignore(self._changed)
            self._shared.away.ignore(self._changed)
            await cancel([stopping, *self._tasks.values()])

    @property
    def _ended(self) -> bool:
        ends = (self._queue.over, self._shared.stop)
        ended = self.gave_way or self.death is not None or self._failure is not None
        return ended or any(end.is_set() for end in ends)

    @property
    def _room(self) -> int:
        """Return how many more samples the engine may get now."""
        if self.alone:
            return 1 - len(self._tasks)
        fits = self._most - self._engine.others_in_flight - self._placed
        part = self._queue.weight / max(1, self._shared.lanes) - self._weight
        mean = self._queue.weight / max(1, self._queue.size)
        return min(fits, math.ceil(part / mean - 1e-9) if mean > 0 else 0)

    @property
    def _placed(self) -> int:
        return len(self._tasks) - len(self._shared.away.among(self._tasks))

    @property
    def _waits_for_room(self) -> bool:
        """Tell whether the engine has enough to do until it gets several samples together."""
        slots, placed = self._shared.limit.slots, self._placed
        if self.alone or slots is None or self._shared.lanes > 1 or placed < slots:
            return False
        most = self._most
        return most - self._engine.others_in_flight - placed < min(_AT_A_TIME, (most - slots) // 4)

    @property
    def _most(self) -> int:
        """Return how many samples the engine may have, with those that wait in it."""
        limit, lanes = self._shared.limit, self._shared.lanes
        return limit.of(self._engine, limit.waiting(self._rate.of(limit.clock()), self._queue.waiting, lanes))

    async def _fill(self) -> None:
        """Take samples, one by one if there are several engines, so that they take turns."""
        has_enough = self._waits_for_room
        while not has_enough and not self._ended and self._room > 0:
            draw = self._queue.take(self._next_place())
            if draw is None:
                self._take_over()
                break
            self._taken += 1
            self._shared.limit.begin(draw.sample)
            self._weight += self._shared.limit.weight(draw)
            task = asyncio.ensure_future(self._shared.drawer.draw(self._engine, draw))
            self._tasks[draw.sample] = task
            task.add_done_callback(partial(self._end, draw))
            if self._shared.lanes > 1:
                await asyncio.sleep(0)
        if not self._queue.waiting:  # a single engine has all that is left, and room for no more of it
            self._shared.ran_dry()

    def _next_place(self) -> int:
        """Return the place in the queue from which the next sample is taken.

        The longest samples are at the front. An engine that is up first leaves the others theirs, since an
        engine that has all the long ones is slow.
        """
        return 0 if self.alone else self._taken * self._shared.lanes - self._queue.handed_out

    async def _wait(self) -> None:
        """Wait until something changes. Look at the other engines from time to time while slots are free."""
        self.gave_way = self._makes_way()
        if self._ended:
            return
        looks = (self._room > 0 and len(self._shared.sessions) > 1) or self._engine.others_in_flight > 0
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), _LOOK_AGAIN_S if looks else None)

    def _take_over(self) -> None:
        """Have the engine with the most waiting samples put back as many as this one has room for.

        If none waits anywhere and this engine has nothing to do, it gets what does not fit into another one.
        """
        now = asyncio.get_running_loop().time()
        if self.alone or now < self._looked + _LOOK_AGAIN_S or self.not_begun():
            return
        self._looked = now
        fullest = self._shared.fullest(now)
        if fullest is not None and fullest is not self:
            self._shared.queued[fullest] -= fullest.hand_over(fullest.not_begun()[-self._room :])
        elif fullest is None and not self._tasks:
            others = [session for session in self._shared.sessions if session is not self]
            fullest = max(others, key=lambda session: len(session.excess()), default=None)
            if fullest is not None:
                fullest.hand_over(fullest.excess()[-self._room :])

    def _makes_way(self) -> bool:
        """Tell whether this engine has nothing to do any more and another model waits for its place."""
        if self.alone or self._tasks or self._queue.waiting or not self._shared.gives_way:
            return False
        if not self._engine.is_wanted:
            return False
        others = (session for session in self._shared.sessions if session is not self)
        return not any(session.not_begun() or session.excess() for session in others)

    def not_begun(self) -> list[SampleId]:
        """Return what waits inside the engine, in the order in which it was handed to it."""
        rolling = self._shared.rolling
        return [item for item in self._tasks if item not in rolling and not self._engine.has_begun(item)]

    def excess(self) -> list[SampleId]:
        """Return what does not fit into the engine, in the order in which it was handed to it.

        When its KV cache is full, the engine sets the last requests aside until others are finished.
        """
        most, rolling = self._most, self._shared.rolling
        if self.alone or self._engine.kv_tokens is None:
            return []
        away = self._shared.away.among(self._tasks)
        placed = [sample for sample in self._tasks if sample not in away]
        return [item for item in placed[most:] if item not in rolling]

    def hand_over(self, samples: Sequence[SampleId]) -> int:
        """Put samples back, for another engine. Return how many."""
        for sample in samples:
            self._handed_over.add(sample)
            self._tasks[sample].cancel()
        return len(samples)

    def _end(self, draw: Draw, task: asyncio.Task[None]) -> None:
        """Record how the drawing of a sample ended."""
        del self._tasks[draw.sample]
        finished = not task.cancelled() and task.exception() is None
        self._shared.limit.end(draw.sample, finished=finished)
        self._weight -= self._shared.limit.weight(draw)
        if not (finished and self._waits_for_room):
            self._changed.set()
        first = draw.sample in self._handed_over
        self._handed_over.discard(draw.sample)
        if task.cancelled():
            if self.death is not None:  # it was in flight, like those that got the error
                self._again(draw, self.death)
            else:
                self._queue.put_back(draw, first=first)
            return
        match task.exception():
            case None:
                self.finished += 1
                self._rate.add(self._shared.limit.clock())
                self._stuck = 0
                self._queue.done(draw)
            case EngineDiedError() as error:
                self._die(error)
                self._again(draw, error)
            case RequestStuckError() as error:
                self._stuck += 1
                if self._stuck >= _STUCK_IN_A_ROW:
                    self._die(EngineDiedError(str(error)))
                self._again(draw, error)
            case error:
                self._failure = self._failure or error

    def _die(self, error: EngineDiedError) -> None:
        self.death = self.death or error

    def _again(self, draw: Draw, why: EngineError) -> None:
        """Draw again what was in flight at a death: alone after two deaths, and not after two more alone."""
        deaths = self._shared.deaths
        deaths[draw.sample] += 1
        if self.alone and deaths[draw.sample] >= 2 * _ALONE_AFTER:
            stuck = isinstance(why, RequestStuckError)
            did = "got no answer" if stuck else "killed the engine"
            self._shared.drawer.give_up(draw, f"{did} twice while alone: {why}")
            self._queue.done(draw)
        elif not self.alone and deaths[draw.sample] >= _ALONE_AFTER:
            self._shared.suspects.append(draw)
            self._queue.done(draw)
        else:
            self._queue.put_back(draw)


async def _set_after(first: asyncio.Event, then: asyncio.Event) -> None:
    await first.wait()
    then.set()


async def cancel(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks, and wait until all have ended."""
    waited: Sequence[asyncio.Future[Any]] = list(tasks)
    for task in waited:
        task.cancel()
    await asyncio.gather(*waited, return_exceptions=True)


_DEATHS_IN_A_ROW = 3
"""The lane is given up when so many of its engines died with nothing finished between."""

_REST_S = 0.5
"""Seconds after which a lane without an engine looks again whether it is needed."""

_GO_ON = "when that is mended, the same command goes on from what is on disk"


async def draw_all(lanes: Sequence[Lane], shared: LaneContext, draws: Iterable[Draw]) -> None:
    """Draw everything with all lanes. Then draw the samples that were in flight at two deaths one at a time.

    Raises:
        EngineError: every lane is given up. Says why.
    """
    calm = DrawQueue(draws, shared.limit.weight)
    shared.lanes = sum(lane.failure is None for lane in lanes)
    await _together([lane.draw(calm, alone=False) for lane in lanes])
    _check(lanes, shared, calm)
    suspects, shared.suspects = DrawQueue(shared.suspects, shared.limit.weight), []
    for lane in lanes:
        await lane.draw(suspects, alone=True)
    _check(lanes, shared, suspects)


def _check(lanes: Sequence[Lane], shared: LaneContext, queue: DrawQueue) -> None:
    if queue.over.is_set() or shared.stop.is_set():
        return
    failures = [lane.failure for lane in lanes if lane.failure is not None]
    reasons = "\n".join(dict.fromkeys(str(failure) for failure in failures))
    if len(failures) > 1:
        raise EngineError(f"all {len(failures)} engines are given up:\n{reasons}\n{_GO_ON}")
    raise type(failures[0])(f"{reasons}\n{_GO_ON}")


class Lane:
    """One engine of a run, and those that replace it when it dies.

    Args:
        make: returns a new engine that is not started.
    """

    def __init__(self, name: str, make: Callable[[], Engine], shared: LaneContext) -> None:
        self._name, self._make, self._shared = name, make, shared
        self._engine: Engine | None = None
        self._in_a_row: Counter[bool] = Counter()
        self.failure: GenbenchError | None = None
        """Why the lane is given up; None while it is not."""

    async def draw(self, queue: DrawQueue, *, alone: bool) -> None:
        """Draw from the queue until it is over or stopped, or this lane is given up."""
        while self.failure is None and not self._is_done(queue):
            engine = self._engine or await self._open(queue, alone=alone)
            if engine is None:
                continue
            session = EngineSession(self._shared, engine, queue, alone=alone)
            await session.run()
            if session.gave_way:
                await self._rest(queue)
            if session.death is not None:
                await self._close_dead(session, session.death)

    def _is_done(self, queue: DrawQueue) -> bool:
        return queue.over.is_set() or self._shared.stop.is_set()

    async def _rest(self, queue: DrawQueue) -> None:
        """Close the engine, so that another model can use its place. Wait until all is drawn.

        If samples come back and no other lane is left, this one continues.
        """
        await self.close()
        self._shared.lanes -= 1
        changed = asyncio.Event()
        queue.listen(changed)
        while not self._is_done(queue) and not (queue.waiting and self._shared.lanes == 0):
            changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), _REST_S)
        queue.ignore(changed)
        self._shared.lanes += 1

    async def _open(self, queue: DrawQueue, *, alone: bool) -> Engine | None:
        """Return a started engine, or None if it cannot be started or nothing is left to draw."""
        engine = self._make()
        starting = asyncio.ensure_future(engine.start())
        try:
            await _first([starting], [queue.over, self._shared.stop])
            if not starting.done():
                return None
            await starting
            self._engine = engine
        except EngineDiedError as death:
            self._died(death, alone=alone)
        except GenbenchError as error:
            self._give_up(error)
        finally:
            if self._engine is None:
                await cancel([starting])
                await engine.close()
        if self._engine is not None:
            self._shared.started(self._engine)
        return self._engine

    async def _close_dead(self, session: EngineSession, death: EngineDiedError) -> None:
        await self.close()
        if session.finished:
            self._in_a_row.clear()
        self._died(death, alone=session.alone)

    def _died(self, death: EngineDiedError, *, alone: bool) -> None:
        self._in_a_row[alone] += 1
        if self._in_a_row[alone] >= _DEATHS_IN_A_ROW:
            died = f"{_DEATHS_IN_A_ROW} engines died with nothing finished between them"
            self._give_up(EngineError(f"{died}; {death}"))
            return
        first = str(death).partition("\n")[0].rstrip(":")
        self._shared.replaced(f"{self._name}: {first}; another is started")

    def _give_up(self, error: GenbenchError) -> None:
        self.failure = error
        self._shared.lanes -= 1
        first = str(error).partition("\n")[0]
        self._shared.tell(f"{self._name} is given up: {first}")

    async def close(self) -> None:
        """Close the engine. Keep what it tells of itself."""
        engine, self._engine = self._engine, None
        if engine is not None:
            self._shared.facts[self._name] = engine.facts
            await engine.close()


Work = Sequence["asyncio.Future[Any]"]


async def _first(tasks: Work, events: Sequence[asyncio.Event]) -> None:
    """Wait until all tasks are done or one of the events is set. Raise the first error of a task."""
    waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(event.wait()) for event in events]
    left: set[asyncio.Future[Any]] = set(tasks)
    try:
        while left and not any(event.is_set() for event in events):
            done, _ = await asyncio.wait({*left, *waits}, return_when=asyncio.FIRST_COMPLETED)
            for task in left & done:
                task.result()
            left -= done
    finally:
        for wait in waits:
            wait.cancel()


async def _together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all of them. If one raises, cancel the others first."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await _first(tasks, [])
    finally:
        await cancel(tasks)
