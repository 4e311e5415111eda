"""A model under test behind one OpenAI-compatible server: all sampling fields said, all replies looked at."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from genbench.engines.http_server import HttpServer, ServerAddress, Transient, TriesUsedUp, choice_of
from genbench.engines.settings import HttpSettings
from genbench.errors import (
    EngineDiedError,
    EngineError,
    RequestFailedError,
    RequestStuckError,
)
from genbench.types import Completion, FinishReason, Request

_LISTEN_S = 20.0
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 15.0
_HEARTBEAT_S = 30.0
_MISSED = 3
"""Heartbeats in a row that a server may miss: a machine that is cut off closes no connection."""
_REFUSED = 4
"""First requests that are all refused say something of the server, not of the requests."""
_FINISH: Mapping[str, FinishReason] = {"length": "length"}
_BROKEN = frozenset({"abort", "error"})


class HttpEngine:
    """One server as an engine.

    Args:
        settings: of one member: exactly one base_url.
        first_pause_s: the first wait before a retry, and before a server that is gone is tried again.
    """

    def __init__(self, settings: HttpSettings, first_pause_s: float = _FIRST_PAUSE_S) -> None:
        self.settings, self._first_pause_s = settings, first_pause_s
        self._server = HttpServer(address(settings), first_pause_s)
        self._heart: asyncio.Task[None] | None = None
        self._cut_off: asyncio.Future[None] | None = None
        self._proof = _Proof()

    async def start(self) -> None:
        """Waits until the server serves the model; it may be away for `outage_s`.

        Raises:
            EngineError: it stays away, or is another one now. ConfigError: it refuses the key or the model.
        """
        self._server.open()
        end, pause = time.monotonic() + self.settings.outage_s, self._first_pause_s
        while True:
            try:
                told = await self._server.served(_LISTEN_S)
                break
            except (Transient, RequestFailedError) as error:
                if time.monotonic() + pause > end:
                    raise self._server.unreachable(
                        f"gone for {self.settings.outage_s:g} s ({error})"
                    ) from None
                self._note(f"does not serve: {error}; tried again in {pause:.0f} s")
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        self._check_same(told)
        self._note("serves")
        self._cut_off = asyncio.get_running_loop().create_future()
        self._heart = asyncio.create_task(self._listen(self._cut_off))

    def _check_same(self, told: Mapping[str, Any]) -> None:
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
        """Draws one sample's turn.

        Raises:
            EngineDiedError: the server is gone. RequestStuckError: no answer in all tries.
            RequestFailedError: the server refuses this request. EngineError: it cannot be used at all.
        """
        if self._cut_off is None:
            raise EngineDiedError(f"{self._server.address} is not asked any more")
        started = time.monotonic()
        asked = asyncio.ensure_future(self._asked(request))
        either: set[asyncio.Future[Any]] = {asked, self._cut_off}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                await self._cut_off
            text, finish, tokens = await asked
        finally:
            asked.cancel()
        return Completion(
            sample=request.sample,
            turn=request.turn,
            seed=request.seed,
            prompt_digest=request.prompt_digest,
            text=text,
            finish_reason=finish,
            prompt_tokens=tokens[0],
            completion_tokens=tokens[1],
            trace_tokens=None,
            max_tokens=request.max_tokens,
            attempt=attempt,
            seconds=time.monotonic() - started,
            trace_opened=request.trace_opened,
        )

    async def _asked(self, request: Request) -> _Reply:
        self._proof.enter()
        try:
            reply = await self._server.persist(lambda: self._once(request), request.seed, self._look)
        except TriesUsedUp as error:
            raise RequestStuckError(f"{self._server.address}: {error}") from None
        except RequestFailedError as error:
            await self._proof.refused(f"{self._server.address} refuses every request: {error}")
            raise
        else:
            self._proof.succeed()
            return reply
        finally:
            self._proof.leave()

    async def _once(self, request: Request) -> _Reply:
        path = "completions" if self.settings.prompts == "token_ids" else "chat/completions"
        record = await self._server.once("POST", path, body(self.settings, request)) or {}
        return _read(self.settings, record, request)

    async def _look(self, failure: Transient) -> None:
        """After a try without any HTTP answer: the others need not wait for a server that is gone."""
        if failure.unheard and not await self._server.answers():
            self._note(f"is gone: {failure}")
            raise EngineDiedError(f"{self._server.address} is gone: {failure}")

    def _note(self, text: str) -> None:
        """A line in the run folder's log; the folder may be full or gone, which others will tell."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        try:
            with self.settings.log.open("a", encoding="utf-8") as log:
                log.write(f"{stamp} {self._server.address} {text}\n")
        except OSError:
            return

    async def close(self) -> None:
        heart, self._heart, self._cut_off = self._heart, None, None
        if heart is not None:
            heart.cancel()
            await asyncio.gather(heart, return_exceptions=True)
        await self._server.close()


_Reply = tuple[str, FinishReason, tuple[int | None, int | None]]
"""Text, finish reason, (prompt tokens, completion tokens)."""


def address(settings: HttpSettings) -> ServerAddress:
    """Where the one server of a member is."""
    return ServerAddress(
        what="server",
        url_key="engine.base_urls",
        base_url=settings.base_urls[0],
        model=settings.model,
        api_key_env=settings.api_key_env,
        concurrency=settings.concurrency,
        timeout_s=settings.timeout_s,
        retries=settings.retries,
    )


def body(settings: HttpSettings, request: Request) -> dict[str, Any]:
    """The request as JSON; what is left out is filled by the server from the checkpoint's own defaults."""
    decoding = settings.decodings[request.sample.task]
    record: dict[str, Any] = {
        "model": settings.model,
        "n": 1,
        "stream": False,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "presence_penalty": decoding.presence_penalty,
        "frequency_penalty": decoding.frequency_penalty,
        "max_tokens": request.max_tokens,
        "seed": request.seed,
        "stop": list(decoding.stop),
    }
    if settings.prompts == "token_ids":
        record["prompt"] = list(request.token_ids)
    else:
        record["messages"] = [{"role": item.role, "content": item.content} for item in request.messages]
    return record | (_vllm_fields(settings, request) if settings.api == "vllm" else {})


def _vllm_fields(settings: HttpSettings, request: Request) -> dict[str, Any]:
    decoding = settings.decodings[request.sample.task]
    stop_ids, ignore_eos = list(decoding.stop_token_ids), decoding.ignore_eos
    if settings.eos_token_id is not None and not ignore_eos:
        # ignore_eos keeps away the further eos ids of a generation_config that the server may have read.
        stop_ids, ignore_eos = list(dict.fromkeys([settings.eos_token_id, *stop_ids])), True
    record: dict[str, Any] = {
        "top_k": decoding.top_k,
        "min_p": decoding.min_p,
        "repetition_penalty": decoding.repetition_penalty,
        "min_tokens": decoding.min_tokens,
        "stop_token_ids": stop_ids,
        "ignore_eos": ignore_eos,
        "skip_special_tokens": False,
        "spaces_between_special_tokens": False,
        "include_stop_str_in_output": False,
        "add_special_tokens": False,
    }
    if decoding.thinking_token_budget is not None:
        record["thinking_token_budget"] = decoding.thinking_token_budget
    if settings.prompts == "chat" and settings.chat_template_kwargs:
        record["chat_template_kwargs"] = dict(settings.chat_template_kwargs)
    return record


def _read(settings: HttpSettings, record: Mapping[str, Any], request: Request) -> _Reply:
    """What a reply says.

    Raises:
        Transient: it is not whole. EngineError: the server counts another prompt than was sent.
    """
    choice = choice_of(record)
    finish = choice.get("finish_reason")
    text = choice.get("text") if settings.prompts == "token_ids" else _chat_text(settings, choice)
    if not isinstance(text, str) or not isinstance(finish, str) or finish in _BROKEN:
        raise Transient(f"half a reply (finish_reason {finish!r})")
    usage = record.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    found, drawn = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if request.token_ids and found is not None and found != len(request.token_ids):
        raise EngineError(
            f"server {settings.base_urls[0]} counts {found} prompt tokens where {len(request.token_ids)} "
            "were sent: it does not take token ids as they are; set engine.prompts: chat"
        )
    return text, _FINISH.get(finish, "stop"), (found, drawn)


def _chat_text(settings: HttpSettings, choice: Mapping[str, Any]) -> str | None:
    """The reply with its trace in front, where the server parsed one out of it."""
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    trace = message.get("reasoning") or message.get("reasoning_content")
    content = message.get("content")
    if not trace:
        return content or "" if "content" in message else None
    opened, closed = settings.trace_tags
    return f"{opened}{trace}{closed}{content}" if content is not None else f"{opened}{trace}"


class _Proof:
    """Tells a server that refuses everything from a request that is refused.

    Until one request has succeeded, refused ones wait; when all in flight are refused they are the
    server's doing if they are many, and their own if they are few.
    """

    def __init__(self) -> None:
        self._in_flight = 0
        self._refused = 0
        self._known = asyncio.Event()
        self._hopeless = False

    def enter(self) -> None:
        self._in_flight += 1

    def leave(self) -> None:
        self._in_flight -= 1
        self._settle()

    def succeed(self) -> None:
        self._known.set()

    async def refused(self, why: str) -> None:
        """Returns where the request alone is to blame.

        Raises:
            EngineError: the server refuses everything.
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
            self._hopeless = self._refused >= _REFUSED
            self._known.set()
