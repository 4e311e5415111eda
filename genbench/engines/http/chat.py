"""A judge or a simulated user behind an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.engines.http.apis import finish_of, judge_api
from genbench.engines.http.server import (
    HttpServer,
    ServerAddress,
    Transient,
    TriesUsedUp,
    choice_of,
    plain,
    reply_bytes,
    said,
    without_surrogates,
)
from genbench.errors import RequestFailedError, RequestStuckError
from genbench.suite.config import Decoding
from genbench.suite.judge import JudgeServer
from genbench.types import Question


class ChatServer:
    """A judge or a simulated user behind `base_url`.

    Args:
        settings: address, model, number of requests at the same time, time limits.
        decoding: sent as far as its kind of server takes it.
        first_pause_s: the first wait before a retry. It doubles up to a minute, with jitter.
        what: what the server is, for messages.
        key: the key of the suite that names it, for messages.
    """

    def __init__(
        self,
        settings: JudgeServer,
        decoding: Decoding,
        first_pause_s: float = 0.5,
        *,
        what: str = "judge server",
        key: str = "judge.server",
    ) -> None:
        self.settings, self._decoding, self._api = settings, decoding, judge_api(settings)
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._server = HttpServer(_address(settings, what, key), first_pause_s)
        self._declared: dict[str, Any] = {}

    @property
    def retried(self) -> int:
        """Return how many tries were repeated so far."""
        return self._server.retried

    @property
    def record(self) -> Mapping[str, Any]:
        """Return what the server says of itself. The revision is declared, and nothing proves it."""
        settings = self.settings
        return {
            "base_url": settings.base_url,
            "model": settings.model,
            "revision_declared": settings.revision,
            "proven": False,
            **({"not_pinned": left} if (left := self.not_pinned) else {}),
            **self._declared,
        }

    @property
    def not_pinned(self) -> list[str]:
        """Return what shapes a reply and is left to the server, since it cannot be told it."""
        return self._api.not_pinned([self._decoding], self.settings.body)

    @property
    def workers(self) -> int:
        """Return how many questions are answered at the same time."""
        return self.settings.concurrency

    async def start(self) -> None:
        """Open the connection and ask which models are served.

        Raises:
            EngineError: the server cannot be reached.
            ConfigError: it refuses the key, or does not serve the model.
        """
        self._server.open()
        try:
            self._declared |= await self._server.persist(self._server.served, seed=0)
        except (TriesUsedUp, RequestFailedError) as error:
            raise self._server.unreachable(error) from error

    async def reply(self, question: Question) -> str:
        """Return the text of the first choice.

        Raises:
            RequestStuckError: all tries failed.
            RequestFailedError: the request is refused.
        """
        async with self._slots:
            try:
                return await self._server.persist(lambda: self._ask(question), question.seed)
            except TriesUsedUp as error:
                raise RequestStuckError(str(error)) from None

    async def _ask(self, question: Question) -> str:
        if (texts := question.structured.get("first_token")) is not None:
            record = await self._server.once("POST", "completions", self._first_token_body(question))
            return json.dumps(_first_tokens(record or {}, texts), ensure_ascii=False)
        largest = reply_bytes(question.max_tokens)
        record = await self._server.once("POST", "chat/completions", self._body(question), largest=largest)
        return _text(record or {})

    def _body(self, question: Question) -> dict[str, Any]:
        settings, api = self.settings, self._api
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": [
                {"role": item.role, "content": api.content(item.content)} for item in question.messages
            ],
            **api.sampling(self._decoding, question.max_tokens, question.seed),
        }
        if api.constrains is not None and settings.structured == "vllm" and question.structured:
            body[api.constrains] = dict(question.structured)
        if api.template_kwargs and settings.chat_template_kwargs:
            body["chat_template_kwargs"] = settings.chat_template_kwargs
        return body | settings.body

    def _first_token_body(self, question: Question) -> dict[str, Any]:
        greedy = self._decoding.model_copy(update={"temperature": 0.0})
        body = self._api.sampling(greedy, 1, question.seed)
        return {
            "model": self.settings.model,
            "prompt": "".join(item.content for item in question.messages),
            "logprobs": self._api.most_likely,
            **body,
            **self.settings.body,
        }

    async def close(self) -> None:
        """Close the connection."""
        await self._server.close()


def _address(settings: JudgeServer, what: str, key: str) -> ServerAddress:
    return ServerAddress(
        what=what,
        url_key=f"{key}.base_url",
        base_url=settings.base_url,
        model=settings.model,
        api_key_env=settings.api_key_env,
        concurrency=settings.concurrency,
        timeout_s=settings.timeout_s,
        retries=settings.retries,
        api=judge_api(settings),
        form=settings,
        replies_as=settings.replies_as,
    )


def _first_tokens(record: Mapping[str, Any], texts: Sequence[str]) -> dict[str, float | None]:
    """Return the log-probability of each text as the first token, None if it is not among the likeliest.

    Servers name tokens by their text, some of them without the blank that begins it.

    Raises:
        RequestFailedError: the server gives no log-probabilities.
    """
    rows = choice_of(record).get("logprobs")
    listed = rows.get("top_logprobs") if isinstance(rows, dict) else None
    if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
        raise RequestFailedError(
            "the server gives no logprobs of completions, and form 'first_token' reads nothing else; load "
            "the judge in this process (judge.model), or take another server"
        )
    likely = {
        text: float(value)
        for text, value in listed[0].items()
        if isinstance(value, int | float) and math.isfinite(value)
    }
    bare: dict[str, float] = {}
    for text, value in likely.items():
        bare[text.strip()] = max(value, bare.get(text.strip(), -math.inf))
    return {text: likely.get(text, bare.get(text.strip())) for text in texts}


def _text(record: Mapping[str, Any]) -> str:
    choice = choice_of(record)
    message = choice.get("message")
    if not isinstance(message, dict) or not {"content", "refusal"} & message.keys():
        raise Transient("half a reply: the choice has no message with content")
    _, text = said(message)
    if text is None:
        finish = choice.get("finish_reason")
        is_cut = isinstance(finish, str) and finish_of(finish) == "length"
        why = (
            "max_tokens of the judge's decoding ended it before its answer; a model that reasons first needs "
            "more, or none: judge.server.fields: {max_tokens: none}"
            if is_cut
            else "is a reasoning parser on?"
        )
        raise RequestFailedError(f"no text (finish_reason '{plain(str(finish))}'): {why}")
    return without_surrogates(text)
