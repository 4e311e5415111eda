"""One digest for the rows of a dataset, the same for every file format."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def rows_digest(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return the SHA-256 (hex) of `columns` of all rows in their order, as canonical JSON lines.

    Parquet fills the absent keys of a struct with null and knows dates; JSON has neither. So null
    keys of nested objects count as absent, NaN as null, and dates as their ISO text.
    """
    found = hashlib.sha256()
    for row in rows:
        values = [_canonical(row[column]) for column in columns]
        found.update(json.dumps(values, sort_keys=True, separators=(",", ":")).encode() + b"\n")
    return found.hexdigest()


def _canonical(value: Any) -> Any:
    if value is None or isinstance(value, str | int):  # most cells: grids have a million of them
        return value
    if isinstance(value, Mapping):
        return {str(key): _canonical(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    if isinstance(value, datetime.date | datetime.time | bytes):
        return value.hex() if isinstance(value, bytes) else value.isoformat()
    if isinstance(value, float):
        return None if math.isnan(value) else value
    return str(value)
