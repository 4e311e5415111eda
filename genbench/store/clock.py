"""Times of the calendar, for what outlives a process: deadlines, expiry, retries, dates.

No other module reads the wall clock, because it can jump. Durations come from `time.monotonic`.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime


def wall_seconds() -> float:
    """Return the time in seconds since 1970-01-01 UTC."""
    return time.time()


def wall_utc() -> datetime:
    """Return the time as a date with the zone UTC."""
    return datetime.now(UTC)
