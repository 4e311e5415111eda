"""The decoding contract: digests and differences of the terms of a run.

Terms change what is drawn. Circumstances change only rounding or speed and are no part of the contract.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Terms = Mapping[str, Any]


def digest(record: object) -> str:
    """Return the sha256 of a record's canonical JSON (sorted keys, no blanks) in hexadecimal."""
    text = json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def differences(left: Any, right: Any, prefix: str = "") -> list[str]:
    """Return one line for each value that differs, such as `decoding.temperature: 0.6 -> 0.7`.

    Args:
        prefix: the dotted key of the two records in the whole record.
    """
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        lines: list[str] = []
        for key in sorted(set(left) | set(right)):
            name = f"{prefix}.{key}" if prefix else str(key)
            lines += differences(left.get(key, "(absent)"), right.get(key, "(absent)"), name)
        return lines
    return [] if left == right else [f"{prefix}: {show(left)} -> {show(right)}"]


def show(value: Any) -> str:
    """Return a value as JSON of at most 120 characters."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= 120 else text[:117] + "..."
