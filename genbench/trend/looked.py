"""The ledger's memory of the points at which changes were looked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from genbench.ledger.apply import meta_value, set_meta
from genbench.ledger.database import Ledger
from genbench.ledger.records import Night, TrackHistory


def first_new(ledger: Ledger, history: TrackHistory) -> int:
    """Return the index of the first point of a track that was not looked at.

    If points before the last one that was looked at came, went or changed since, it is 0. After a rebuild of
    the ledger it is 0 as well: the changes are known from the notes, and the same ones are found.
    """
    with ledger.read() as connection:
        text = meta_value(connection, _key(history))
    if text is None:
        return 0
    count, digest = json.loads(text)
    same = count <= len(history.points) and _digest(history.points[:count]) == digest
    return int(count) if same else 0


def mark_looked(ledger: Ledger, history: TrackHistory) -> None:
    """Remember that changes were looked for at every point of a history."""
    with ledger.write() as connection:
        text = json.dumps([len(history.points), _digest(history.points)])
        set_meta(connection, _key(history), text)


def _key(history: TrackHistory) -> str:
    return f"looked {history.track.name}"


def _digest(points: Sequence[Night]) -> str:
    names = [f"{point.uid} {point.position} {point.terms_digest}" for point in points]
    return hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
