"""mini-swe-agent: how its rollouts end. Its driver is drivers/mini_swe.py."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from genbench.agents.harnesses.harness import InstalledHarness
from genbench.agents.harnesses.outcome import Outcome
from genbench.types import Status

_BUDGET = frozenset({"LimitsExceeded", "TimeExceeded", "ContextWindowExceededError"})
_OWN = frozenset({"Submitted", "RepeatedFormatError"}) | _BUDGET


class MiniSweHarness(InstalledHarness):
    """mini-swe-agent. What decides is the check of a problem."""

    name = "mini_swe"
    variables = MappingProxyType({"MSWEA_SILENT_STARTUP": "1", "MSWEA_COST_TRACKING": "ignore_errors"})

    def ended(self, ending: Mapping[str, Any]) -> Outcome:
        """Return what an ending means."""
        return mini_outcome(str(ending["exit_status"]), ending["resolved"])


def mini_outcome(exit_status: str, resolved: bool | None) -> Outcome:
    """Return the outcome of a rollout of mini-swe-agent.

    Args:
        exit_status: as its trajectory has it: `Submitted`, or the name of an exception.
        resolved: whether the result solves the problem, or None if nothing has decided that.
    """
    if exit_status not in _OWN:
        return Outcome(None, "unavailable", {"ended_by": exit_status})
    if resolved is None:
        return Outcome(None, "unscored", {"ended_by": exit_status})
    status: Status | None = None
    if not resolved and exit_status in _BUDGET:
        status = "truncated"
    elif not resolved and exit_status == "RepeatedFormatError":
        status = "format_error"
    return Outcome(float(resolved), status, {"ended_by": exit_status})
