"""Send messages until they arrive: to a webhook as signed JSON, and through Apprise to chats and by mail."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol
from urllib.parse import urlsplit

import httpx

from genbench.errors import InputError
from genbench.store.clock import wall_seconds
from genbench.team.queue.database import Queue
from genbench.team.queue.messages import (
    FIRST_WAIT_S,
    FOR_PEOPLE,
    Message,
    MessageKind,
    due_messages,
    note_arrival,
    note_failure,
    note_sent,
    reserve_message,
)

URL_VARIABLE = "GENBENCH_WEBHOOK_URL"
SECRET_VARIABLE = "GENBENCH_WEBHOOK_SECRET"
SIGNATURE = "X-Genbench-Signature"
_TIMEOUT_S = 5.0
_AT_ONCE = 3
"""Messages of one round. A receiver that hangs must not delay the renewal of leases."""


class SendError(Exception):
    """A message did not arrive. The text says why, without any secret."""


class Channel(Protocol):
    """A way by which messages are sent."""

    @property
    def name(self) -> str:
        """Return the name of the channel, without spaces."""

    @property
    def kinds(self) -> frozenset[MessageKind]:
        """Return the kinds of messages that it sends."""

    def send(self, message: Message, clock: float) -> None:
        """Send one message.

        Raises:
            SendError: it did not arrive.
        """


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that takes messages, and the secret that signs them. Without a secret nothing is signed."""

    url: str
    secret: str = ""
    name: ClassVar[str] = "webhook"
    kinds: ClassVar[frozenset[MessageKind]] = FOR_PEOPLE

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{URL_VARIABLE}: wanted an address such as https://hooks.example.org/genbench")

    def send(self, message: Message, clock: float) -> None:
        """Send one message.

        Raises:
            SendError: it did not arrive.
        """
        record = message.model_dump(mode="json", exclude={"state", "tries", "error", "arrived"})
        body = json.dumps({"format": 1, **record}).encode()
        headers = {"Content-Type": "application/json"}
        if self.secret:
            headers[SIGNATURE] = signature(self.secret, body, int(clock))
        try:
            found = httpx.post(
                self.url, content=body, headers=headers, timeout=_TIMEOUT_S, follow_redirects=False
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SendError(str(error) or type(error).__name__) from error
        if not found.is_success:
            raise SendError(f"status {found.status_code}")


def signature(secret: str, body: bytes, clock: int) -> str:
    """Return the header that signs a body: `t=SECONDS,v1=HMAC-SHA256` over `SECONDS.BODY`."""
    signed = hmac.new(secret.encode(), f"{clock}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={clock},v1={signed}"


def deliver(
    queue: Queue,
    channels: Sequence[Channel],
    clock: float | None = None,
    *,
    reserve_s: float = FIRST_WAIT_S,
) -> list[str]:
    """Send the messages that are due by all channels. Several workers may call this at the same time.

    A channel that has a message does not get it again. One that arrived while its sender was killed is sent
    again. Its `key` tells the receiver.

    Args:
        clock: the time of day in seconds of the epoch. None means now.
        reserve_s: seconds for which no other worker tries a message.

    Returns:
        One line for each message that was tried.
    """
    lines: list[str] = []
    kinds = frozenset().union(*(channel.kinds for channel in channels))
    for message in due_messages(queue, wall_seconds() if clock is None else clock, kinds)[:_AT_ONCE]:
        now = wall_seconds() if clock is None else clock
        if not reserve_message(queue, message, now, reserve_s):
            continue
        own = [channel for channel in channels if message.kind in channel.kinds]
        failures = [why for channel in own if (why := _send(queue, channel, message, now))]
        if failures:
            note_failure(queue, message.id, "; ".join(failures), now)
            lines.append(f"message {message.id} did not arrive: {'; '.join(failures)}")
        else:
            note_sent(queue, message.id)
            lines.append(f"message {message.id} sent")
    return lines


def _send(queue: Queue, channel: Channel, message: Message, clock: float) -> str:
    """Send a message by a channel that does not have it yet. Return why it did not arrive, or nothing."""
    if channel.name in message.arrived:
        return ""
    try:
        channel.send(message, clock)
    except SendError as error:
        return str(error)
    note_arrival(queue, message.id, channel.name)
    return ""


URLS_VARIABLE = "GENBENCH_APPRISE_URLS"
"""Addresses in the form of Apprise, separated by spaces. They contain secrets, so they are never shown."""
# The end of each mark that a chat could act on: @channel, [text](address), https://address.
_MARK = re.compile(r"@(?=\w)|\](?=\()|:(?=//)")
_GAP = "\u200b"
"""A space without width. Behind a mark it keeps chats from reading it, and people do not see it."""


class Chat:
    """A set of chats and mailboxes.

    Args:
        urls: addresses such as `slack://…`, `mailto://…` and `msteams://…`.

    Raises:
        InputError: an address is none of Apprise.
    """

    name: ClassVar[str] = "chat"
    kinds: ClassVar[frozenset[MessageKind]] = FOR_PEOPLE

    def __init__(self, urls: Sequence[str]) -> None:
        import apprise  # noqa: PLC0415 - an extra

        # Apprise logs addresses, with their secrets, when a service refuses.
        logging.getLogger("apprise").setLevel(logging.CRITICAL)
        self._apprise = apprise.Apprise()
        for number, url in enumerate(urls, start=1):
            if not self._apprise.add(url):
                raise InputError(
                    f"{URLS_VARIABLE}: address {number} of {len(urls)} is none that Apprise knows; wanted "
                    "one such as slack://… or mailto://…"
                )

    def send(self, message: Message, clock: float) -> None:
        """Send one message.

        Raises:
            SendError: one of the services refused it, or cannot be reached.
        """
        try:
            # Declared as plain text, so that services escape it. A failure quotes what a server said.
            arrived = self._apprise.notify(
                title=f"genbench: {message.kind}", body=without_marks(message.text), body_format="text"
            )
        except Exception as error:  # services of Apprise raise what their libraries raise
            raise SendError(type(error).__name__) from error
        if not arrived:
            raise SendError(f"one of the addresses in {URLS_VARIABLE} refused it or cannot be reached")


def without_marks(text: str) -> str:
    """Return a text that chats show as it is, without mentions and without links.

    Some services (Mattermost, Discord) read marks in plain text too. A message may quote what a server or a
    model said, so `@channel`, `[text](address)` and `http://…` must neither call people nor lead anywhere.
    """
    return _MARK.sub(lambda found: found[0] + _GAP, text)
