"""Draw samples turn by turn with the engines of a run, and pass on those that are complete."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self

from genbench.draw.capacity import Capacity
from genbench.draw.draw_queue import Draw
from genbench.draw.engine_lanes import Away, Lane, LaneContext, draw_all
from genbench.errors import RequestFailedError
from genbench.models.requests import RequestMaker
from genbench.protocols import Engine
from genbench.types import Answer, Complete, Completion, FinishReason, Request, SampleId, ScoreRequest, Split

_SYNC_EVERY_S = 5.0


class Sink(Protocol):
    """Where completions are written."""

    def append_completion(self, item: Completion) -> None:
        """Write one completion."""
        ...

    def sync(self) -> None:
        """Make sure that all that was written is on disk."""
        ...


class Rollouts(Protocol):
    """What runs the rollouts of agent harnesses."""

    async def run(
        self, draw: Draw, stored: Sequence[Completion], complete: Complete
    ) -> tuple[Request, str, bool]:
        """Run one rollout to its end.

        Args:
            stored: completions that an earlier attempt has drawn.
            complete: draws and stores one completion.

        Returns:
            The request that stands for the harness's result, the result as text, and whether a limit of the
            rollout ended it.

        Raises:
            EngineError: the engine is gone, or no rollout can be run.
        """
        ...


class RunRollouts(Rollouts, Protocol):
    """The rollouts of one attempt. Use it in `async with`."""

    @property
    def record(self) -> Mapping[str, Any]:
        """Return what is recorded of the attempt."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *error: object) -> None: ...


Offer = Callable[[Draw, list[Completion], list[Answer]], None]
Progress = Callable[[Completion], None]
More = Callable[[], Awaitable[Sequence[Draw]]]
CountTrace = Callable[[Completion, Answer], Awaitable[int | None]]


@dataclass(slots=True)
class Generation:
    """What is drawn, with which engines, and where the completions go.

    Args:
        engines: by name, what makes each engine that works in parallel. Each call makes a new one.
        stored: completions on disk of samples whose conversation is not complete. Turns drawn here are
            added until it is, so that none is drawn twice if an engine dies.
        split: completion -> answer, for the next turn and for the count of trace tokens.
        offer: called with a sample whose conversation is complete, its completions and its answers. It must
            not block.
        progress: called with each completion.
        limit: how many samples an engine has in flight.
        started: called with each engine that is up.
        tell: called with lines for people.
        count_trace: returns the tokens of a completion's trace, or None if they are unknown.
        began: called when an engine begins with a sample.
        facts: by name, what each engine reported. Filled when the engines are closed.
        ran_dry: called when no sample waits any more. Another model may then use engines that are idle.
        user: returns what a simulated user says. None: the engine says it, as ready responses do.
        rollouts: what runs the tasks of agent harnesses. None: there is none.
    """

    engines: Mapping[str, Callable[[], Engine]]
    maker: RequestMaker
    sink: Sink
    split: Split
    offer: Offer
    progress: Progress
    limit: Capacity
    attempt: int
    stop: asyncio.Event
    stored: dict[SampleId, list[Completion]]
    started: Callable[[Engine], None]
    tell: Callable[[str], None]
    count_trace: CountTrace
    began: Callable[[SampleId], None] = lambda sample: None
    facts: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    ran_dry: Callable[[], None] = lambda: None
    user: Callable[[Request], Awaitable[str]] | None = None
    rollouts: Rollouts | None = None
    rolling: set[SampleId] = field(default_factory=set)
    """Rollouts whose harness runs or waits for its turn."""
    away: Away = field(default_factory=Away)
    """Those of them that wait for no reply. They hold no place in the engine."""

    async def run(self, draws: Sequence[Draw], more: More | None = None) -> None:
        """Draw all samples, or until `stop` is set.

        Args:
            more: returns what is drawn next, with the engines that are up. Nothing ends the drawing.

        Raises:
            EngineError: no engine is left. Each could not be started, or died three times with nothing
                finished between.
        """
        tell = self.tell if len(self.engines) > 1 else _say_nothing
        shared = LaneContext(self, self.limit, self.stop, tell, self._begin, self.tell)
        shared.rolling, shared.away = self.rolling, self.away
        if more is None:
            shared.ran_dry, shared.gives_way = self.ran_dry, True
        lanes = [Lane(name, make, shared) for name, make in self.engines.items()]
        syncer = asyncio.create_task(self._sync_often())
        try:
            while draws and not self.stop.is_set():
                await draw_all(lanes, shared, draws)
                draws = () if more is None else await more()
        finally:
            gc.unfreeze()
            syncer.cancel()
            await asyncio.gather(syncer, return_exceptions=True)
            self.sink.sync()
            for lane in lanes:
                await lane.close()
            self.facts |= {name: found for name, found in shared.facts.items() if found}

    def _begin(self, engine: Engine) -> None:
        """Record that an engine is up, and keep what is loaded by now out of garbage collections.

        Each full collection goes through all objects of vLLM, torch and the tasks. That took 0.28 ms a
        sample, in pauses of 0.1 s during which the engine got no request (answers of 40 tokens, 2 cores).
        """
        gc.freeze()
        self.started(engine)

    async def draw(self, engine: Engine, draw: Draw) -> None:
        """Draw all turns of one sample that are not stored yet."""
        self.began(draw.sample)
        done = self.stored.setdefault(draw.sample, [])
        if draw.task.is_rollout and self.rollouts is not None:
            await self._roll(engine, draw, done, self.rollouts)
            del self.stored[draw.sample]
            self.offer(draw, done, [self.split(completion) for completion in done])
            return
        answers = [self.split(completion) for completion in done]
        request = await self._next(draw, answers)
        while request is not None:
            completion = await self._complete(engine, request)
            answer = self.split(completion)
            seen = request.prompt if request.turn else None
            of_trace = await self.count_trace(completion, answer)
            answers.append(answer)
            has_failed = completion.finish_reason == "error"
            request = None if has_failed else await self._next(draw, answers)
            ended = request is None and not has_failed and len(answers) < draw.problem.turns
            seen = completion.prompt or seen  # ready responses may say what was asked
            completion = replace(completion, trace_tokens=of_trace, prompt=seen, final=ended)
            self._keep(completion)
            self.limit.note(draw, completion)
            done.append(completion)
        del self.stored[draw.sample]
        self.offer(draw, done, answers)

    async def _roll(self, engine: Engine, draw: Draw, done: list[Completion], rollouts: Rollouts) -> None:
        """Run one rollout. Its last completion is the result of its harness.

        What is drawn is kept in `done` at once, so that it is replayed if the engine dies.
        """

        asking = 0

        async def complete(request: Request) -> Completion:
            nonlocal asking
            asking += 1
            self.away.discard(draw.sample)
            try:
                completion = await engine.generate(request, self.attempt)
            finally:
                asking -= 1
                if not asking and draw.sample in self.rolling:
                    self.away.add(draw.sample)
            if completion.refused and completion.completion_tokens == 0:
                # A harness is told so, and may go on with another request. It is not a turn.
                raise RequestFailedError(completion.refused)
            of_trace = await self.count_trace(completion, self.split(completion))
            completion = replace(completion, trace_tokens=of_trace, prompt=request.prompt)
            self._keep(completion)
            self.limit.note(draw, completion)
            done.append(completion)
            return completion

        self.rolling.add(draw.sample)
        self.away.add(draw.sample)
        try:
            request, text, was_cut_off = await rollouts.run(draw, tuple(done), complete)
        finally:
            self.rolling.discard(draw.sample)
            self.away.discard(draw.sample)
        ended = unanswered(request, self.attempt, text, "length" if was_cut_off else "stop")
        ended = replace(ended, prompt=None, final=True)
        self._keep(ended)
        done.append(ended)

    def _keep(self, completion: Completion) -> None:
        self.sink.append_completion(completion)
        self.progress(completion)

    async def _next(self, draw: Draw, answers: Sequence[Answer]) -> Request | None:
        """Return the next request of a sample. The engine keeps working while a slow task is asked.

        The task keeps what it found, so that the request is made from it at once.
        """
        replies = tuple(answer.text for answer in answers)
        if draw.task.is_slow:
            await asyncio.to_thread(draw.task.task.ask, draw.problem, draw.sample_index, replies)
        return self.maker.request(draw.task, draw.problem, draw.sample_index, replies)

    async def _complete(self, engine: Engine, request: Request) -> Completion:
        if request.max_tokens == 0:
            found = unanswered(request, self.attempt, "", "length")
            return found if request.turn else replace(found, refused=TOO_LONG)
        try:
            if request.speaker == "user" and self.user is not None:
                return unanswered(request, self.attempt, await self.user(request), "stop")
            if isinstance(request, ScoreRequest):
                return await engine.score(request, self.attempt)
            return await engine.generate(request, self.attempt)
        except RequestFailedError as error:
            return failed(request, self.attempt, str(error))

    def give_up(self, draw: Draw, why: str) -> None:
        """Record a sample that no engine could draw. It becomes an engine_error."""
        done = self.stored.pop(draw.sample, [])
        answers = [self.split(completion) for completion in done]
        replies = [answer.text for answer in answers]
        request = self.maker.request(draw.task, draw.problem, draw.sample_index, replies)
        if request is None:
            raise AssertionError("a complete conversation is not drawn")
        completion = failed(request, self.attempt, why)
        self._keep(completion)
        self.offer(draw, [*done, completion], [*answers, self.split(completion)])

    async def _sync_often(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(_SYNC_EVERY_S)
            await loop.run_in_executor(None, self.sink.sync)


def _say_nothing(line: str) -> None:
    """Ignore a line. With a single engine the error that ends the run says the same."""


TOO_LONG = "the prompt fills the context and leaves nothing for an answer"
"""Why a prompt is not sent at all."""


def failed(request: Request, attempt: int, why: str) -> Completion:
    """Return the completion of a request that the engine could not answer. Its sample is an engine_error."""
    return unanswered(request, attempt, why, "error")


def unanswered(request: Request, attempt: int, text: str, finish_reason: FinishReason) -> Completion:
    """Return a completion without tokens: of an error, of a full context (length), or of a simulated user."""
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
