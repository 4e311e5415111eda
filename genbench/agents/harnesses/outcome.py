"""What one rollout has found."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from genbench.errors import nearest
from genbench.types import STATUSES, Status

_LONGEST_TEXT = 4_000
"""Characters of one text of a result that are kept."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one rollout has found.

    `status` is None if the score says it all. `score` is in [0, 1]. It is None if there is none: then the
    status is a defect of ours, or the model used up its budget or refused.
    """

    score: float | None
    status: Status | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the score of every harness in one place.

        Raises:
            ValueError: it is not a number from 0 to 1. A reward of 7 or NaN says nothing about the model.
        """
        if self.score is not None and not (isinstance(self.score, int | float) and 0 <= self.score <= 1):
            raise ValueError(f"'score' is {self.score!r}, wanted a number from 0 to 1, or null")

    @property
    def is_ours(self) -> bool:
        """Return whether a fault of the environment kept the model from being measured."""
        return self.status == "unavailable"

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Self:
        """Return the outcome of a record with `score`, `status` and `detail`.

        Raises:
            ValueError: it has another score or status. Says which.
        """
        score, status, detail = found.get("score"), found.get("status"), found.get("detail", {})
        if isinstance(score, bool):
            score = float(score)
        if status is not None and status not in STATUSES:
            raise ValueError(f"'status' is {status!r}{nearest(str(status), STATUSES)}")
        if score is None and status is None:
            raise ValueError("there is neither 'score' nor 'status'")
        if not isinstance(detail, dict):
            raise ValueError(f"'detail' is {str(detail)[:80]!r}, wanted an object")
        return cls(score, status, short_detail(detail))


def share(reward: float) -> float:
    """Return a reward as a score: a loss is 0. `Outcome` refuses what else is not from 0 to 1."""
    number = float(reward)
    return 0.0 if -math.inf < number < 0 else number


def short_detail(value: Any, levels: int = 20) -> Any:
    """Return what is kept of the detail of a result: the first texts, entries and levels."""
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if isinstance(value, dict | list) and not levels:
        return "…"
    if isinstance(value, dict):
        return {str(key)[:200]: short_detail(item, levels - 1) for key, item in list(value.items())[:200]}
    if isinstance(value, list):
        return [short_detail(item, levels - 1) for item in value[:200]]
    return value
