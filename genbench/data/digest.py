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
    if isinstance(value, Mapping):
        return {str(key): _canonical(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, str | int | float) else str(value)
