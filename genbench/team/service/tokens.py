"""Tokens say who may read, submit jobs and close changes, set bases, or review. Only digests are stored.

A browser shows a token once and gets a session. Forms contain a token that only our own pages have.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass, fields
from http.cookies import CookieError, SimpleCookie
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, insert, select, update

from genbench.errors import InputError, nearest
from genbench.store.clock import wall_seconds
from genbench.store.continuation import now
from genbench.suite.block import NAME_PATTERN
from genbench.team.queue import tables
from genbench.team.queue.database import Queue

Scope = Literal["reviewer", "read", "submit", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""The scopes. Each of the last three includes those before it, but for `reviewer`.

A reviewer sees the items of reviews and nothing else. Who may submit may also review.
"""
PREFIX = "gb_"
_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request, and what they may do. `scope` is None if they may do nothing."""

    name: str
    scope: Scope | None

    def may(self, wanted: Scope) -> bool:
        """Return whether the caller has a scope, or one that includes it."""
        if self.scope is None:
            return False
        if "reviewer" in (self.scope, wanted):
            return wanted == "reviewer" and self.scope != "read"
        return SCOPES.index(self.scope) >= SCOPES.index(wanted)


@dataclass(frozen=True, slots=True)
class TokenEntry:
    """The facts about a token. The token itself is not stored."""

    name: str
    scope: str
    created: str
    expires: float | None
    used: str | None
    revoked: bool


def known_scope(text: str) -> Scope:
    """Return the scope of a text.

    Raises:
        InputError: there is no such scope.
    """
    if text not in SCOPES:
        raise InputError(f"--scope {text}: unknown scope{nearest(text, SCOPES)}")
    return text


def add_token(queue: Queue, name: str, scope: str, days: float | None) -> str:
    """Make a token and return it. It cannot be shown again.

    Args:
        days: days after which it expires. None means never.

    Raises:
        InputError: the name or the scope is wrong, or a token of that name is there.
    """
    if not re.fullmatch(NAME_PATTERN, name):
        raise InputError(f"token '{name}': use letters, digits, '.', '_' and '-'")
    scope = known_scope(scope)
    if days is not None and not 0 < days <= 36_500:
        raise InputError(f"--days {days:g}: wanted more than 0")
    token = PREFIX + secrets.token_urlsafe(32)
    with queue.write() as connection:
        known = connection.execute(select(tables.token.c.name).where(tables.token.c.name == name)).first()
        if known is not None:
            raise InputError(f"there is a token '{name}'; revoke names nothing twice, so take another name")
        values = {
            "name": name,
            "digest": token_digest(token),
            "scope": scope,
            "created": now(),
            "expires": None if days is None else wall_seconds() + days * _DAY_S,
            "used": None,
            "revoked": False,
        }
        connection.execute(insert(tables.token).values(values))
    return token


def list_tokens(queue: Queue) -> list[TokenEntry]:
    """Return the facts about all tokens, by name."""
    table = tables.token
    rows = queue.rows(select(table).order_by(table.c.name))
    names = [field.name for field in fields(TokenEntry)]
    return [TokenEntry(**{name: getattr(row, name) for name in names}) for row in rows]


def revoke_token(queue: Queue, name: str) -> None:
    """Revoke a token at once.

    Raises:
        InputError: there is none of that name.
    """
    table = tables.token
    with queue.write() as connection:
        if not connection.execute(update(table).where(table.c.name == name).values(revoked=True)).rowcount:
            names = connection.scalars(select(table.c.name)).all()
            raise InputError(f"there is no token '{name}'{nearest(name, names)}")


def has_tokens(queue: Queue) -> bool:
    """Return whether any token was ever made. From then on, reading needs one too."""
    return bool(queue.rows(select(tables.token.c.name).limit(1)))


def caller_of(queue: Queue, token: str) -> Caller | None:
    """Return whose token this is, or None if it is unknown, revoked or expired.

    The token is looked up by its SHA-256, so the time of the search says nothing about the token.
    """
    row = _valid(queue, tables.token.c.digest == token_digest(token))
    if row is None:
        return None
    moment = now()
    if row.used is None or row.used[:13] != moment[:13]:  # once an hour, so that reading seldom writes
        queue.run(update(tables.token).where(tables.token.c.name == row.name).values(used=moment))
    return Caller(row.name, row.scope)


def caller_named(queue: Queue, name: str) -> Caller | None:
    """Return the caller of a token's name, or None if the token is unknown, revoked or expired."""
    row = _valid(queue, tables.token.c.name == name)
    return None if row is None else Caller(row.name, row.scope)


def _valid(queue: Queue, own: ColumnElement[bool]) -> Any:
    """Return the row of a token that is neither revoked nor expired, or None."""
    for row in queue.rows(select(tables.token).where(own)):
        if not row.revoked and (row.expires is None or wall_seconds() < row.expires):
            return row
    return None


def token_digests(queue: Queue) -> frozenset[str]:
    """Return the digests of all tokens, also of those that are worth nothing any more."""
    return frozenset(row[0] for row in queue.rows(select(tables.token.c.digest)))


def token_digest(token: str) -> str:
    """Return what is stored of a token: its SHA-256 in hex."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


COOKIE = "genbench_session"
HOURS = 12
_SECOND = 3600


class Sessions:
    """Sessions that this process signed. They end with it, after 12 hours, and when somebody logs out."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._ended: dict[str, int] = {}

    def open(self, name: str) -> str:
        """Return the value of the cookie of somebody who has shown a token of this name."""
        text = f"{name}\0{int(time.monotonic()) + HOURS * _SECOND}\0{secrets.token_hex(8)}"
        return f"{text.encode().hex()}.{self._sign('session', text)}"

    def close(self, cookies: str) -> None:
        """End the session of the Cookie header of a request, also for who has a copy of the cookie."""
        found, moment = self._find(cookies), time.monotonic()
        self._ended = {text: until for text, until in self._ended.items() if moment <= until}
        if found is not None:
            self._ended[found] = _end_of(found)

    def name_of(self, cookies: str) -> str | None:
        """Return whose session the Cookie header of a request has, or None."""
        found = self._find(cookies)
        return None if found is None else found.partition("\0")[0]

    def _find(self, cookies: str) -> str | None:
        """Return the signed text of a session that has not ended, or None."""
        try:
            morsel = SimpleCookie(cookies).get(COOKIE)
            payload, _, signed = ("" if morsel is None else morsel.value).partition(".")
            text = bytes.fromhex(payload).decode()
        except (CookieError, ValueError):
            return None
        if not hmac.compare_digest(signed.encode(), self._sign("session", text).encode()):
            return None
        return None if text in self._ended or time.monotonic() > _end_of(text) else text

    def form_token(self, name: str) -> str:
        """Return the hidden field of forms that are shown to somebody."""
        return self._sign("form", name)

    def is_form_token(self, name: str, text: str) -> bool:
        """Return whether a form came from a page that was shown to somebody."""
        return hmac.compare_digest(text.encode(), self.form_token(name).encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._key, f"{purpose}\0{text}".encode(), hashlib.sha256).hexdigest()


def _end_of(session: str) -> int:
    """Return when a session ends, by the clock of this process."""
    return int(session.split("\0")[1])
