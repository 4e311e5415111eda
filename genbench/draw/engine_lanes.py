"""Engines that share one queue. Each is kept busy, replaced when it dies, and given up if that fails too."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from typing import Any

from genbench.draw.draw_order import Draw
from genbench.draw.engine_session import EngineSession, LaneContext, cancel
from genbench.draw.request_queue import DrawQueue
from genbench.errors import EngineDiedError, EngineError, GenbenchError
from genbench.protocols import DescribedEngine, Engine

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
            if isinstance(engine, DescribedEngine):
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
