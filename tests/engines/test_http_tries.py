"""Tries that are repeated, and the pauses that servers ask for."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from genbench.engines.http.server import Transient, TriesUsedUp, persist, retry_after
from tests.table import each_row

DATE = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def at(seconds: float) -> dict[str, str]:
    """The headers of a reply that asks for a pause until a date."""
    return {"date": format_datetime(DATE), "retry-after": format_datetime(DATE + timedelta(seconds=seconds))}


@each_row("text", ["nan", "inf", "-inf", "1e400", "99999", "soon", "", "Thu, 99 Foo 20250 99:99:99 GMT"])
def test_an_absurd_pause_is_not_made(text: str) -> None:
    assert retry_after({"retry-after": text}, 1800.0) is None


@pytest.mark.parametrize(
    ("text", "pause_s"), [("0.3", 0.3), ("7", 7.0), ("-5", 0.0), ("299", 299.0), ("900", 300.0)]
)
def test_a_pause_is_at_most_five_minutes(text: str, pause_s: float) -> None:
    assert retry_after({"retry-after": text}, 1800.0) == pause_s


def test_a_pause_is_no_longer_than_a_reply_may_take() -> None:
    assert retry_after({"retry-after": "299"}, 5.0) == 30.0
    assert retry_after({"retry-after": "299"}, 60.0) == 60.0


def test_a_date_counts_from_the_servers_own_clock() -> None:
    assert retry_after(at(12), 1800.0) == 12.0
    assert retry_after(at(-1000), 1800.0) == 0.0
    assert retry_after(at(10**9), 1800.0) is None


def test_a_date_without_the_servers_clock_says_nothing() -> None:
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 1800.0) is None


def test_nothing_is_asked_for() -> None:
    assert retry_after({}, 1800.0) is None


def test_tries_end_with_the_number_and_the_last_reason() -> None:
    seen: list[str] = []

    async def fails() -> None:
        raise Transient(f"why {len(seen)}", 0.0)

    async def note(failure: Transient) -> None:
        seen.append(str(failure))

    with pytest.raises(TriesUsedUp, match="no usable reply in 3 tries; the last: why 2"):
        asyncio.run(persist(fails, 2, 0.001, 0, note))
    assert seen == ["why 0", "why 1", "why 2"]


def test_the_first_success_is_returned() -> None:
    tries = 0

    async def second() -> int:
        nonlocal tries
        tries += 1
        if tries < 2:
            raise Transient("not yet", 0.0)
        return tries

    assert asyncio.run(persist(second, 5, 0.001, 0)) == 2


def test_other_errors_end_the_tries_at_once() -> None:
    async def fails() -> None:
        raise OverflowError

    with pytest.raises(OverflowError):
        asyncio.run(persist(fails, 5, math.inf, 0))
