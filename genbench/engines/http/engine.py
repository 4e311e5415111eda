"""A model under test behind one OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

from genbench.engines.http.messages import Reply, body, read_reply, read_scores, score_body
from genbench.engines.http.server import HttpServer, Transient, TriesUsedUp, reply_bytes
from genbench.engines.http.settings import HttpSettings
from genbench.engines.likelihood import Scored, joined, scored_completion
from genbench.errors import EngineDiedError, EngineError, RequestFailedError, RequestStuckError
from genbench.types import Completion, Continuation, Request, ScoreRequest

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


class HttpEngine:
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

    async def start(self) -> None:
        """Wait until the server serves the model. It may be away for `outage_s`.

        Raises:
            EngineError: it stays away, or is another one now.
            ConfigError: it refuses the key or the model.
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
        text, finish, tokens = await self._connected(
            lambda: self._asked(request.seed, lambda: self._once(request))
        )
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

    async def score(self, request: ScoreRequest, attempt: int) -> Completion:
        """Return the log-probabilities of given continuations. Errors are those of `generate`."""
        started, items = time.monotonic(), request.continuations

        async def each() -> list[Scored]:
            asked = (self._asked(request.seed, partial(self._score_once, item)) for item in items)
            return list(await asyncio.gather(*asked))

        found = await self._connected(each)
        choices = joined(items, found, request.sizes)
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
            await self._refusals.refused(f"{self._server.address} refuses every request: {error}")
            raise
        else:
            self._refusals.succeed()
            return reply
        finally:
            self._refusals.leave()

    async def _once(self, request: Request) -> Reply:
        path = "completions" if self.settings.prompts == "token_ids" else "chat/completions"
        sent, largest = body(self.settings, request), reply_bytes(request.max_tokens)
        record = await self._server.once("POST", path, sent, largest=largest) or {}
        return read_reply(self.settings, record, request)

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
