"""The closing of a change by a person."""

from __future__ import annotations

from typing import Literal

from genbench.errors import InputError, nearest
from genbench.ledger.changes import settle_change
from genbench.ledger.database import Ledger
from genbench.ledger.history import track_history


def settle(
    ledger: Ledger, track: str, change: str, state: Literal["explained", "dismissed"], *, by: str, note: str
) -> None:
    """Close a change of a track as of its newest run.

    Raises:
        InputError: there is no such track or change, or the change is closed already.
    """
    history = track_history(ledger, track, tasks=(), last=1)
    known = {item.id: item for item in history.changes}
    if change not in known:
        raise InputError(f"track {track}: no change '{change}'{nearest(change, known)}")
    found = known[change]
    if found.state != "open":
        raise InputError(
            f"track {track}: change {change} is {found.state} already; only open ones are closed"
        )
    newest = history.points[-1].uid if history.points else None
    settle_change(ledger, change, state, by=by, note=note, closed_uid=newest)
