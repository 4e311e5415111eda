"""One rollout: a retry is drawn once, a new beginning is drawn again, and what is stored is replayed."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from genbench.agents.gateway.chat import ChatError
from genbench.agents.gateway.rollout import Rollout, outcome_text
from genbench.agents.harnesses.plan import HarnessPlan, Limits
from genbench.errors import ContextFullError, EngineDiedError, RequestFailedError
from genbench.types import Answer, Completion, Message, Request, SampleId, ToolOffer

SAMPLE = SampleId("t", "p", 0)


class Run:
    """The engine of a run: every draw gets a text with its number and seed."""

    def __init__(self, limits: dict[str, Any] | None = None, stored: Sequence[Completion] = ()) -> None:
        self.drawn: list[Completion] = []
        self.slow = asyncio.Event()
        self.slow.set()
        self.error: BaseException | None = None
        self.asked: list[int | None] = []
        plan = HarnessPlan("command", ("x",), {}, Limits.model_validate(limits or {}), "1")
        self.rollout = Rollout(plan, self.ask, self.complete, split, stored, "m", "w")

    def ask(
        self, turn: int, messages: tuple[Message, ...] | str, offer: ToolOffer | None, most: int | None
    ) -> Request:
        assert not isinstance(messages, str)
        self.asked.append(most)
        text = "|".join(f"{item.role}:{item.content}" for item in messages)
        if len(text) > 400:
            raise ContextFullError(len(text), 400)
        digest = hashlib.sha256(text.encode()).hexdigest()
        return Request(SAMPLE, turn, (1, 2), 100 + turn, 16, digest, text, messages=messages)

    async def complete(self, request: Request) -> Completion:
        await self.slow.wait()
        if self.error is not None:
            raise self.error
        self.drawn.append(completion(request.turn, request.prompt_digest, request.seed, request.prompt))
        return self.drawn[-1]


def completion(turn: int, digest: str, seed: int, prompt: str) -> Completion:
    return Completion(
        sample=SAMPLE,
        turn=turn,
        seed=seed,
        prompt_digest=digest,
        text=f"reply {turn}",
        finish_reason="stop",
        prompt_tokens=5,
        completion_tokens=3,
        trace_tokens=0,
        max_tokens=16,
        attempt=1,
        seconds=0.1,
        prompt=prompt,
    )


def split(item: Completion) -> Answer:
    return Answer(item.text, "absent", "", False)


def body(*said: str) -> dict[str, Any]:
    roles = ["user", "assistant"]
    return {"messages": [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]}


async def text(run: Run, *said: str) -> str:
    reply, _ = await run.rollout.reply(body(*said))
    return reply.answer.text


def test_a_retry_gets_the_same_reply_and_is_drawn_once() -> None:
    async def play() -> None:
        run = Run()
        assert [await text(run, "a") for _ in range(3)] == ["reply 0"] * 3
        assert await text(run, "a", "reply 0", "b") == "reply 1"
        assert await text(run, "a", "reply 0", "b") == "reply 1"
        assert [item.turn for item in run.drawn] == [0, 1]
        record = run.rollout.record
        assert (record["turns"], record["requests"], record["replayed"]) == (2, 5, 3)

    asyncio.run(play())


def test_requests_that_come_while_the_first_is_drawn_wait_for_it() -> None:
    async def play() -> None:
        run = Run()
        run.slow.clear()
        first = asyncio.create_task(text(run, "a"))
        second = asyncio.create_task(text(run, "a"))
        await asyncio.sleep(0)
        first.cancel()  # its client has gone
        await asyncio.sleep(0)
        run.slow.set()
        assert await second == "reply 0"
        assert len(run.drawn) == 1

    asyncio.run(play())


def test_an_agent_that_begins_again_gets_a_new_reply() -> None:
    async def play() -> None:
        run = Run()
        assert await text(run, "a") == "reply 0"
        assert await text(run, "a", "reply 0", "b") == "reply 1"
        assert await text(run, "a") == "reply 2"
        assert await text(run, "a") == "reply 2"
        assert [item.seed for item in run.drawn] == [100, 101, 102]

    asyncio.run(play())


def test_what_an_earlier_attempt_drew_is_replayed_in_its_order() -> None:
    async def play() -> None:
        first = Run()
        for said in (("a",), ("a", "reply 0", "b"), ("a",)):
            await text(first, *said)
        second = Run(stored=first.drawn)
        assert await text(second, "a") == "reply 0"
        assert await text(second, "a", "reply 0", "b") == "reply 1"
        assert await text(second, "a") == "reply 2"
        assert second.drawn == []
        assert await text(second, "a", "reply 2", "c") == "reply 3"
        assert [item.turn for item in second.drawn] == [3]
        assert second.rollout.diverged_at is None

    asyncio.run(play())


def test_a_rollout_that_takes_another_way_than_the_stored_one_says_where() -> None:
    async def play() -> None:
        first = Run()
        await text(first, "a")
        await text(first, "a", "reply 0", "b")
        second = Run(stored=first.drawn)
        await text(second, "a")
        assert await text(second, "a", "reply 0", "other") == "reply 2"
        assert second.rollout.record["diverged_at"] == 2

    asyncio.run(play())


def test_limits_end_a_rollout_with_a_refusal_that_is_not_tried_again() -> None:
    async def play() -> None:
        run = Run({"turns": 1})
        await text(run, "a")
        with pytest.raises(ChatError, match="used its 1 turns") as error:
            await text(run, "a", "reply 0", "b")
        assert error.value.status == 403
        assert run.rollout.ended_by == "turns"
        assert await text(run, "a") == "reply 0"

        run = Run({"tokens": 4})
        await text(run, "a")
        await text(run, "a", "reply 0", "b")
        with pytest.raises(ChatError, match="used its 4 tokens"):
            await text(run, "a", "reply 0", "b", "reply 1", "c")
        assert run.rollout.ended_by == "tokens"
        assert run.asked == [4, 1, 1]

    asyncio.run(play())


def test_a_prompt_that_fills_the_context_is_refused_in_known_words() -> None:
    async def play() -> None:
        run = Run()
        with pytest.raises(ChatError, match="maximum context length is 400 tokens"):
            await text(run, "a" * 500)
        assert run.rollout.ended_by == "context"
        assert await text(run, "a summary") == "reply 0"
        assert run.rollout.ended_by is None

    asyncio.run(play())


def test_a_request_that_the_engine_refuses_is_told_to_the_harness_and_is_no_turn() -> None:
    async def play() -> None:
        run = Run()
        await text(run, "a")
        run.error = RequestFailedError("This model's maximum context length is 9 tokens.")
        for _ in range(2):  # the second is not sent to the engine
            with pytest.raises(ChatError, match="maximum context length is 9") as error:
                await text(run, "a", "reply 0", "long")
            assert (error.value.status, error.value.code) == (400, "context_length_exceeded")
        assert run.rollout.ended_by == "context"
        assert run.rollout.failure is None
        run.error = None
        assert await text(run, "a", "reply 0", "short") == "reply 1"
        assert [item.turn for item in run.drawn] == [0, 1]
        assert run.rollout.record["ended_by"] is None

        other = Run()
        other.error = RequestFailedError("an image is missing")
        with pytest.raises(ChatError, match="an image is missing"):
            await text(other, "a")
        assert other.rollout.ended_by is None

    asyncio.run(play())


def test_the_death_of_the_engine_ends_the_rollout() -> None:
    async def play() -> None:
        run = Run()
        run.error = EngineDiedError("gone")
        with pytest.raises(ChatError) as error:
            await text(run, "a")
        assert error.value.status == 503
        assert run.rollout.failure is run.error
        assert run.rollout.failed.is_set()

    asyncio.run(play())


def test_time_of_the_engine_is_counted_once_for_requests_at_the_same_time() -> None:
    async def play() -> None:
        run = Run()
        now = [0.0]
        run.rollout.clock = lambda: now[0]
        run.slow.clear()
        both = [asyncio.create_task(text(run, name)) for name in ("a", "b")]
        while len(run.asked) < 2 or not run.rollout._busy:  # noqa: ASYNC110  nothing tells of the draw
            await asyncio.sleep(0)
        now[0] = 5.0
        assert run.rollout.engine_seconds == 5.0
        run.slow.set()
        await asyncio.gather(*both)
        assert run.rollout.engine_s == 5.0

    asyncio.run(play())


@pytest.mark.parametrize(
    ("said", "touched"),
    [
        ("git log --all -S fix", True),
        ("git show 3f2a9c1b", True),
        ("curl https://example.org", True),
        ("pip download numpy", True),
        ("git log -3", False),
        ("git status", False),
        ("ls curled", False),
    ],
)
def test_commands_that_may_find_the_solution_are_counted(said: str, touched: bool) -> None:
    async def play() -> None:
        run = Run()
        draw = run.complete

        async def complete(request: Request) -> Completion:
            return replace(await draw(request), text=said)

        run.rollout.complete = complete
        await text(run, "a")
        assert run.rollout.touched == touched

    asyncio.run(play())


def test_a_result_has_no_tag_that_would_be_read_as_a_trace() -> None:
    assert "<" not in outcome_text({"detail": {"why": "<think>x</think>"}})
