"""How verifiers read the answers of a task: in a form of the protocol, by a guess, or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from genbench.json_record import Count
from genbench.types import OURS, READ_BY, ReadBy, Status

Reading = ReadBy | Literal["not recorded"]
"""How an answer was read. `not recorded`: the verdict does not say it, as those of older versions do not."""
ReadCounts = dict[Reading, Count]
"""Verdicts by how the answer was read, without those that are excluded for a defect of ours."""
READINGS: tuple[Reading, ...] = (*READ_BY, "not recorded")
GUESSED: frozenset[Reading] = frozenset({"guess", "nothing"})
"""Answers that no form of the protocol gave, and that no judge of extraction read."""
_KNOWN: Mapping[str, ReadBy] = {name: name for name in READ_BY}


def reading_of(status: Status, detail: Mapping[str, Any]) -> Reading | None:
    """Return how the answer of a verdict was read, or None if it is excluded for a defect of ours."""
    return None if status in OURS else _KNOWN.get(str(detail.get("read_by")), "not recorded")


def read_counts(readings: Iterable[Reading | None]) -> ReadCounts | None:
    """Return the counts, or None if no verdict says how its answer was read."""
    counts = Counter(readings)
    if not any(counts[name] for name in READ_BY):
        return None
    return {name: counts[name] for name in READINGS if counts[name]}


def joined(counts: Iterable[ReadCounts | None]) -> ReadCounts | None:
    """Return the sums of the counts of several tasks, or None if none of them has any."""
    total: Counter[Reading] = Counter()
    for own in counts:
        total.update(own or {})
    return read_counts(total.elements())
