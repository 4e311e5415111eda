"""Keeps the engine full: bounded workers, one queue for all tasks, engines that die and are replaced."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from genbench.errors import EngineDiedError, EngineError, RequestFailedError
from genbench.plan import Draw, RequestMaker
from genbench.protocols import Engine
from genbench.types import Answer, Completion, FinishReason, Request, SampleId

_DEATHS_IN_A_ROW = 3
"""Engines that may die with nothing finished between them before the run stops."""
_ALONE_AFTER = 2
"""Deaths that a sample has seen before it is drawn alone, so that it can be told from innocent ones."""
_SYNC_EVERY_S = 5.0


class Sink(Protocol):
    """Where completions go."""

    def append_completion(self, item: Completion) -> None: ...
    def sync(self) -> None: ...


Split = Callable[[Completion], Answer]
Offer = Callable[[Draw, list[Completion]], None]
Progress = Callable[[Completion], None]


@dataclass(slots=True)
class Generation:
    """One stretch of drawing: what to draw, with what, and whom to tell.

    Args:
        make_engine: a fresh engine, not started.
        stored: completions on disk of samples whose conversation is not complete.
        split: completion -> answer, for the history of the next turn and the count of trace tokens.
        offer: takes a sample whose conversation is complete; must not block.
        started: told once, when the first engine is up.
    """

    make_engine: Callable[[], Engine]
    maker: RequestMaker
    sink: Sink
    split: Split
    offer: Offer
    progress: Progress
    workers: int
    attempt: int
    stop: asyncio.Event
    stored: Mapping[SampleId, Sequence[Completion]]
    started: Callable[[], None]

    async def run(self, draws: Sequence[Draw]) -> None:
        """Draws all samples, or until `stop` is set.

        Raises:
            EngineError: three engines died with nothing finished between them.
        """
        pending = deque(draws)
        deaths: Counter[SampleId] = Counter()
        in_a_row: Counter[bool] = Counter()
        while pending and not self.stop.is_set():
            engine = self.make_engine()
            await engine.start()
            if not deaths:
                self.started()
            try:
                stretch = _Stretch(self, engine, pending, deaths)
                await stretch.run()
            finally:
                await engine.close()
            if stretch.death is None:
                continue
            if stretch.finished:
                in_a_row.clear()
            in_a_row[stretch.alone] += 1
            if in_a_row[stretch.alone] >= _DEATHS_IN_A_ROW:
                raise EngineError(
                    f"{_DEATHS_IN_A_ROW} engines died with nothing finished between them; {stretch.death}"
                )


class _Stretch:
    """The life of one engine."""

    def __init__(self, owner: Generation, engine: Engine, pending: deque[Draw], deaths: Counter[SampleId]):
        self._owner, self._engine, self._pending, self._deaths = owner, engine, pending, deaths
        self._suspects: deque[Draw] = deque()
        self.death: EngineDiedError | None = None
        self.finished = 0
        self.alone = False
        """The death came while samples were drawn one at a time."""

    async def run(self) -> None:
        self._part_suspects()
        syncer = asyncio.create_task(self._sync_often())
        try:
            await self._drain(self._pending, self._owner.workers)
            await self._drain(self._suspects, 1)
        finally:
            syncer.cancel()
            await asyncio.gather(syncer, return_exceptions=True)
            self._pending.extend(self._suspects)
            self._owner.sink.sync()

    def _part_suspects(self) -> None:
        """Samples that saw two deaths wait until the others are through, then go one at a time."""
        calm = [draw for draw in self._pending if self._deaths[draw.sample] < _ALONE_AFTER]
        self._suspects.extend(draw for draw in self._pending if self._deaths[draw.sample] >= _ALONE_AFTER)
        self._pending.clear()
        self._pending.extend(calm)

    async def _drain(self, queue: deque[Draw], workers: int) -> None:
        if self.death is not None or not queue or self._owner.stop.is_set():
            return
        self.alone = queue is self._suspects
        tasks = [asyncio.create_task(self._work(queue)) for _ in range(min(workers, len(queue)))]
        stopped = asyncio.create_task(self._owner.stop.wait())
        try:
            waiting: set[asyncio.Task[None]] = set(tasks)
            while waiting and not stopped.done():
                done, rest = await asyncio.wait({*waiting, stopped}, return_when=asyncio.FIRST_COMPLETED)
                waiting = {task for task in rest if task is not stopped}  # type: ignore[misc]
                for task in done:
                    task.result()
        finally:
            for task in (*tasks, stopped):
                task.cancel()
            await asyncio.gather(*tasks, stopped, return_exceptions=True)

    async def _work(self, queue: deque[Draw]) -> None:
        while queue and self.death is None:
            draw = queue.popleft()
            try:
                await self._converse(draw)
                self.finished += 1
            except EngineDiedError as error:
                self.death = error
                self._deaths[draw.sample] += 1
                if self.alone and self._deaths[draw.sample] >= 2 * _ALONE_AFTER:
                    self._give_up(draw, error)
                else:
                    queue.append(draw)
            except asyncio.CancelledError:
                queue.append(draw)
                raise

    async def _converse(self, draw: Draw) -> None:
        """All turns of one sample that are not stored yet."""
        done = list(self._owner.stored.get(draw.sample, ()))
        replies = [self._owner.split(completion).text for completion in done]
        while (request := self._request(draw, replies)) is not None:
            completion = await self._complete(request)
            answer = self._owner.split(completion)
            seen = request.prompt if request.turn else None
            completion = replace(completion, trace_tokens=trace_tokens(completion, answer), prompt=seen)
            self._owner.sink.append_completion(completion)
            self._owner.progress(completion)
            done.append(completion)
            replies.append(answer.text)
            if completion.finish_reason == "error":
                break
        self._owner.offer(draw, done)

    def _request(self, draw: Draw, replies: list[str]) -> Request | None:
        return self._owner.maker.request(draw.task, draw.problem, draw.sample_index, replies)

    async def _complete(self, request: Request) -> Completion:
        if request.max_tokens == 0:
            return unanswered(request, self._owner.attempt, "", "length")
        try:
            completion = await self._engine.generate(request, self._owner.attempt)
        except RequestFailedError as error:
            return failed(request, self._owner.attempt, str(error))
        if completion.finish_reason == "abort":
            raise EngineDiedError("the engine aborted a request that nobody cancelled")
        return completion

    def _give_up(self, draw: Draw, error: EngineDiedError) -> None:
        """A sample that killed the engine twice while it ran alone."""
        done = list(self._owner.stored.get(draw.sample, ()))
        replies = [self._owner.split(completion).text for completion in done]
        request = self._request(draw, replies)
        if request is None:
            raise AssertionError("a complete conversation is not drawn")
        completion = failed(request, self._owner.attempt, f"killed the engine twice while alone: {error}")
        self._owner.sink.append_completion(completion)
        self._owner.progress(completion)
        self._owner.offer(draw, [*done, completion])

    async def _sync_often(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_SYNC_EVERY_S)
            await loop.run_in_executor(None, self._owner.sink.sync)


def failed(request: Request, attempt: int, why: str) -> Completion:
    """The completion of a request that the engine could not answer; its sample is an engine_error."""
    return unanswered(request, attempt, why, "error")


def unanswered(request: Request, attempt: int, text: str, finish_reason: FinishReason) -> Completion:
    """A completion without a token: an error, or a conversation that has filled the context (length)."""
    return Completion(
        sample=request.sample,
        turn=request.turn,
        seed=request.seed,
        prompt_digest=request.prompt_digest,
        text=text,
        finish_reason=finish_reason,
        prompt_tokens=len(request.token_ids),
        completion_tokens=0,
        trace_tokens=0,
        max_tokens=request.max_tokens,
        attempt=attempt,
        seconds=None,
        trace_opened=request.trace_opened,
        prompt=request.prompt if request.turn else None,
    )


def trace_tokens(completion: Completion, answer: Answer) -> int | None:
    """Tokens of the trace: its share of the text's characters, rounded; exact where all or none is trace.

    Counting with the tokenizer would take the event loop's time on 30,000-token traces.
    """
    if completion.completion_tokens is None or not completion.text:
        return completion.completion_tokens
    if answer.trace_status == "absent":
        return 0
    if answer.trace_status == "unclosed":
        return completion.completion_tokens
    share = 1 - len(answer.text) / len(completion.text)
    return round(share * completion.completion_tokens)
