"""Sending of messages to a webhook: signed JSON, tried again until it arrives."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from genbench.errors import InputError
from genbench.queue.database import Queue
from genbench.queue.messages import Message, due_messages, note_failure, note_sent, reserve_message
from genbench.store.walltime import wall_seconds

URL_VARIABLE = "GENBENCH_WEBHOOK_URL"
SECRET_VARIABLE = "GENBENCH_WEBHOOK_SECRET"
SIGNATURE = "X-Genbench-Signature"
_TIMEOUT_S = 5.0
_AT_ONCE = 3
"""Messages of one round. A receiver that hangs must not delay the renewal of leases."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that takes messages, and the secret that signs them. Without a secret nothing is signed."""

    url: str
    secret: str = ""

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{URL_VARIABLE}: wanted an address such as https://hooks.example.org/genbench")

    def send(self, message: Message, clock: float) -> None:
        """Send one message.

        Raises:
            httpx.HTTPError: it did not arrive.
        """
        record = message.model_dump(mode="json", exclude={"state", "tries", "error"})
        body = json.dumps({"format": 1, **record}).encode()
        headers = {"Content-Type": "application/json"}
        if self.secret:
            headers[SIGNATURE] = signature(self.secret, body, int(clock))
        found = httpx.post(
            self.url, content=body, headers=headers, timeout=_TIMEOUT_S, follow_redirects=False
        )
        if not found.is_success:
            raise httpx.HTTPError(f"status {found.status_code}")


def signature(secret: str, body: bytes, clock: int) -> str:
    """Return the header that signs a body: `t=SECONDS,v1=HMAC-SHA256` over `SECONDS.BODY`."""
    signed = hmac.new(secret.encode(), f"{clock}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={clock},v1={signed}"


def deliver(queue: Queue, webhook: Webhook, clock: float | None = None) -> list[str]:
    """Send the messages that are due. Several workers may call this at the same time.

    A message that arrived while its sender was killed is sent again. Its `key` tells the receiver.

    Returns:
        One line for each message that was tried.
    """
    lines: list[str] = []
    for message in due_messages(queue, wall_seconds() if clock is None else clock)[:_AT_ONCE]:
        now = wall_seconds() if clock is None else clock
        if not reserve_message(queue, message, now):
            continue
        try:
            webhook.send(message, now)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = str(error) or type(error).__name__
            note_failure(queue, message.id, why, now)
            lines.append(f"message {message.id} did not arrive: {why}")
        else:
            note_sent(queue, message.id)
            lines.append(f"message {message.id} sent")
    return lines
