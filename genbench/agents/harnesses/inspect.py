"""Inspect: how its samples end. Its driver is drivers/inspect.py."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from genbench.agents.harnesses.harness import InstalledHarness
from genbench.agents.harnesses.outcome import Outcome, share
from genbench.types import Status


class InspectHarness(InstalledHarness):
    """Inspect. What decides is the scorer of its task."""

    name = "inspect"
    variables = MappingProxyType({"INSPECT_TELEMETRY": ""})

    def ended(self, ending: Mapping[str, Any]) -> Outcome:
        """Return what an ending means."""
        return inspect_outcome(ending["error"], ending["limit"], ending["score"])


def inspect_outcome(error: str | None, limit: str | None, score: float | None) -> Outcome:
    """Return the outcome of a sample of Inspect.

    Args:
        error: what ended the sample, such as a sandbox or a server that failed, or None.
        limit: the limit that ended it (message, token, time, context …), or None.
        score: the value of its scorer, or None if it has none.
    """
    if error is not None:
        return Outcome(None, "unavailable", {"ended_by": "error"})
    if score is None:
        return Outcome(None, "verifier_error", {"ended_by": limit})
    status: Status | None = "truncated" if limit is not None and score <= 0 else None
    return Outcome(share(score), status, {} if limit is None else {"ended_by": limit})
