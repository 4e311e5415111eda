"""Engines that share one queue. Each is kept busy, replaced when it dies, and given up if that fails too."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from genbench.draw.queue import Draw
from genbench.errors import EngineDiedError, EngineError, GenbenchError, RequestStuckError
from genbench.protocols import Engine
from genbench.types import SampleId

_DEATHS_IN_A_ROW = 3
"""The lane is given up when so many of its engines died with nothing finished between."""
_STUCK_IN_A_ROW = 3
"""An engine counts as dead when so many requests got no answer, with none answered between."""
_ALONE_AFTER = 2
"""Deaths in which a sample was in flight before it is drawn alone, to find out whether it is the cause."""

_GO_ON = "when that is mended, the same command goes on from what is on disk"


class Drawer(Protocol):
    """What draws one sample with one engine, and records it."""

    async def draw(self, engine: Engine, draw: Draw) -> None:
        """Draw a sample and record it."""

    def give_up(self, draw: Draw, why: str) -> None:
        """Record that a sample could not be drawn."""


class DrawQueue:
    """A queue of draws. It is over when none waits and none is being drawn, since those may come back."""

    def __init__(self, draws: Iterable[Draw]) -> None:
        self._waiting = deque(draws)
        self._taken = 0
        self._change = asyncio.Event()
        self.over = asyncio.Event()
        self._settle()

    @property
    def size(self) -> int:
        """Return how many draws wait or are being drawn."""
        return len(self._waiting) + self._taken

    async def take(self) -> Draw | None:
        """Return the next draw, or None if the queue is over. Wait while draws in flight may come back."""
        while not self._waiting:
            if self.over.is_set():
                return None
            await self._change.wait()
        self._taken += 1
        return self._waiting.popleft()

    def done(self) -> None:
        """Record that a draw that was taken is finished."""
        self._taken -= 1
        self._settle()

    def put_back(self, draw: Draw) -> None:
        """Return a draw that was taken to the end of the queue."""
        self._taken -= 1
        self._waiting.append(draw)
        self._wake()

    def _settle(self) -> None:
        if not self._waiting and not self._taken:
            self.over.set()
            self._wake()

    def _wake(self) -> None:
        """Wake idle workers. Only these two moments do, as hundreds of workers wait at the end of a run."""
        self._change.set()
        self._change = asyncio.Event()


@dataclass(slots=True)
class LaneContext:
    """What all lanes of one run share.

    Args:
        drawer: draws and records one sample.
        stop: set by signals. No further draw is taken then.
        tell: called with lines for people.
        started: called when an engine is up.
        replaced: called with a line for people when a dead engine is followed by another one.
        deaths: by sample, the engines that died while it was in flight.
        suspects: samples that are drawn alone at the end.
    """

    drawer: Drawer
    stop: asyncio.Event
    tell: Callable[[str], None]
    started: Callable[[], None]
    replaced: Callable[[str], None] = lambda line: None
    deaths: Counter[SampleId] = field(default_factory=Counter)
    suspects: list[Draw] = field(default_factory=list)


async def draw_all(lanes: Sequence[Lane], shared: LaneContext, draws: Iterable[Draw]) -> None:
    """Draw everything with all lanes. Then draw the samples that were in flight at two deaths one at a time.

    Raises:
        EngineError: every lane is given up. Says why.
    """
    calm = DrawQueue(draws)
    await _together([lane.draw(calm, alone=False) for lane in lanes])
    _check(lanes, shared, calm)
    suspects, shared.suspects = DrawQueue(shared.suspects), []
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
        workers: samples that are drawn at the same time.
    """

    def __init__(self, name: str, make: Callable[[], Engine], workers: int, shared: LaneContext) -> None:
        self._name, self._make, self._workers, self._shared = name, make, workers, shared
        self._engine: Engine | None = None
        self._in_a_row: Counter[bool] = Counter()
        self.failure: GenbenchError | None = None
        """Why the lane is given up; None while it is not."""

    async def draw(self, queue: DrawQueue, *, alone: bool) -> None:
        """Draw from the queue until it is over or stopped, or this lane is given up."""
        while self.failure is None and not queue.over.is_set() and not self._shared.stop.is_set():
            engine = self._engine or await self._open(queue, alone=alone)
            if engine is None:
                continue
            session = EngineSession(self._shared, engine, queue, alone=alone)
            await session.run(1 if alone else self._workers)
            if session.death is not None:
                await self._close_dead(session, session.death)

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
                await _cancel([starting])
                await engine.close()
        if self._engine is not None:
            self._shared.started()
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
        first = str(error).partition("\n")[0]
        self._shared.tell(f"{self._name} is given up: {first}")

    async def close(self) -> None:
        """Close the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()


class EngineSession:
    """One engine at work on one queue.

    Args:
        alone: one sample is drawn at a time, so that a death is its fault.
    """

    def __init__(self, shared: LaneContext, engine: Engine, queue: DrawQueue, *, alone: bool) -> None:
        self._shared, self._engine, self._queue, self.alone = shared, engine, queue, alone
        self._died = asyncio.Event()
        self._stuck = 0
        self.death: EngineDiedError | None = None
        self.finished = 0

    async def run(self, workers: int) -> None:
        """Draw until the queue is over, the engine is dead, or the run stops. Leave nothing in flight."""
        tasks = [asyncio.ensure_future(self._work()) for _ in range(min(workers, self._queue.size))]
        try:
            await _first(tasks, [self._died, self._shared.stop])
        finally:
            await _cancel(tasks)

    async def _work(self) -> None:
        while not self._died.is_set() and (draw := await self._queue.take()) is not None:
            try:
                await self._shared.drawer.draw(self._engine, draw)
            except EngineDiedError as error:
                self._die(error)
                self._again(draw, error)
            except RequestStuckError as error:
                self._stuck += 1
                if self._stuck >= _STUCK_IN_A_ROW:
                    self._die(EngineDiedError(str(error)))
                self._again(draw, error)
            except asyncio.CancelledError:
                if self.death is not None:  # it was in flight, like those that got the error
                    self._again(draw, self.death)
                else:
                    self._queue.put_back(draw)
                raise
            else:
                self.finished += 1
                self._stuck = 0
                self._queue.done()

    def _die(self, error: EngineDiedError) -> None:
        self.death = self.death or error
        self._died.set()

    def _again(self, draw: Draw, why: EngineError) -> None:
        """Draw again what was in flight at a death: alone after two deaths, and not after two more alone."""
        deaths = self._shared.deaths
        deaths[draw.sample] += 1
        if self.alone and deaths[draw.sample] >= 2 * _ALONE_AFTER:
            stuck = isinstance(why, RequestStuckError)
            did = "got no answer" if stuck else "killed the engine"
            self._shared.drawer.give_up(draw, f"{did} twice while alone: {why}")
            self._queue.done()
        elif not self.alone and deaths[draw.sample] >= _ALONE_AFTER:
            self._shared.suspects.append(draw)
            self._queue.done()
        else:
            self._queue.put_back(draw)


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


async def _cancel(tasks: Work) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _together(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all of them. If one raises, cancel the others first."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await _first(tasks, [])
    finally:
        await _cancel(tasks)
