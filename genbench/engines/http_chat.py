"""Chats with an OpenAI-compatible server: bounded, retried, and never believed without a look."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Self

import httpx

from genbench.config import Decoding, JudgeServer
from genbench.errors import ConfigError, EngineError, RequestFailedError
from genbench.types import Question

_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0
_LONGEST_RETRY_AFTER_S = 300.0


class _Transient(Exception):  # noqa: N818  becomes RequestFailedError when the retries are used up
    def __init__(self, why: str, pause_s: float | None = None) -> None:
        super().__init__(why)
        self.pause_s = pause_s


class ChatServer:
    """A judge behind `base_url`.

    Args:
        settings: where, whom, how many at once and how patiently.
        decoding: sent whole, since servers fill gaps from the checkpoint's generation_config.
        first_pause_s: the first wait before a retry; it doubles up to a minute, with jitter.
    """

    def __init__(
        self, settings: JudgeServer, decoding: Decoding, first_pause_s: float = _FIRST_PAUSE_S
    ) -> None:
        self.settings, self._decoding, self._first_pause_s = settings, decoding, first_pause_s
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._headers = _headers(settings)
        self._client: httpx.AsyncClient | None = None
        self._declared: dict[str, Any] = {}
        self.retried = 0

    @property
    def record(self) -> Mapping[str, Any]:
        """What the server says of itself; its revision is declared, nothing proves it."""
        settings = self.settings
        return {
            "base_url": settings.base_url,
            "model": settings.model,
            "revision_declared": settings.revision,
            "proven": False,
            **self._declared,
        }

    async def start(self) -> None:
        """Opens the connection and asks which models are served.

        Raises:
            EngineError: the server cannot be reached. ConfigError: it refuses the key, or the model.
        """
        limit = self.settings.timeout_s
        self._client = httpx.AsyncClient(
            base_url=self.settings.base_url.rstrip("/") + "/", headers=self._headers, timeout=limit
        )
        try:
            models = await self._persist("GET", "models", None, seed=0)
        except RequestFailedError as error:
            raise EngineError(
                f"judge server {self.settings.base_url}: {error}; start it, or mend judge.server.base_url"
            ) from error
        self._check_models(models)
        self._declared["version"] = await self._version()

    def _check_models(self, models: Mapping[str, Any] | None) -> None:
        """Servers without /models (None) are believed until their replies name another model."""
        listed = models.get("data") if models else None
        found = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        names = [str(item.get("id")) for item in found]
        if names and self.settings.model not in names:
            raise ConfigError(
                f"judge server {self.settings.base_url} does not serve '{self.settings.model}'; "
                f"it serves: {', '.join(names[:10])}"
            )
        own = next((item for item in found if item.get("id") == self.settings.model), {})
        self._declared |= {key: own[key] for key in ("root", "max_model_len", "owned_by") if key in own}

    async def _version(self) -> str | None:
        """vLLM tells its version beside /v1; others do not."""
        if self._client is None:
            raise AssertionError("asked before start")
        try:
            reply = await self._client.get(httpx.URL(self.settings.base_url).join("/version"), timeout=5.0)
            version = reply.json().get("version")
        except (httpx.HTTPError, ValueError, AttributeError):
            return None
        return str(version) if version else None

    async def reply(self, question: Question) -> str:
        """The first choice's text.

        Raises:
            RequestFailedError: the retries are used up, or the request itself is refused.
        """
        async with self._slots:
            record = await self._persist("POST", "chat/completions", self._body(question), question.seed)
        if record is None:
            raise RequestFailedError(f"{self.settings.base_url} has no /chat/completions")
        return str(record["choices"][0]["message"]["content"])

    def _body(self, question: Question) -> dict[str, Any]:
        settings, decoding = self.settings, self._decoding
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": [{"role": item.role, "content": item.content} for item in question.messages],
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "presence_penalty": decoding.presence_penalty,
            "frequency_penalty": decoding.frequency_penalty,
            "max_tokens": question.max_tokens,
            "seed": question.seed,
            "n": 1,
        }
        if settings.structured == "vllm":
            body |= {
                "top_k": decoding.top_k,
                "min_p": decoding.min_p,
                "repetition_penalty": decoding.repetition_penalty,
                "structured_outputs": dict(question.structured),
            }
            if settings.chat_template_kwargs:
                body["chat_template_kwargs"] = settings.chat_template_kwargs
        return body

    async def _persist(
        self, method: str, path: str, body: dict[str, Any] | None, seed: int
    ) -> dict[str, Any] | None:
        jitter = random.Random(seed)
        for attempt in range(self.settings.retries + 1):
            try:
                return await self._once(method, path, body)
            except _Transient as failure:
                if attempt == self.settings.retries:
                    tries = f"{attempt + 1} tries" if attempt else "one try"
                    raise RequestFailedError(f"no usable reply in {tries}; the last: {failure}") from None
                pause = min(self._first_pause_s * 2**attempt, _LONGEST_PAUSE_S)
                pause *= 0.5 + jitter.random()
                self.retried += 1
                await asyncio.sleep(pause if failure.pause_s is None else failure.pause_s)
        raise AssertionError("the loop returns or raises")

    async def _once(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any] | None:
        if self._client is None:
            raise AssertionError("asked before start")
        try:
            # httpx limits the wait for each piece; a server that trickles must end as well.
            async with asyncio.timeout(self.settings.timeout_s):
                response = await self._client.request(method, path, json=body)
        except TimeoutError:
            raise _Transient(f"no reply within {self.settings.timeout_s:g} s") from None
        except httpx.TransportError as error:
            raise _Transient(f"{type(error).__name__}: {error}") from None
        if response.status_code in _RETRIED:
            raise _Transient(f"status {response.status_code}", _retry_after(response))
        if response.status_code == 404 and method == "GET":
            return None
        if response.status_code in (401, 403):
            named = self.settings.api_key_env
            hint = f"look at the key in {named}" if named else "name the key's variable: server.api_key_env"
            raise ConfigError(f"judge server {self.settings.base_url} refuses us; {hint}")
        if response.status_code >= 400:
            raise RequestFailedError(f"status {response.status_code}: {response.text[:200]}")
        return self._checked(response, chat=method == "POST")

    def _checked(self, response: httpx.Response, *, chat: bool) -> dict[str, Any]:
        """A reply that is whole, from the model that was asked for, and holds text."""
        try:
            record = response.json()
        except (ValueError, UnicodeDecodeError) as error:
            raise _Transient(f"broken JSON: {error}") from None
        if not isinstance(record, dict):
            raise _Transient(f"wanted a JSON object, found {type(record).__name__}")
        if not chat:
            return record
        model = record.get("model")
        if model != self.settings.model:
            raise _Transient(f"another model answered: {model!r} instead of '{self.settings.model}'")
        try:
            choice = record["choices"][0]
            text, finish = choice["message"]["content"], choice.get("finish_reason")
        except (KeyError, IndexError, TypeError, AttributeError):
            raise _Transient(f"half a reply: {json.dumps(record)[:200]}") from None
        if not isinstance(text, str):
            raise RequestFailedError(f"no text (finish_reason {finish!r}): is a reasoning parser on?")
        return record

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _headers(settings: JudgeServer) -> dict[str, str]:
    """The key comes from the environment, and goes nowhere but into the request."""
    if settings.api_key_env is None:
        return {}
    key = os.environ.get(settings.api_key_env)
    if not key:
        raise ConfigError(
            f"judge server {settings.base_url}: the variable {settings.api_key_env} is not set; "
            f"export {settings.api_key_env}=… before the run"
        )
    return {"Authorization": f"Bearer {key}"}


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds that the server asks for (a number or a date), at most five minutes."""
    text = response.headers.get("retry-after")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
            seconds = when.timestamp() - parsedate_to_datetime(response.headers["date"]).timestamp()
        except (ValueError, TypeError, KeyError):
            return None
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER_S)
