"""A model under test behind one OpenAI-compatible server: what it is sent, and what its replies say."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from genbench.engines.http.apis import Api, finish_of
from genbench.engines.http.kind import HttpSettings
from genbench.engines.http.server import (
    HttpServer,
    Transient,
    TriesUsedUp,
    WeightWatch,
    choice_of,
    plain,
    reply_bytes,
    said,
    whole_number,
    without_surrogates,
)
from genbench.engines.likelihood import Scored, joined, scored_completion, sum_of
from genbench.errors import (
    ConfigError,
    EngineDiedError,
    EngineError,
    PromptRefusedError,
    RequestFailedError,
    RequestStuckError,
)
from genbench.protocols import Engine
from genbench.tools.calls import tagged_calls
from genbench.tools.families import parse
from genbench.types import Completion, Continuation, FinishReason, Message, Request, ScoreRequest


def chat_messages(request: Request) -> list[dict[str, Any]]:
    """Return the messages of a request as a server reads them.

    If functions are offered, the calls of earlier replies are `tool_calls` again, and each result names the
    call that it answers.
    """
    found: list[dict[str, Any]] = []
    waiting: list[str] = []
    for place, message in enumerate(request.messages):
        if message.role == "tool":
            answered = waiting.pop(0) if waiting else f"call_{place}"
            found.append({"role": "tool", "tool_call_id": answered, "content": message.content})
        elif message.role == "assistant" and request.tools:
            found.append(_reply(message, place))
            waiting = [call["id"] for call in found[-1].get("tool_calls", ())]
        else:
            found.append({"role": message.role, "content": message.content})
    return found


def _reply(message: Message, place: int) -> dict[str, Any]:
    calls = parse(message.content, "hermes").calls if "<tool_call>" in message.content else ()
    if not calls:
        return {"role": message.role, "content": message.content}
    listed = [call.tool_call(f"call_{place}_{number}") for number, call in enumerate(calls)]
    said = message.content.split("<tool_call>", 1)[0].strip()
    return {"role": message.role, "content": said or None, "tool_calls": listed}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answers to one request. `refused` is why there is no whole answer, in its words."""

    text: str
    finish: FinishReason
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    refused: str = ""


def body(settings: HttpSettings, request: Request) -> dict[str, Any]:
    """Return the request as JSON: what its kind of server takes, and what the suite adds."""
    api, decoding = settings.api, settings.decodings[request.sample.task]
    record = {"model": settings.model, **api.sampling(decoding, request.max_tokens, request.seed)}
    if settings.config.prompts == "token_ids":
        record["prompt"] = list(request.token_ids)
    else:
        record["messages"] = [
            item | {"content": api.content(item["content"])} for item in chat_messages(request)
        ]
        if request.messages and request.messages[-1].role == "assistant":
            record |= _continuation(api, request)
        if request.tools:
            record["tools"] = [dict(tool) for tool in request.tools]
        if api.template_kwargs and settings.chat_template_kwargs:
            record["chat_template_kwargs"] = dict(settings.chat_template_kwargs)
    if api.pins_eos and settings.eos_token_id is not None and not decoding.ignore_eos:
        # ignore_eos keeps away the further eos ids of a generation_config that the server may have read.
        record["stop_token_ids"] = list(dict.fromkeys([settings.eos_token_id, *decoding.stop_token_ids]))
        record["ignore_eos"] = True
    return record | dict(api.keeps_tokens) | settings.config.body


def _continuation(api: Api, request: Request) -> Mapping[str, Any]:
    """Return the fields with which a server continues the last message.

    Raises:
        EngineError: the server's interface has none.
    """
    if api.continued is None:
        raise EngineError(
            f"task {request.sample.task} gives the beginning of its answers, and {api.name} cannot continue "
            "one; set the task's option answer_prefix: false"
        )
    return api.continued


def read_reply(settings: HttpSettings, record: Mapping[str, Any], request: Request) -> Reply:
    """Return text, finish reason and token counts of a reply.

    Raises:
        Transient: the reply is not whole.
        EngineError: the server counts another prompt than was sent.
    """
    choice = choice_of(record)
    finish = choice.get("finish_reason")
    reason = finish_of(finish) if isinstance(finish, str) else None
    text = choice.get("text") if settings.config.prompts == "token_ids" else _chat_text(settings, choice)
    if text is None and reason == "content_filter":
        text = ""  # nothing of it was let through
    if not isinstance(text, str):
        raise Transient(f"half a reply: its text is {type(text).__name__}")
    if reason is None:
        shown = repr(plain(finish)) if isinstance(finish, str) else type(finish).__name__
        raise Transient(f"half a reply (finish_reason {shown})")
    usage = record.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    found, drawn = whole_number(usage.get("prompt_tokens")), whole_number(usage.get("completion_tokens"))
    if request.token_ids and found is not None and found != len(request.token_ids):
        raise EngineError(
            f"server {settings.base_urls[0]} counts {found} prompt tokens where {len(request.token_ids)} "
            "were sent: it does not take token ids as they are; set engine.prompts: chat"
        )
    refused = _filter_words(choice) if reason == "content_filter" else ""
    return Reply(without_surrogates(text), reason, found, drawn, refused)


def _filter_words(choice: Mapping[str, Any]) -> str:
    """Return what a server says of a reply that its content filter cut off."""
    found = choice.get("content_filter_results")  # Azure: {"violence": {"filtered": true, …}}
    names = [
        name
        for name, item in (found.items() if isinstance(found, dict) else ())
        if isinstance(item, dict) and item.get("filtered") is True
    ]
    return plain(f"finish_reason {choice['finish_reason']}" + (f" ({', '.join(names)})" if names else ""))


def _chat_text(settings: HttpSettings, choice: Mapping[str, Any]) -> str | None:
    """Return the reply's text, or None if it is not a text.

    A trace that the server parsed out of it is put back in front.
    """
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    calls = tagged_calls(message)
    trace, content = said(message)
    if "content" not in message and not trace and not calls and content is None:
        return None
    if calls and isinstance(content, str | None):
        content = f"{content}\n{calls}" if content else calls
    if not (isinstance(content, str | None) and isinstance(trace, str | None)):
        return None
    if not trace:
        return content or ""
    opened, closed = settings.trace_tags
    return f"{opened}{trace}{closed}{content}" if content is not None else f"{opened}{trace}"


_PROBE = Continuation(0, (5, 6), (7, 8))
"""Tokens that every vocabulary has. They differ, so that rows that are shifted are found."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One token of a reply: its log-probability and its rank, from 1."""

    logprob: float
    rank: int


def score_body(settings: HttpSettings, item: Continuation) -> dict[str, Any]:
    """Return the request for one continuation as JSON: its token ids, and one token that is drawn."""
    return {
        "model": settings.model,
        "prompt": [*item.context, *item.token_ids],
        "max_tokens": 1,
        "temperature": 0.0,
        "prompt_logprobs": 0,
        "add_special_tokens": False,
        "n": 1,
        "stream": False,
    }


async def check_scores(server: HttpServer, settings: HttpSettings, limit_s: float) -> None:
    """Let a server score a few tokens before a run depends on it. A server that is busy is not refused.

    Raises:
        ConfigError: it refuses such a request, or its reply cannot be indexed safely.
    """
    try:
        record = await server.once("POST", "completions", score_body(settings, _PROBE), limit_s)
        read_scores(settings, record or {}, _PROBE)
    except Transient:
        return
    except RequestFailedError as error:
        raise ConfigError(f"{server.address} cannot score given texts: {error}") from None
    except EngineError as error:
        raise ConfigError(str(error)) from None


def read_scores(settings: HttpSettings, record: Mapping[str, Any], item: Continuation) -> Scored:
    """Return the score of a continuation from the reply of a server.

    Every row names the token id that it is about. So positions that are shifted are found.

    Raises:
        Transient: the reply is not whole.
        EngineError: the server gives no log-probabilities of prompts, or shifted ones.
        RequestFailedError: a log-probability is not a finite number.
    """
    rows = choice_of(record).get("prompt_logprobs")
    server = f"server {settings.base_urls[0]}"
    if not isinstance(rows, list):
        raise EngineError(
            f"{server} gives no prompt_logprobs: it cannot score given texts; use a vLLM server of version "
            "0.8 or later, or engine.kind vllm"
        )
    ids = (*item.context, *item.token_ids)
    if len(rows) != len(ids):
        raise EngineError(
            f"{server} gives {len(rows)} rows of log-probabilities for {len(ids)} tokens, so their positions "
            "are shifted; use engine.kind vllm"
        )
    own = [_row(settings, row, token) for row, token in zip(rows, ids, strict=True)][len(item.context) :]
    return sum_of(item.token_ids, own, f"of {server}")


def _row(settings: HttpSettings, row: Any, token: int) -> dict[int, Entry]:
    """Return the row of a token. The first token of a prompt has none.

    Raises:
        EngineError: the row is about another token.
    """
    if row is None:
        return {}
    if not isinstance(row, dict):
        raise Transient(f"half a reply: a row of log-probabilities is {type(row).__name__}")
    found = row.get(str(token))
    if found is None and not any(key.isdecimal() for key in row):
        raise EngineError(
            f"server {settings.base_urls[0]} names the tokens of its log-probabilities by text "
            f"({', '.join(map(repr, row)):.60}), so their positions cannot be checked; use engine.kind vllm"
        )
    if found is None:
        raise EngineError(
            f"server {settings.base_urls[0]} returns shifted positions: a row has the tokens "
            f"{', '.join(map(str, row)):.60}, wanted {token}; use engine.kind vllm"
        )
    return {token: Entry(*_numbers(found))}


def _numbers(found: Any) -> tuple[float, int]:
    logprob = found.get("logprob") if isinstance(found, dict) else None
    rank = found.get("rank") if isinstance(found, dict) else None
    numbers: Sequence[Any] = (logprob, rank)
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        raise Transient("half a reply: a log-probability or its rank is not a number")
    return float(logprob), int(rank)  # type: ignore[arg-type]


_MANY = 4
"""If so many first requests are all refused, the server is to blame."""


class RefusalDetector:
    """Tells a server that refuses every request from one that refuses a single request.

    Until one request has succeeded, refused requests wait. If all requests in flight are refused, the
    server is to blame if they are many, and the requests are if they are few.
    """

    def __init__(self) -> None:
        self._in_flight = 0
        self._refused = 0
        self._known = asyncio.Event()
        self._hopeless = False

    def enter(self) -> None:
        """Count a request that is sent."""
        self._in_flight += 1

    def leave(self) -> None:
        """Count a request that has ended, however it did."""
        self._in_flight -= 1
        self._settle()

    def succeed(self) -> None:
        """Record that the server has answered a request."""
        self._known.set()

    async def refused(self, why: str) -> None:
        """Return if only the request is to blame.

        Raises:
            EngineError: the server refuses every request. `why` is its text.
        """
        self._refused += 1
        self._settle()
        try:
            await self._known.wait()
        finally:
            self._refused -= 1
        if self._hopeless:
            raise EngineError(why)

    def _settle(self) -> None:
        if not self._known.is_set() and self._refused and self._refused >= self._in_flight:
            self._hopeless = self._refused >= _MANY
            self._known.set()


T = TypeVar("T")

_LISTEN_S = 20.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_HEARTBEAT_S = 30.0
_ROW_TOKENS = 2
"""A row of log-probabilities takes at most as many bytes of JSON as two tokens of text."""
_MISSED = 3
"""Heartbeats in a row that a server may miss. A machine that is cut off closes no connection."""


class HttpEngine(Engine):
    """One server as an engine.

    Args:
        settings: exactly one base_url.
        first_pause_s: the first wait before a retry, and before a server that is gone is tried again.
    """

    def __init__(self, settings: HttpSettings, first_pause_s: float = _FIRST_PAUSE_S) -> None:
        self.settings, self._first_pause_s = settings, first_pause_s
        self._server = HttpServer(settings.address, first_pause_s)
        self._heart: asyncio.Task[None] | None = None
        self._cut_off: asyncio.Future[None] | None = None
        self._refusals = RefusalDetector()
        self._weights: WeightWatch | None = None

    async def start(self) -> None:
        """Wait until the server serves the model. It may be away for `outage_s`.

        Raises:
            EngineError: it stays away, or is another one now.
            ConfigError: it refuses the key or the model.
        """
        self._server.open()
        end, pause = time.monotonic() + self.settings.config.outage_s, self._first_pause_s
        while True:
            try:
                told = await self._server.served(_LISTEN_S)
                break
            except (Transient, RequestFailedError) as error:
                if time.monotonic() + pause > end:
                    raise self._server.unreachable(
                        f"gone for {self.settings.config.outage_s:g} s ({error})"
                    ) from None
                self._note(f"does not serve: {error}; tried again in {pause:.0f} s")
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        place = self.settings.config.weights
        if place is not None:
            read = partial(self._server.persist, partial(self._server.weights, place), 0)
            told["weights"] = await read()
            self._weights = WeightWatch(read, str(self.settings.told["weights"]))
        self._check_same(told)
        self._note("serves")
        self._cut_off = asyncio.get_running_loop().create_future()
        self._heart = asyncio.create_task(self._listen(self._cut_off))

    def _check_same(self, told: Mapping[str, Any]) -> None:
        """Refuse a server that says something else of itself than when the model was found."""
        for key, wanted in self.settings.told.items():
            if told.get(key) != wanted:
                raise EngineError(
                    f"{self._server.address}: its {key} is {told.get(key)!r}, the run began with {wanted!r}; "
                    "restore it, or begin another run"
                )

    async def _listen(self, cut_off: asyncio.Future[None]) -> None:
        missed = 0
        while missed < _MISSED:
            await asyncio.sleep(_HEARTBEAT_S)
            missed = 0 if await self._server.answers() else missed + 1
        self._note("has not answered for a while")
        cut_off.set_exception(EngineDiedError(f"{self._server.address} has not answered for a while"))
        cut_off.exception()  # seen: nobody may be waiting for it

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of one request.

        Raises:
            EngineDiedError: the server is gone.
            RequestStuckError: no answer came in all tries.
            RequestFailedError: the server refuses this request.
            EngineError: the server cannot be used at all.
        """
        started = time.monotonic()
        reply = await self._connected(partial(self._under_one_version, partial(self._answered, request)))
        return Completion(
            sample=request.sample,
            turn=request.turn,
            seed=request.seed,
            prompt_digest=request.prompt_digest,
            text=reply.text,
            finish_reason=reply.finish,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            trace_tokens=None,
            max_tokens=request.max_tokens,
            attempt=attempt,
            seconds=time.monotonic() - started,
            trace_opened=request.trace_opened,
            refused=reply.refused,
        )

    async def _under_one_version(self, draw: Callable[[], Awaitable[T]]) -> T:
        """Return a reply of weights that did not change meanwhile, if the server tells which it has."""
        return await draw() if self._weights is None else await self._weights.under(draw)

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        """Return the log-probabilities of given continuations. Errors are those of `generate`."""
        started, items = time.monotonic(), request.continuations

        async def each() -> list[Scored]:
            asked = (self._asked(request.seed, partial(self._score_once, item)) for item in items)
            return list(await asyncio.gather(*asked))

        found = await self._connected(partial(self._under_one_version, each))
        choices = joined(request, found)
        return scored_completion(request, attempt, choices, time.monotonic() - started)

    async def _score_once(self, item: Continuation) -> Scored:
        largest = reply_bytes(_ROW_TOKENS * (len(item.context) + len(item.token_ids)))
        sent = score_body(self.settings, item)
        record = await self._server.once("POST", "completions", sent, largest=largest) or {}
        return read_scores(self.settings, record, item)

    async def _connected(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Return the result of work with the server, unless the server is cut off meanwhile."""
        if self._cut_off is None:
            raise EngineDiedError(f"{self._server.address} is not asked any more")
        asked = asyncio.ensure_future(work())
        asked.add_done_callback(_seen)
        either: set[asyncio.Future[Any]] = {asked, self._cut_off}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                await self._cut_off
            return await asked
        finally:
            asked.cancel()

    async def _asked(self, seed: int, once: Callable[[], Awaitable[T]]) -> T:
        self._refusals.enter()
        try:
            reply = await self._server.persist(once, seed, self._look)
        except TriesUsedUp as error:
            raise RequestStuckError(f"{self._server.address}: {error}") from None
        except RequestFailedError as error:
            if isinstance(error, PromptRefusedError) and error.ends == "content_filter":
                self._refusals.succeed()  # it reads what it is asked
            else:
                await self._refusals.refused(f"{self._server.address} refuses every request: {error}")
            raise
        else:
            self._refusals.succeed()
            return reply
        finally:
            self._refusals.leave()

    async def _once(self, request: Request) -> Reply:
        path = "completions" if self.settings.config.prompts == "token_ids" else "chat/completions"
        sent, largest = body(self.settings, request), reply_bytes(request.max_tokens)
        record = await self._server.once("POST", path, sent, largest=largest) or {}
        return read_reply(self.settings, record, request)

    async def _answered(self, request: Request) -> Reply:
        """Return the reply to a request, or that the server refuses its prompt."""
        try:
            return await self._asked(request.seed, lambda: self._once(request))
        except PromptRefusedError as error:
            return Reply("", error.ends, completion_tokens=0, refused=str(error))

    async def _look(self, failure: Transient) -> None:
        """End all requests if a try got no HTTP answer and the server is gone."""
        if failure.unheard and not await self._server.answers():
            self._note(f"is gone: {failure}")
            raise EngineDiedError(f"{self._server.address} is gone: {failure}")

    def _note(self, text: str) -> None:
        """Write a line to the log. The folder may be full or gone, which other writers report."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        try:
            with self.settings.log.open("a", encoding="utf-8") as log:
                log.write(f"{stamp} {self._server.address} {text}\n")
        except OSError:
            return

    async def close(self) -> None:
        """Close the connections. Requests in flight end with EngineDiedError."""
        heart, self._heart, self._cut_off = self._heart, None, None
        if heart is not None:
            heart.cancel()
            await asyncio.gather(heart, return_exceptions=True)
        await self._server.close()


def _seen(asked: asyncio.Future[Any]) -> None:
    """Look at an error of a request. Otherwise asyncio prints it if the run has already ended for another."""
    if not asked.cancelled():
        asked.exception()
