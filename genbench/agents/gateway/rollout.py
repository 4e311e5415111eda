"""The turns of one rollout: each request of its harness is drawn once, and a retry gets the same reply."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from genbench.agents.gateway.chat import (
    CONTEXT_CODE,
    ChatError,
    ChatReply,
    ChatRequest,
    ContextOverflowError,
    call_ids,
    read_request,
)
from genbench.agents.harnesses.plan import HarnessPlan
from genbench.errors import ContextFullError, PromptError, RequestFailedError
from genbench.tools.calls import touches_history_or_network
from genbench.tools.families import parse
from genbench.types import Complete, Completion, Message, Request, Split, ToolOffer

Ask = Callable[[int, tuple[Message, ...] | str, ToolOffer | None, int | None], Request]
"""(turn, messages or a text, functions, most new tokens) -> request. May raise PromptError."""
Read = Callable[[Any, Mapping[str, str]], ChatRequest]
"""(body, replies) -> what is asked, see `read_request`. May raise ChatError."""

_CONTEXT_WORDS = re.compile(r"(?i)\bcontext (?:length|window|size)\b|max_model_len")
"""What servers say of a prompt that fills the context."""


@dataclass(slots=True)
class _Drawn:
    """A request that was drawn or is being drawn."""

    reply: asyncio.Future[ChatReply]
    assistant_turns: int


@dataclass(slots=True)
class Rollout:
    """One rollout while its harness runs.

    Args:
        plan: limits, and the family of the function calls.
        stored: completions of this rollout that an earlier attempt has drawn.
        model, version: the name and the identity of the model, for replies.
        clock: monotonic seconds.
    """

    plan: HarnessPlan
    ask: Ask
    complete: Complete
    split: Split
    stored: Sequence[Completion]
    model: str
    version: str
    clock: Callable[[], float] = time.monotonic
    failure: BaseException | None = None
    """What ended the engine or the run meanwhile."""
    failed: asyncio.Event = field(default_factory=asyncio.Event)
    ended_by: str | None = None
    """The limit that ended the rollout: turns, tokens, clock or context."""
    requests: int = 0
    replayed: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    """How often each field of the decoding was wished, which the run decides."""
    engine_s: float = 0.0
    peer_requests: int = 0
    """Requests to the other models that take part."""
    peers_s: float = 0.0
    diverged_at: int | None = None
    """The first turn that was drawn though completions of an earlier attempt were left."""
    first_prompt: str | None = None
    touched: int = 0
    rewritten: int = 0
    """Turns whose prompt does not begin with the prompt and the text of the turn before."""
    _turns: int = 0
    _tokens: int = 0
    _waiting: defaultdict[str, list[Completion]] = field(default_factory=lambda: defaultdict(list))
    _drawn: defaultdict[str, list[_Drawn]] = field(default_factory=lambda: defaultdict(list))
    _most_turns_since: dict[str, int] = field(default_factory=dict)
    """By key, the most replies of the model in a prompt that came after it."""
    _texts: dict[str, str] = field(default_factory=dict)
    _asking: list[float] = field(default_factory=list)
    """When each request to another model began that has no reply yet."""
    _busy: int = 0
    _busy_since: float = 0.0
    _last: str = ""

    def __post_init__(self) -> None:
        self._turns = max((item.turn + 1 for item in self.stored), default=0)
        for item in self.stored:
            self._waiting[item.prompt_digest or ""].append(item)

    @property
    def turns(self) -> int:
        """Return how many completions the rollout has, those of earlier attempts among them."""
        return self._turns

    @property
    def engine_seconds(self) -> float:
        """Return the seconds in which a request waited for the engine, up to now."""
        return self.engine_s + (self.clock() - self._busy_since if self._busy else 0.0)

    @property
    def peer_seconds(self) -> float:
        """Return the seconds in which other models were asked, up to now."""
        now = self.clock()
        return self.peers_s + sum(now - began for began in self._asking)

    @contextmanager
    def asking_a_peer(self) -> Iterator[None]:
        """Count a request to another model. The harness's own time does not pass meanwhile."""
        began = self.clock()
        self.peer_requests += 1
        self._asking.append(began)
        try:
            yield
        finally:
            self._asking.remove(began)
            self.peers_s += self.clock() - began

    @property
    def times(self) -> dict[str, Any]:
        """Return what a harness with a clock of its own needs: the seconds to give back, and the limit."""
        waited = self.engine_seconds + self.peer_seconds
        return {"waited_s": round(waited, 3), "wall_s": self.plan.limits.wall_s}

    @property
    def record(self) -> dict[str, Any]:
        """Return what happened, for the result of the sample."""
        return {
            "turns": self._turns,
            "new_tokens": self._tokens,
            "requests": self.requests,
            "replayed": self.replayed,
            "asked": dict(sorted(self.asked.items())),
            "engine_s": round(self.engine_s, 3),
            **({"peer_requests": self.peer_requests} if self.peer_requests else {}),
            **({"peers_s": round(self.peers_s, 3)} if self.peer_requests else {}),
            "first_prompt": self.first_prompt,
            "touched": self.touched,
            "rewritten": self.rewritten,
            "ended_by": self.ended_by,
            "diverged_at": self.diverged_at,
        }

    async def reply(self, body: Any, read: Read = read_request) -> tuple[ChatReply, ChatRequest]:
        """Return the reply to a request. An equal request gets an equal reply, and is drawn once.

        A request is a retry unless a longer conversation came after the one that it equals: then the agent
        has begun again from there, and a new reply is drawn.

        Args:
            read: reads the body, as the API has it that is asked.

        Raises:
            ChatError: the request is refused, or a limit is reached.
        """
        self.requests += 1
        wanted = read(body, self._texts)
        self.asked.update(wanted.asked.keys())
        try:
            request = self.ask(self._turns, wanted.messages, wanted.offer, self._tokens_left())
        except ContextFullError as error:
            self.ended_by = self.ended_by or "context"
            raise ContextOverflowError(error.context, error.tokens) from None
        except PromptError as error:
            raise ChatError(str(error)) from None
        key, turns = request.prompt_digest, wanted.assistant_turns
        before = self._drawn[key]
        if before and self._most_turns_since[key] <= before[-1].assistant_turns:
            self.replayed += 1
            found = before[-1]
        else:
            found = self._begin(key, turns, request, wanted)
        self._note_later(key, turns)
        return await asyncio.shield(found.reply), wanted

    async def close(self) -> None:
        """End the requests that are being drawn."""
        replies = [drawn.reply for several in self._drawn.values() for drawn in several]
        left = [reply for reply in replies if not reply.done()]
        for reply in left:
            reply.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _note_later(self, key: str, turns: int) -> None:
        for other in self._most_turns_since:
            if other != key:
                self._most_turns_since[other] = max(self._most_turns_since[other], turns)

    def _tokens_left(self) -> int | None:
        most = self.plan.limits.tokens
        return None if most is None else max(1, most - self._tokens)

    def _begin(self, key: str, turns: int, request: Request, wanted: ChatRequest) -> _Drawn:
        loop = asyncio.get_running_loop()
        waiting = self._waiting.get(key)
        if self.first_prompt is None:
            self.first_prompt = key
        if waiting:
            stored = waiting.pop(0)
            self.replayed += 1
            found = _Drawn(loop.create_future(), turns)
            found.reply.set_result(self._made(stored, wanted.offer))
        else:
            self._check_limits()
            if any(self._waiting.values()) and self.diverged_at is None:
                self.diverged_at = self._turns
            if self.ended_by == "context":  # the harness has shortened its prompt
                self.ended_by = None
            self._turns += 1
            self.rewritten += bool(self._last) and not request.prompt.startswith(self._last)
            found = _Drawn(asyncio.ensure_future(self._draw(request, wanted.offer)), turns)
            found.reply.add_done_callback(_seen)
        self._drawn[key].append(found)
        self._most_turns_since[key] = 0
        return found

    def _check_limits(self) -> None:
        limits = self.plan.limits
        if self._turns >= limits.turns:
            self.ended_by = "turns"
            raise _used_up(f"{limits.turns} turns")
        if limits.tokens is not None and self._tokens >= limits.tokens:
            self.ended_by = "tokens"
            raise _used_up(f"{limits.tokens} tokens")

    async def _draw(self, request: Request, offer: ToolOffer | None) -> ChatReply:
        if not self._busy:
            self._busy_since = self.clock()
        self._busy += 1
        try:
            completion = await self.complete(request)
        except RequestFailedError as error:
            raise self._refused(request, str(error)) from error
        except BaseException as error:
            self.failure = self.failure or error
            self.failed.set()
            raise ChatError("the engine ended; the rollout is begun again", status=503) from error
        finally:
            self._busy -= 1
            if not self._busy:
                self.engine_s += self.clock() - self._busy_since
        return self._made(completion, offer)

    def _refused(self, request: Request, why: str) -> ChatError:
        """Return what a harness is told of a request that the engine refuses. It is not a turn.

        A server that renders prompts itself finds only then that one fills the context.
        """
        if self._turns == request.turn + 1:
            self._turns -= 1
        if _CONTEXT_WORDS.search(why):
            self.ended_by = self.ended_by or "context"
            return ChatError(why, code=CONTEXT_CODE)
        return ChatError(why)

    def _made(self, completion: Completion, offer: ToolOffer | None) -> ChatReply:
        answer = self.split(completion)
        documents = () if offer is None else offer.documents
        calls = parse(answer.text, self.plan.parser, documents).calls if documents else ()
        for name in call_ids(completion.turn, calls):
            self._texts[name] = answer.text
        self._tokens += completion.completion_tokens or 0
        self.touched += touches_history_or_network(answer.text)
        self._last = f"{completion.prompt or ''}{completion.text}"
        return ChatReply(completion, answer, calls, self.model, self.version)


def _used_up(what: str) -> ChatError:
    """Return the error of a limit. Clients repeat no request that is answered with 403."""
    return ChatError(f"the rollout has used its {what}", status=403, code="limit_reached")


def _seen(reply: asyncio.Future[ChatReply]) -> None:
    """Look at an error of a request whose client has gone."""
    if not reply.cancelled():
        reply.exception()


def outcome_text(record: Mapping[str, Any]) -> str:
    """Return the result of a rollout as text. It has no tag that would be read as a trace."""
    return json.dumps(record, ensure_ascii=True, sort_keys=True).replace("<", "\\u003c")
