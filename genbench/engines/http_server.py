"""One OpenAI-compatible server: its key, retries, and the checks of its replies."""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from genbench.errors import ConfigError, EngineError, RequestFailedError

_RETRIED = frozenset({408, 409, 425, 429})
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0
_LONGEST_RETRY_AFTER_S = 300.0
_ASIDE_S = 5.0
"""Limit for the questions whether it is there and which version it is. A working server answers at once."""


T = TypeVar("T")


class Transient(Exception):  # noqa: N818  never leaves the engines, whose callers turn it into an error
    """A try that may succeed when it is repeated.

    `pause_s` is the wait that the server asks for. `unheard` means that no HTTP answer came at all.
    """

    def __init__(self, why: str, pause_s: float | None = None, *, unheard: bool = False) -> None:
        super().__init__(why)
        self.pause_s = pause_s
        self.unheard = unheard


class TriesUsedUp(Exception):  # noqa: N818  as above
    """All tries of one request failed. The text says how many, and why the last one did."""


OnFailure = Callable[[Transient], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is, which model is asked for, and the limits.

    Args:
        what: its name in messages ("judge server").
        url_key: the suite's key with its address ("judge.server.base_url").
    """

    what: str
    url_key: str
    base_url: str
    model: str
    api_key_env: str | None
    concurrency: int
    timeout_s: float
    retries: int

    def __str__(self) -> str:
        return f"{self.what} {self.base_url}"


class HttpServer:
    """A client of one server.

    Args:
        first_pause_s: the first wait before a retry. It doubles up to a minute, with jitter.

    Raises:
        ConfigError: the variable with the key is not set.
    """

    def __init__(self, address: ServerAddress, first_pause_s: float = _FIRST_PAUSE_S) -> None:
        self.address, self._first_pause_s = address, first_pause_s
        self._headers = _headers(address)
        self._client: httpx.AsyncClient | None = None
        self.retried = 0

    def open(self) -> None:
        """Open the client. Nothing is sent yet."""
        address = self.address
        # httpx allows 100 connections by default. The caller bounds them.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=address.concurrency + 1)
        self._client = httpx.AsyncClient(
            base_url=address.base_url.rstrip("/") + "/",
            headers=self._headers,
            timeout=address.timeout_s,
            limits=limits,
        )

    async def close(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def served(self, limit_s: float | None = None) -> dict[str, Any]:
        """Return what the server says of the model: root, max_model_len, owned_by, version, if it lists them.

        A server without /models is accepted. Its replies must name the model.

        Raises:
            Transient: no usable answer.
            ConfigError: it refuses the key, or serves other models.
        """
        models = await self.once("GET", "models", None, limit_s)
        listed = models.get("data") if models else None
        found = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        names = [str(item.get("id")) for item in found]
        model = self.address.model
        if names and model not in names:
            raise ConfigError(f"{self.address} does not serve '{model}'; it serves: {', '.join(names[:10])}")
        own = next((item for item in found if item.get("id") == model), {})
        told = {key: own[key] for key in ("root", "max_model_len", "owned_by") if key in own}
        return told | {"version": await self._version()}

    async def _version(self) -> str | None:
        """Return the version that vLLM returns at /version, or None from other servers."""
        try:
            reply = await self._open_client().get(
                httpx.URL(self.address.base_url).join("/version"), timeout=_ASIDE_S
            )
            version = reply.json().get("version")
        except (httpx.HTTPError, ValueError, AttributeError):
            return None
        return str(version) if version else None

    async def answers(self) -> bool:
        """Tell whether the server gives any HTTP answer now."""
        try:
            await self._open_client().get("models", timeout=_ASIDE_S)
        except httpx.HTTPError:
            return False
        return True

    async def persist(
        self, work: Callable[[], Awaitable[T]], seed: int, failed: OnFailure | None = None
    ) -> T:
        """Repeat `work` until it raises no Transient, and return its result.

        Args:
            seed: the seed of the jitter.
            failed: called with each failure before the pause. It may raise to end the tries.

        Raises:
            TriesUsedUp: all tries failed. Other errors of `work` are raised at once.
        """
        jitter = random.Random(seed)
        for attempt in range(self.address.retries + 1):
            try:
                return await work()
            except Transient as failure:
                if failed is not None:
                    await failed(failure)
                if attempt == self.address.retries:
                    tries = f"{attempt + 1} tries" if attempt else "one try"
                    raise TriesUsedUp(f"no usable reply in {tries}; the last: {failure}") from None
                pause = min(self._first_pause_s * 2**attempt, _LONGEST_PAUSE_S) * (0.5 + jitter.random())
                self.retried += 1
                await asyncio.sleep(pause if failure.pause_s is None else failure.pause_s)
        raise AssertionError("the loop returns or raises")

    async def once(
        self, method: str, path: str, body: dict[str, Any] | None, limit_s: float | None = None
    ) -> dict[str, Any] | None:
        """Try once. Return the reply's JSON object, or None if the server has no such page to get.

        Raises:
            Transient: another try may help.
            RequestFailedError: the request is refused.
            ConfigError: the key is refused.
        """
        limit = limit_s or self.address.timeout_s
        try:
            # httpx limits only the wait for each piece. A server that sends slowly must end as well.
            async with asyncio.timeout(limit):
                response = await self._open_client().request(method, path, json=body)
        except TimeoutError:
            raise Transient(f"no reply within {limit:g} s", unheard=True) from None
        except httpx.TransportError as error:
            raise Transient(f"{type(error).__name__}: {error}", unheard=True) from None
        self._check_status(response)
        if response.status_code == 404 and method == "GET":
            return None
        return self._checked(response, answer=method == "POST")

    def _check_status(self, response: httpx.Response) -> None:
        status = response.status_code
        posted = response.request.method == "POST"
        # A gateway whose server is away may say that there is no such page, or no such model.
        if status in _RETRIED or status >= 500 or (status in (404, 405) and posted):
            raise Transient(f"status {status}{_said(response)}", _retry_after(response))
        if status in (401, 403):
            named = self.address.api_key_env
            hint = f"look at the key in {named}" if named else f"name its variable: {self._block}.api_key_env"
            raise ConfigError(f"{self.address} refuses us (status {status}); {hint}")
        if status >= 300 and status != 404:
            raise RequestFailedError(f"status {status}{_said(response)}")

    def _checked(self, response: httpx.Response, *, answer: bool) -> dict[str, Any]:
        """Return a reply that is whole. An answer must also come from the model that was asked for."""
        try:
            record = response.json()
        except (ValueError, UnicodeDecodeError) as error:
            raise Transient(f"broken JSON: {error}") from None
        if not isinstance(record, dict):
            raise Transient(f"wanted a JSON object, found {type(record).__name__}")
        if answer and record.get("model") != self.address.model:
            raise Transient(
                f"another model answered: {record.get('model')!r} instead of '{self.address.model}'; where "
                f"that is the same model, give its name as {self._block}.model"
            )
        return record

    def unreachable(self, why: object) -> EngineError:
        """Return the error of a server that does not answer when it is first asked."""
        return EngineError(f"{self.address}: {why}; start it, or mend {self.address.url_key}")

    @property
    def _block(self) -> str:
        return self.address.url_key.rpartition(".")[0]

    def _open_client(self) -> httpx.AsyncClient:
        if self._client is None:
            raise AssertionError("asked before start")
        return self._client


def choice_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first choice of a reply.

    Raises:
        Transient: there is none.
    """
    try:
        choice = record["choices"][0]
    except (KeyError, IndexError, TypeError):
        choice = None
    if not isinstance(choice, dict):
        raise Transient(f"half a reply: {str(record)[:200]}")
    return choice


def _said(response: httpx.Response) -> str:
    """Return what the server says, without the key. Some servers quote it, and messages go into files."""
    key = response.request.headers.get("Authorization", "").removeprefix("Bearer ")
    text = response.text.strip()
    text = text.replace(key, "***") if key else text
    return f": {text[:300]}" if text else ""


def _headers(address: ServerAddress) -> dict[str, str]:
    """Return the header with the key, which is read from the environment and is in no file."""
    named = address.api_key_env
    if named is None:
        return {}
    key = os.environ.get(named)
    if not key:
        raise ConfigError(f"{address}: the variable {named} is not set; export {named}=… before the run")
    return {"Authorization": f"Bearer {key}"}


def _retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that the server asks for (a number or a date), at most five minutes."""
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
