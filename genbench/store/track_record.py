"""The place of a run in a track, an ordered series of runs."""

from __future__ import annotations

from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from pydantic import Field

from genbench.store.jsonrecord import JsonRecord
from genbench.suite.track import TrackKind, TrackName

TrackRole = Literal["point", "anchor"]
_EPOCH = date(1970, 1, 1)
_LAST = 1 << 53
"""The largest position. Larger whole numbers are no longer exact in JSON readers."""


class TrackRecord(JsonRecord):
    """The place of a run in a track, an ordered series of runs that is watched for changes."""

    name: TrackName = Field(description="name of the track")
    kind: TrackKind = Field(description="night: one run each night; step: checkpoints of one training run")
    position: int = Field(
        ge=0, le=_LAST, description="the night as days since 1970-01-01, or the training step"
    )
    role: TrackRole = Field(
        default="point", description="point: what is watched; anchor: the base's model, drawn again"
    )

    @property
    def label(self) -> str:
        """The position as people read it: `2026-11-22`, or `step-1000`."""
        return position_label(self.kind, self.position)


@lru_cache(maxsize=8192)  # a page names the same nights again and again
def position_label(kind: TrackKind, position: int) -> str:
    """Return a position as people read it: `2026-11-22` for a night, `step-1000` for a step."""
    if kind == "step":
        return f"step-{position}"
    try:
        return (_EPOCH + timedelta(days=position)).isoformat()
    except OverflowError:  # a number that no night of the calendar has
        return f"night-{position}"


def night_position(night: date) -> int:
    """Return the position of a night: days since 1970-01-01."""
    return (night - _EPOCH).days
