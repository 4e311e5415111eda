"""Times of the calendar: both forms say the same moment, with a zone."""

from __future__ import annotations

from datetime import timedelta

from genbench.store.clock import wall_seconds, wall_utc


def test_both_forms_are_the_same_moment() -> None:
    before, present, after = wall_seconds(), wall_utc(), wall_seconds()
    assert before <= present.timestamp() <= after
    assert present.utcoffset() == timedelta(0)
