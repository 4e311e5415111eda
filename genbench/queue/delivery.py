"""Sending of messages: to a webhook as signed JSON, and by other channels, until they arrive."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol
from urllib.parse import urlsplit

import httpx

from genbench.errors import InputError
from genbench.queue.database import Queue
from genbench.queue.messages import (
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
from genbench.store.walltime import wall_seconds

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
