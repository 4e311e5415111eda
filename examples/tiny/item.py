"""The record that every kind of problem draws: what is asked, a good answer, what it is checked against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """One synthetic problem with one good completion.

    `key` names the problem apart from its wording: two items with one key are the same problem, so
    the split between training and held-out problems goes by it. `columns` are the reference columns
    of the held-out files; `family` is the stratum that reports split by.
    """

    kind: str
    family: str
    key: str
    question: str
    completion: str
    columns: Mapping[str, Any] = field(default_factory=dict)


def with_trace(trace: str, answer: str) -> str:
    """A completion that thinks in `trace` and then says `answer`."""
    return f"<think>\n{trace}\n</think>\n\n{answer}"
