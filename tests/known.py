"""Values that a record may lack and a test needs."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def known(value: T | None) -> T:
    """Return the value, which must not be None."""
    assert value is not None
    return value
