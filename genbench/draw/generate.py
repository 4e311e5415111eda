"""Draws samples turn by turn with the engines of a run, and hands over what is complete."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from genbench.draw.lanes import Lane, Shared, draw_all
from genbench.draw.queue import Draw
from genbench.errors import EngineDiedError, RequestFailedError
from genbench.models.requests import RequestMaker
from genbench.models.tokencount import Count, trace_tokens
from genbench.protocols import Engine
from genbench.types import Answer, Completion, FinishReason, Request, SampleId

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
        engines: makers of the engines that work side by side, by name; a fresh engine each call, not started.
        stored: completions on disk of samples whose conversation is not complete; turns drawn here are
            added until it is, so that a death in the middle draws none of them twice.
        split: completion -> answer, for the history of the next turn and the count of trace tokens.
        offer: takes a sample whose conversation is complete; must not block.
        workers: draws in flight per engine.
        started: told once, when the first engine is up.
        tell: takes a line for people.
        count: tokens of a text; None where there is no tokenizer.
    """

    engines: Mapping[str, Callable[[], Engine]]
    maker: RequestMaker
    sink: Sink
    split: Split
    offer: Offer
    progress: Progress
    workers: int
    attempt: int
    stop: asyncio.Event
    stored: dict[SampleId, list[Completion]]
    started: Callable[[], None]
    tell: Callable[[str], None]
    count: Count | None = None

    async def run(self, draws: Sequence[Draw]) -> None:
        """Draws all samples, or until `stop` is set.

        Raises:
            EngineError: no engine is left (each died three times with nothing finished between, or
                could not be started).
        """
        tell = self.tell if len(self.engines) > 1 else _nobody
        shared = Shared(self, self.stop, tell, self._started_once())
        lanes = [Lane(name, make, self.workers, shared) for name, make in self.engines.items()]
        syncer = asyncio.create_task(self._sync_often())
        try:
            await draw_all(lanes, shared, draws)
        finally:
            syncer.cancel()
            await asyncio.gather(syncer, return_exceptions=True)
            self.sink.sync()
            for lane in lanes:
                await lane.close()

    def _started_once(self) -> Callable[[], None]:
        told = False

        def tell() -> None:
            nonlocal told
            if not told:
                told = True
                self.started()

        return tell

    async def draw(self, engine: Engine, draw: Draw) -> None:
        """All turns of one sample that are not stored yet."""
        done = self.stored.setdefault(draw.sample, [])
        replies = [self.split(completion).text for completion in done]
        while (request := self._request(draw, replies)) is not None:
            completion = await self._complete(engine, request)
            answer = self.split(completion)
            seen = request.prompt if request.turn else None
            of_trace = await trace_tokens(completion, answer, self.count)
            completion = replace(completion, trace_tokens=of_trace, prompt=seen)
            self._keep(completion)
            done.append(completion)
            replies.append(answer.text)
            if completion.finish_reason == "error":
                break
        del self.stored[draw.sample]
        self.offer(draw, done)

    def _keep(self, completion: Completion) -> None:
        self.sink.append_completion(completion)
        self.progress(completion)

    def _request(self, draw: Draw, replies: list[str]) -> Request | None:
        return self.maker.request(draw.task, draw.problem, draw.sample_index, replies)

    async def _complete(self, engine: Engine, request: Request) -> Completion:
        if request.max_tokens == 0:
            return unanswered(request, self.attempt, "", "length")
        try:
            completion = await engine.generate(request, self.attempt)
        except RequestFailedError as error:
            return failed(request, self.attempt, str(error))
        if completion.finish_reason == "abort":
            raise EngineDiedError("the engine aborted a request that nobody cancelled")
        return completion

    def give_up(self, draw: Draw, why: str) -> None:
        """A sample that no engine could draw: it is an engine_error."""
        done = self.stored.pop(draw.sample, [])
        replies = [self.split(completion).text for completion in done]
        request = self._request(draw, replies)
        if request is None:
            raise AssertionError("a complete conversation is not drawn")
        completion = failed(request, self.attempt, why)
        self._keep(completion)
        self.offer(draw, [*done, completion])

    async def _sync_often(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_SYNC_EVERY_S)
            await loop.run_in_executor(None, self.sink.sync)


def _nobody(line: str) -> None:
    """One engine that is given up ends the run, and the error says why."""


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
