"""Differences of circumstances between two sides: what changes only rounding or speed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from genbench.analysis.comparable import Difference
from genbench.analysis.sides import Side
from genbench.store import contract

_NOT_CIRCUMSTANCES = (
    "host",
    "base_urls",
    "root",
    "locks_are_advisory",
    "VLLM_LOGGING_",
    "VLLM_NO_USAGE_STATS",
)
"""Prefixes of keys that are recorded with every attempt but cannot change a token."""


def circumstance_differences(base: Side, tuned: Side) -> list[Difference]:
    """Return differences that change only rounding or speed: engine sizes, packages, machine.

    Every attempt that drew samples counts. A key that differs between the attempts of one run is named too,
    even if both runs have the same mixture.
    """
    left, right = _circumstances(base), _circumstances(tuned)
    if left is None or right is None:
        return []
    found: list[Difference] = []
    for key in sorted({*left, *right}):
        ours, theirs = (values.get(key, ["(absent)"]) for values in (left, right))
        if ours != theirs or len(ours) > 1:
            found.append(Difference(f"circumstances.{key}", f"{_show(ours)} -> {_show(theirs)}"))
    return found


def _circumstances(side: Side) -> dict[str, list[Any]] | None:
    """Return the distinct values of each dotted key over the attempts that drew, None for a score file."""
    attempts = side.manifest.attempts if side.manifest else []
    drawing = [attempt for attempt in attempts if attempt.drawn or not attempt.has_ended] or attempts[-1:]
    if not drawing:
        return None
    found: dict[str, list[Any]] = {}
    records = [dict(_flat(attempt.circumstances)) for attempt in drawing]
    for key in {key for record in records for key in record}:
        values = [record.get(key, "(absent)") for record in records]
        found[key] = [value for at, value in enumerate(values) if value not in values[:at]]
    return found


def _flat(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (dotted key, value), without the keys that cannot change a token at any level."""
    for key, value in record.items():
        if key.startswith(_NOT_CIRCUMSTANCES):
            continue
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _show(values: list[Any]) -> str:
    """Return one value, or all values that the attempts had."""
    return " and ".join(contract.show(value) for value in values)
