"""One OpenAI-compatible server: its key, repeated tries, and replies read within bounds of size, time and
depth.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx

from genbench.engines.http.apis import APIS, REFUSING, Api, ServerWords
from genbench.engines.http.route import Proxy, client
from genbench.errors import ConfigError, EngineError, PromptRefusedError, RequestFailedError
from genbench.suite.block import RequestForm

T = TypeVar("T")
_LONGEST_PAUSE_S = 60.0
_LONGEST_RETRY_AFTER_S = 300.0
_SHORTEST_LIMIT_S = 30.0
_ABSURD_RETRY_AFTER_S = 3600.0


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


async def persist(
    work: Callable[[], Awaitable[T]],
    retries: int,
    first_pause_s: float,
    seed: int,
    failed: OnFailure | None = None,
) -> T:
    """Repeat `work` until it raises no Transient, and return its result.

    Args:
        retries: how often it is repeated at most.
        first_pause_s: the first wait before a retry. It doubles up to a minute, with jitter.
        seed: the seed of the jitter.
        failed: called with each failure before the pause. It may raise to end the tries.

    Raises:
        TriesUsedUp: all tries failed. Other errors of `work` are raised at once.
    """
    jitter = random.Random(seed)
    for attempt in range(retries + 1):
        try:
            return await work()
        except Transient as failure:
            if failed is not None:
                await failed(failure)
            if attempt == retries:
                tries = f"{attempt + 1} tries" if attempt else "one try"
                raise TriesUsedUp(f"no usable reply in {tries}; the last: {failure}") from None
            pause = min(first_pause_s * 2**attempt, _LONGEST_PAUSE_S) * (0.5 + jitter.random())
            await asyncio.sleep(pause if failure.pause_s is None else failure.pause_s)
    raise AssertionError("the loop returns or raises")


def retry_after(headers: Mapping[str, str], reply_s: float) -> float | None:
    """Return the seconds that the server asks for (a number or a date), at most five minutes.

    They are None, so that the client chooses, if the server asks for nothing, for no number of seconds, or
    for more than an hour.

    Args:
        reply_s: the limit of a whole reply. Nobody waits longer for a pause, but for half a minute at least.
    """
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            when = parsedate_to_datetime(text)
            seconds = when.timestamp() - parsedate_to_datetime(headers["date"]).timestamp()
        except (ValueError, TypeError, KeyError, OverflowError):
            return None
    if not math.isfinite(seconds) or seconds > _ABSURD_RETRY_AFTER_S:
        return None
    return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER_S, max(reply_s, _SHORTEST_LIMIT_S))


LISTED_BYTES = 4 << 20
"""Largest body of a page that lists models."""
_COUNT_S = 60.0
_COUNTED_BYTES = 64 << 20
"""Largest body of a page that counts tokens. It lists them all."""
_FRAME_BYTES = 1 << 20
_TOKEN_BYTES = 256
"""Bytes of JSON for one token. The longest tokens are runs of blanks, and CJK may be written as `\\uXXXX`."""
_REST_S = 60.0
"""Seconds from the first byte of a body that is not a blank to its last one. Servers make the whole reply
before they send it. Some send blanks meanwhile, so that no gateway closes the connection."""
_SHOWN = 300
_CODINGS = ("", "identity", "gzip", "x-gzip", "deflate")
"""Encodings of bodies that are read. Each makes about a thousand bytes of one at the most. Two in a row,
brotli or zstd can make gigabytes of one piece before they can be counted."""
ACCEPTED = {"Accept-Encoding": "gzip, deflate"}
"""The header that asks for no other encoding."""


class UnusableBodyError(Exception):
    """A body is too large, comes too slowly, or is not a JSON object."""


def reply_bytes(max_tokens: int) -> int:
    """Return the largest body, in bytes, that a reply of `max_tokens` tokens can have."""
    return _FRAME_BYTES + _TOKEN_BYTES * max_tokens


async def read_body(response: httpx.Response, largest: int, rest_s: float = _REST_S) -> bytes:
    """Return a body of at most `largest` bytes, counted after decompression.

    Raises:
        UnusableBodyError: the body is larger, its bytes come too slowly, or it is encoded twice.
        httpx.HTTPError: the connection fails, or the body is not encoded as the server says.
    """
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in _CODINGS:
        raise UnusableBodyError(
            f"the reply has Content-Encoding {plain(coding)!r}; wanted gzip, deflate or none"
        )
    found, blanks = bytearray(), 0
    try:
        async with asyncio.timeout(None) as limit:
            async for piece in response.aiter_bytes():
                if not found and not piece.strip():
                    blanks += len(piece)
                elif not found:
                    limit.reschedule(asyncio.get_running_loop().time() + rest_s)
                    found += piece
                else:
                    found += piece
                if len(found) + blanks > largest:
                    raise UnusableBodyError(f"the reply has more than {largest >> 20} MiB")
    except TimeoutError:
        raise UnusableBodyError(f"the reply began, and was not whole after {rest_s:g} s more") from None
    return bytes(found)


def json_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a body.

    Raises:
        UnusableBodyError: it is broken, nested too deeply, or something else than an object.
    """
    try:
        record = json.loads(body)
    except RecursionError:
        raise UnusableBodyError("broken JSON: nested too deeply") from None
    except ValueError as error:
        raise UnusableBodyError(f"broken JSON: {error}") from None
    if not isinstance(record, dict):
        raise UnusableBodyError(f"wanted a JSON object, found {type(record).__name__}")
    return record


def plain(text: str, secret: str = "") -> str:
    """Return the beginning of what a server said, for a message.

    The secret is hidden, because some servers quote the key and messages go into files. Control characters
    become blanks.
    """
    shown = text.strip()[: _SHOWN + len(secret)]
    shown = shown.replace(secret, "***") if secret else shown
    return " ".join("".join(sign if sign.isprintable() else " " for sign in shown).split())[:_SHOWN]


def without_surrogates(text: str) -> str:
    """Return the text with each half of a surrogate pair replaced, since UTF-8 has no bytes for it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_number(value: object, largest: int = 10**9) -> int | None:
    """Return a count that a server states, or None if it is not a whole number from 0 to `largest`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= largest else None


_RETRIED = frozenset({408, 409, 425, 429})
_FIRST_PAUSE_S = 0.5
_MISSING_PAGES = 3
"""First requests that may be told that there is no such page, by a server that does not list its models."""
_LOCKED = (401, 403)
_UNREADABLE = (400, 422)
_STREAMED, _EVENTS = "text/event-stream", b"data:"
_ASIDE_S = 5.0
"""Limit for the questions whether it is there and which version it is. A working server answers at once."""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is, which model is asked for, and the limits.

    Args:
        what: its name in messages ("judge server").
        url_key: the suite's key with its address ("judge.server.base_url").
        api: what its kind takes, with what the suite says of this server.
        form: further headers, query and fields of the body.
        replies_as: the model's name in its replies. None: the name that it is asked by.
    """

    what: str
    url_key: str
    base_url: str
    model: str
    api_key_env: str | None
    concurrency: int
    timeout_s: float
    retries: int
    api: Api = APIS["openai"]
    form: RequestForm = field(default_factory=RequestForm)
    replies_as: str | None = None

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
        self._secret = _key(address)
        self._client: httpx.AsyncClient | None = None
        self._proxy: Proxy | None = None
        self._has_answered = False
        self._missing = 0
        self.retried = 0

    def open(self) -> None:
        """Open the client. Nothing is sent yet.

        Raises:
            ConfigError: the environment names a proxy or certificates that cannot be used.
        """
        address = self.address
        headers = {**ACCEPTED, **address.form.headers}
        if self._secret:
            header = address.api.key_header
            headers[header] = f"Bearer {self._secret}" if header.lower() == "authorization" else self._secret
        # httpx allows 100 connections by default. The caller bounds them.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=address.concurrency + 1)
        try:
            self._client, self._proxy = client(
                address.base_url,
                headers=headers,
                query=address.form.query,
                timeout_s=address.timeout_s,
                limits=limits,
            )
        except ConfigError as error:
            raise ConfigError(f"{address}: {error}") from None

    async def close(self) -> None:
        """Close all connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def persist(
        self, work: Callable[[], Awaitable[T]], seed: int, failed: OnFailure | None = None
    ) -> T:
        """Repeat `work` until it raises no Transient, and return its result; see `persist`."""

        tries = 0

        async def counted() -> T:
            nonlocal tries
            tries += 1
            self.retried += tries > 1
            return await work()

        return await persist(counted, self.address.retries, self._first_pause_s, seed, failed)

    async def served(self, limit_s: float | None = None) -> dict[str, Any]:
        """Return what the server says of the model: root, max_model_len, owned_by, version, if it lists them.

        A server without /models is accepted. Its replies must name the model.

        Raises:
            Transient: no usable answer.
            ConfigError: it refuses the key, or serves other models.
        """
        return self._own(await self._listed(limit_s)) | {"version": await self._version()}

    async def _listed(self, limit_s: float | None) -> list[dict[str, Any]]:
        """Return the models that the server lists; nothing if it lists none.

        Raises:
            ConfigError: there is no list here, and one below /v1.
        """
        models = await self.once("GET", "models", None, limit_s)
        is_below = self.address.base_url.rstrip("/").endswith("/v1") or not self.address.api.lists_all
        if models is None and not is_below:
            await self._look_below("v1/models", limit_s)
        listed = models.get("data") if models else None
        return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []

    async def _look_below(self, path: str, limit_s: float | None) -> None:
        """Refuse an address that has no list of models while one is below it."""
        try:
            models = await self.once("GET", path, None, limit_s)
        except (Transient, RequestFailedError, ConfigError):
            return
        if models is not None and isinstance(models.get("data"), list):
            raise ConfigError(
                f"{self.address} has no page /models, and there is one at /v1/models: let "
                f"{self.address.url_key} end in /v1"
            )

    def _own(self, listed: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return what the server states of the model. A value of another type than vLLM's is left out.

        Raises:
            ConfigError: it lists other models only.
        """
        api, model = self.address.api, self.address.model
        names = [self._said(str(item.get("id")).removeprefix(api.listed_as)) for item in listed]
        if api.lists_all and names and model not in names:
            raise ConfigError(f"{self.address} does not serve '{model}'; it serves: {', '.join(names[:10])}")
        own = next((item for name, item in zip(names, listed, strict=True) if name == model), {})
        told: dict[str, Any] = {
            key: self._said(own[key]) for key in ("root", "owned_by") if isinstance(own.get(key), str)
        }
        contexts = (whole_number(own.get(key)) for key in api.context_keys)
        context = next((value for value in contexts if value is not None), None)
        return told if context is None else told | {"max_model_len": context}

    async def _version(self) -> str | None:
        """Return the version that vLLM returns at /version, or None from other servers."""
        url = httpx.URL(self.address.base_url).join("/version")
        try:
            async with asyncio.timeout(_ASIDE_S):
                _, _, body = await self._asked("GET", str(url), None, LISTED_BYTES)
            version = json_object(body).get("version")
        except (httpx.HTTPError, UnusableBodyError, TimeoutError):
            return None
        return plain(version, self._secret) if isinstance(version, str) and version else None

    async def weights(self, place: str) -> str:
        """Return which weights the server has loaded, as text.

        Args:
            place: "PATH:FIELD", such as "/get_model_info:weight_version". The path begins at the root.

        Raises:
            Transient: no answer.
            ConfigError: the server has no such page, or its answer no such field.
        """
        path, _, field = place.rpartition(":")
        url = httpx.URL(self.address.base_url).join(path)
        record = await self.once("GET", str(url), None, _ASIDE_S)
        found = (record or {}).get(field)
        if record is None or not isinstance(found, str | int) or found == "":
            what = (
                "has no such page" if record is None else f"has no '{field}', found {', '.join(record)[:200]}"
            )
            raise ConfigError(f"{self.address}: engine.weights {place}: {url.path} {what}")
        return self._said(str(found))

    async def answers(self) -> bool:
        """Tell whether the server gives any HTTP answer now."""
        try:
            async with asyncio.timeout(_ASIDE_S), self._open_client().stream("GET", "models"):
                return True
        except httpx.DecodingError:
            return True
        except (httpx.HTTPError, TimeoutError):
            return False

    async def once(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None,
        limit_s: float | None = None,
        largest: int = LISTED_BYTES,
    ) -> dict[str, Any] | None:
        """Try once. Return the reply's JSON object, or None if the server has no such page to get.

        Args:
            largest: bytes of the reply after which it is not read further.

        Raises:
            Transient: another try may help.
            RequestFailedError: the request is refused.
            ConfigError: the key is refused, or a server that never answered does not have the model.
        """
        limit = limit_s or self.address.timeout_s
        try:
            # httpx limits only the wait for each piece. A server that sends slowly must end as well.
            async with asyncio.timeout(limit):
                status, headers, found = await self._asked(method, path, body, largest)
        except TimeoutError:
            raise Transient(f"no reply within {limit:g} s{self._via}", unheard=True) from None
        except UnusableBodyError as error:
            raise Transient(str(error)) from None
        except httpx.HTTPError as error:
            raise self._unheard(error) from None
        if method == "POST" and status in (404, 405) and not self._has_answered:
            await self._look_for_model(status, found)
        self._check_status(status, headers, found, posted=method == "POST")
        if status == 404 and method == "GET":
            return None
        return self._checked(found, headers, answer=method == "POST")

    async def count(
        self, messages: Sequence[Mapping[str, Any]], template_kwargs: Mapping[str, Any]
    ) -> int | None:
        """Return the tokens of messages as the server renders them, or None if it does not tell."""
        page = self.address.api.tokenize
        if page is None:
            return None
        url = httpx.URL(self.address.base_url).join(page)
        sent = {
            "model": self.address.model,
            "messages": list(messages),
            "chat_template_kwargs": dict(template_kwargs),
        }
        try:
            async with asyncio.timeout(min(_COUNT_S, self.address.timeout_s)):
                status, _, found = await self._asked("POST", str(url), sent, _COUNTED_BYTES)
            return whole_number(json_object(found).get("count")) if status == 200 else None
        except (httpx.HTTPError, TimeoutError, UnusableBodyError):
            return None

    async def _asked(
        self, method: str, path: str, body: dict[str, Any] | None, largest: int
    ) -> tuple[int, httpx.Headers, bytes]:
        async with self._open_client().stream(method, path, json=body) as response:
            return response.status_code, response.headers, await read_body(response, largest)

    def _unheard(self, error: httpx.HTTPError) -> Transient:
        """Return the failure of a try that got no HTTP answer, or none that can be read."""
        said = f"{type(error).__name__}: {self._said(str(error))}"
        if "CERTIFICATE_VERIFY_FAILED" in said:
            said += "; if the server has a certificate of your own, name its authority in SSL_CERT_FILE"
        is_lost = isinstance(error, httpx.TransportError)
        return Transient(said + (self._via if is_lost else ""), unheard=is_lost)

    @property
    def _via(self) -> str:
        """Return through which proxy the server is asked, for messages."""
        return f" ({self._proxy})" if self._proxy is not None else ""

    async def _look_for_model(self, status: int, body: bytes) -> None:
        """Refuse a request for a model or a page that the server seems never to have had.

        A gateway whose servers are away may answer in the same way, so a listed model is asked for again.

        Raises:
            ConfigError: the server lists its models, and this one is not among them.
            RequestFailedError: it lists none, and has said so to several requests.
        """
        self._missing += 1
        try:
            listed = await self._listed(_ASIDE_S)
        except (Transient, RequestFailedError):
            return
        self._own(listed)
        if not listed and self._missing >= _MISSING_PAGES:
            raise RequestFailedError(
                f"status {status}{self._quoted(body)}; the server lists no models: look at "
                f"{self.address.url_key}, which usually ends in /v1"
            )

    def _check_status(self, status: int, headers: httpx.Headers, body: bytes, *, posted: bool) -> None:
        if status in REFUSING and posted and (why := ServerWords.of(body).refusal):
            raise PromptRefusedError(f"status {status}{self._quoted(body)}", why)
        self._check_error(status, self._quoted(body), headers, posted=posted)
        if 300 <= status < 400:
            self._sent_on(status, headers)
        if status >= 300 and status != 404:
            raise RequestFailedError(f"status {status}{self._quoted(body)}{self._hint(status)}")

    def _hint(self, status: int) -> str:
        """Return what to do about a refused request, if the server may lack a field that it is sent."""
        if status not in _UNREADABLE or self._has_answered:
            return ""
        return (
            f"; if the server does not take a field, say so with {self._block}.api or {self._block}.fields: "
            "{FIELD: none}"
        )

    def _check_error(self, status: int, said: str, headers: Mapping[str, str], *, posted: bool) -> None:
        """Raise the error of a status that another try or another key may mend.

        Args:
            said: the server's words, with a colon before them.
        """
        # A gateway whose server is away may say that there is no such page, or no such model.
        if status in _RETRIED or status >= 500 or (status in (404, 405) and posted):
            pause_s = retry_after(headers, self.address.timeout_s)
            raise Transient(f"status {status}{said}{self._via if status >= 500 else ''}", pause_s)
        if status not in _LOCKED:
            return
        if self._has_answered:  # the key is good: a firewall, a quota, or a gateway that is not itself
            raise Transient(f"status {status}{said}{self._via}")
        named = self.address.api_key_env
        hint = f"look at the key in {named}" if named else f"name its variable: {self._block}.api_key_env"
        kept = "; when that is mended, the same command goes on from what is on disk" if posted else ""
        raise ConfigError(f"{self.address} refuses us (status {status}{said}){self._via}; {hint}{kept}")

    def _sent_on(self, status: int, headers: Mapping[str, str]) -> None:
        """Refuse to follow a redirection, which would take the key with it."""
        place = self._said(headers.get("location", "")) or "no address"
        why = f"status {status}: the server sends us on to {place}"
        if self._has_answered:
            raise Transient(why)
        raise ConfigError(f"{self.address}: {why}; name the new address as {self.address.url_key}")

    def _checked(self, body: bytes, headers: Mapping[str, str], *, answer: bool) -> dict[str, Any]:
        """Return a reply that is whole. An answer must also come from the model that was asked for."""
        if answer and (_STREAMED in headers.get("content-type", "") or body.startswith(_EVENTS)):
            raise RequestFailedError(
                f"the server streams its reply{self._quoted(body)}, though it was asked not to (stream: "
                "false); switch that off at the server, or name the address of the server behind it"
            )
        try:
            record = json_object(body)
        except UnusableBodyError as error:
            raise Transient(self._said(f"{error}, found{self._quoted(body)}")) from None
        if answer:
            self._check_words(record, headers)
        if not answer:
            return record
        found, wanted = record.get("model"), self.address.replies_as or self.address.model
        if found != wanted:
            shown = repr(self._said(found)) if isinstance(found, str) else type(found).__name__
            raise Transient(
                f"another model answered: {shown} instead of '{wanted}'; if that is the same model, give its "
                f"name as {self._block}.model, or as {self._block}.replies_as if it is asked by the other one"
            )
        self._has_answered = True
        return record

    def _check_words(self, record: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        """Raise the error that a reply with status 200 contains, if it contains one."""
        choices = record.get("choices")
        inner = choices[0] if isinstance(choices, list) and choices else None
        found = ServerWords.of_record(record) or ServerWords.of_record(inner)
        if found is None:
            return
        said = f" inside a reply with status 200: {self._said(found.text)}"
        if why := found.refusal:
            raise PromptRefusedError(f"an error{said}", why)
        if found.status is not None:
            self._check_error(found.status, said, headers, posted=True)
            raise RequestFailedError(f"status {found.status}{said}")
        raise Transient(f"an error{said}")

    def _said(self, text: str) -> str:
        return plain(text, self._secret)

    def _quoted(self, body: bytes) -> str:
        """Return what the server says in the body of an error, with a colon before it, or an empty text."""
        text = self._said(ServerWords.of(body).text)
        return f": {text}" if text else ""

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


class WeightWatch:
    """Tells which weights a server has now. Those who ask at the same time share one question.

    Versions must have new names: a server that returns to the first weights while a reply is drawn is not
    found.

    Args:
        read: asks the server.
        wanted: the version under which the run began.
    """

    def __init__(self, read: Callable[[], Awaitable[str]], wanted: str) -> None:
        self._read, self.wanted = read, wanted
        self._asking: asyncio.Task[str] | None = None
        self._next: asyncio.Task[str] | None = None
        self.void = 0
        """Replies that were not counted, since they may be of other weights."""

    async def now(self) -> str:
        """Return the version by a question that is asked after this call began."""
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._asking))
        return await asyncio.shield(self._next)

    async def _after(self, asking: asyncio.Task[str] | None) -> str:
        if asking is not None:
            await asyncio.wait([asking])
        self._asking, self._next = self._next, None  # who asks from now on needs another answer
        return await self._read()

    async def under(self, draw: Callable[[], Awaitable[T]]) -> T:
        """Return a reply that was drawn under the wanted weights as a whole.

        A reply before or after which the server has other weights is void, and drawn again, at most twice.

        Raises:
            EngineError: the server keeps other weights.
        """
        for _ in range(_VOID_TRIES):
            if (before := await self.now()) == self.wanted:
                found = await draw()
                if (before := await self.now()) == self.wanted:
                    return found
                self.void += 1
            await asyncio.sleep(_VOID_PAUSE_S)
        raise EngineError(
            f"void: the server has weights {before!r} now, the run began under {self.wanted!r}; "
            f"{self.void} replies were not counted. A step is drawn before the weights move on"
        )


_VOID_TRIES, _VOID_PAUSE_S = 3, 0.2


def _key(address: ServerAddress) -> str:
    """Return the key, which is read from the environment and is in no file; empty if there is none."""
    named = address.api_key_env
    if named is None:
        return ""
    key = os.environ.get(named)
    if not key:
        raise ConfigError(f"{address}: the variable {named} is not set; export {named}=… before the run")
    return key


def choice_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the only choice of a reply.

    Raises:
        Transient: there is none, or several where one was asked for.
    """
    choices = record.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Transient(f"half a reply: no choices, found the keys {plain(', '.join(record))}")
    if len(choices) > 1:
        raise Transient(f"{len(choices)} choices where one was asked for")
    if not isinstance(choices[0], dict):
        raise Transient(f"half a reply: the choice is {type(choices[0]).__name__}, wanted an object")
    return choices[0]


def said(message: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return the trace and the text of a message. Each is None if there is none.

    They may be something else than text, if the server sent that. What a model says when it refuses, which
    OpenAI's API sends apart from the content, is its text.
    """
    trace, content = (
        message.get("reasoning") or message.get("reasoning_content") or None,
        message.get("content"),
    )
    if isinstance(content, list):
        parted, content = _parts(content)
        trace = trace or parted
    if content is None:
        content = message.get("refusal")
    return trace, content


def _parts(content: Sequence[Any]) -> tuple[str | None, str | None]:
    """Return the trace and the text of a content that is a list of parts.

    Mistral's reasoning models answer so: {"type": "thinking", "thinking": [{"type": "text", …}]}, then text.
    """
    found: dict[str, list[str]] = {"thinking": [], "text": []}
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind not in found:
            continue
        inner = part.get(kind)
        pieces = (
            [item.get("text") for item in inner if isinstance(item, dict)]
            if isinstance(inner, list)
            else [inner]
        )
        found[kind] += [piece for piece in pieces if isinstance(piece, str)]
    trace, text = ("".join(pieces) if pieces else None for pieces in found.values())
    return trace, text
