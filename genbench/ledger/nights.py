"""Rows of the ledger as records: runs as nights, and changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from genbench.ledger.records import Change, Night
from genbench.store.track_record import position_label
from genbench.suite.track import TrackKind


def night_of(
    row: Any, kind: TrackKind, path: str | None, known: dict[str, Mapping[str, str]] | None = None
) -> Night:
    """Return the night of a row of the table `run`.

    Args:
        kind: the kind of the track, which says how the position is written.
        path: a folder where the run is.
        known: texts of packages that were parsed before. Most runs of a track have the same.
    """
    known = {} if known is None else known
    if row.packages not in known:
        known[row.packages] = json.loads(row.packages)
    return Night(
        uid=row.uid,
        position=row.position,
        label=position_label(kind, row.position),
        role=row.role,
        model=row.model,
        identity=row.identity,
        created=row.created,
        state=row.state,
        failed=() if row.failed == "[]" else tuple(json.loads(row.failed)),
        terms_digest=row.terms_digest,
        circumstances_digest=row.circumstances_digest,
        packages=known[row.packages],
        path=path,
    )


def change_of(row: Any) -> Change:
    """Return the change of a row of the table `change`."""
    values = dict(row._mapping)
    low, high = values.pop("ci_low"), values.pop("ci_high")
    return Change(**{**values, "ci": (low, high), "suspects": tuple(json.loads(values["suspects"]))})
