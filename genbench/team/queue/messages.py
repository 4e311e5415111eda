"""Messages to people. Each is written into an outbox once, and sent from there until it arrives."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Literal

from pydantic import Field
from sqlalchemy import Connection, insert, or_, select, update

from genbench.json_record import JsonRecord
from genbench.store.continuation import now
from genbench.team.queue import tables
from genbench.team.queue.database import Queue

MessageKind = Literal["missing", "failed", "change", "scores", "status"]
FOR_PEOPLE: frozenset[MessageKind] = frozenset({"missing", "failed", "change"})
"""The kinds that people read. Scores are for trackers, and statuses for commits."""
FIRST_WAIT_S = 60.0
LONGEST_WAIT_S = 86_400.0
"""Seconds between two tries of a message: each wait is twice the one before, up to a day."""
MOST_TRIES = 20


class Message(JsonRecord):
    """One message of the outbox."""

    id: int = Field(description="number of the message")
    key: str = Field(description="what it is about; there is one message for each key")
    kind: MessageKind = Field(
        description="missing: a night without a finished run; failed: a job; change: of a track; scores: of "
        "runs, for trackers; status: of a commit"
    )
    track: str = Field(description="the track; empty if it is about none")
    text: str = Field(description="the message")
    detail: dict[str, Any] = Field(description="numbers and names, for programs")
    at: str = Field(description="local time with offset")
    state: Literal["waiting", "sent", "failed"] = Field(
        description="waiting: it will be sent, or shown only if no channel is set; failed: given up"
    )
    tries: int = Field(description="how many times it was tried")
    error: str = Field(description="why the last try failed")
    arrived: tuple[str, ...] = Field(default=(), description="channels by which it has arrived")


def put_message(
    connection: Connection,
    key: str,
    kind: MessageKind,
    track: str,
    text: str,
    *,
    detail: Mapping[str, Any] | None = None,
) -> bool:
    """Put a message into the outbox, in the transaction of what it is about. Return False if it was there.

    Args:
        key: what the message is about. A second message of one key is dropped.
        detail: numbers and names for programs.
    """
    table = tables.message
    if connection.execute(select(table.c.id).where(table.c.key == key)).first() is not None:
        return False
    values: dict[str, Any] = {
        "key": key,
        "kind": kind,
        "track": track,
        "text": text[:4000],
        "detail": json.dumps(dict(detail or {})),
        "at": now(),
        "state": "waiting",
        **dict.fromkeys(("error", "arrived"), ""),
        **dict.fromkeys(("tries", "next_try", "wait_s"), 0),
    }
    connection.execute(insert(table).values(values))
    return True


def list_messages(queue: Queue, *, before: int | None = None, limit: int = 50) -> list[Message]:
    """Return messages, newest first: those for people, and others that did not arrive."""
    table = tables.message
    shown = or_(table.c.kind.in_(FOR_PEOPLE), table.c.error != "")
    query = select(table).where(shown).order_by(table.c.id.desc()).limit(limit)
    if before is not None:
        query = query.where(table.c.id < before)
    return [_message_of(row) for row in queue.rows(query)]


def due_messages(queue: Queue, clock: float, kinds: Collection[MessageKind] = FOR_PEOPLE) -> list[Message]:
    """Return the messages of some kinds that may be sent now, old to new.

    A clock that was set back does not hold a message: a try further ahead than its own wait counts as due.
    """
    table = tables.message
    waiting = (table.c.state == "waiting", table.c.kind.in_(kinds))
    query = select(table).where(*waiting).order_by(table.c.id).limit(100)
    return [_message_of(row) for row in queue.rows(query) if not _is_reserved(row, clock)]


def _is_reserved(row: Any, clock: float) -> bool:
    return bool(row.next_try - row.wait_s <= clock < row.next_try)


def reserve_message(queue: Queue, message: Message, clock: float, wait_s: float = FIRST_WAIT_S) -> bool:
    """Reserve a message for one sender, for a minute. Return False if another sender has it."""
    table = tables.message
    with queue.write() as connection:
        row = connection.execute(select(table).where(table.c.id == message.id)).first()
        if row is None or row.state != "waiting" or _is_reserved(row, clock):
            return False
        connection.execute(
            update(table).where(table.c.id == message.id).values(wait_s=wait_s, next_try=clock + wait_s)
        )
        return True


def note_sent(queue: Queue, number: int) -> None:
    """Write down that a message arrived."""
    table = tables.message
    sent = {"state": "sent", "tries": table.c.tries + 1, "error": ""}
    queue.run(update(table).where(table.c.id == number).values(sent))


def note_arrival(queue: Queue, number: int, channel: str) -> None:
    """Write down that a message arrived by one channel."""
    table = tables.message
    with queue.write() as connection:
        row = connection.execute(select(table.c.arrived).where(table.c.id == number)).one()
        text = " ".join([*row.arrived.split(), channel])
        connection.execute(update(table).where(table.c.id == number).values(arrived=text))


def note_failure(queue: Queue, number: int, error: str, clock: float) -> None:
    """Write down that a message did not arrive, and when it is tried again."""
    table = tables.message
    with queue.write() as connection:
        row = connection.execute(select(table).where(table.c.id == number)).one()
        wait = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**row.tries)
        over = row.tries + 1 >= MOST_TRIES
        values: dict[Any, Any] = {
            "state": "failed" if over else "waiting",
            "tries": row.tries + 1,
            "wait_s": wait,
            "next_try": clock + wait,
            "error": error[:500],
        }
        connection.execute(update(table).where(table.c.id == number).values(values))


def _message_of(row: Any) -> Message:
    return Message.from_object(row, detail=json.loads(row.detail), arrived=tuple(row.arrived.split()))
