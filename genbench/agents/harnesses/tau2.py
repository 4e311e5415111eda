"""tau2-bench: its lists of tasks, its simulated user, and how its simulations end.

Its driver is drivers/tau2.py.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from genbench.agents.harnesses.harness import InstalledHarness
from genbench.agents.harnesses.outcome import Outcome, share
from genbench.errors import DataError
from genbench.types import Status

_USER = "user"
"""The part of the simulated user among the peers."""
_SCENARIO = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
_ENDED = frozenset({"user_stop", "agent_stop"})
_STATUSES: Mapping[str, Status] = MappingProxyType(
    {
        "max_steps": "truncated",
        "timeout": "truncated",
        "context_window_exceeded": "truncated",
        "agent_error": "wrong",
        "too_many_errors": "wrong",
    }
)


class Tau2Harness(InstalledHarness):
    """tau2-bench. A source of its problems is the tasks.json of a domain."""

    name = "tau2"

    def listed(self, source: Path) -> list[dict[str, Any]] | None:
        """Return the tasks of a .json file."""
        if source.suffix != ".json" or source.is_dir():
            return None
        try:
            found = json.loads(source.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{source}: cannot be read: {error}") from None
        if not isinstance(found, list) or not found or not all(isinstance(row, dict) for row in found):
            raise DataError(f"{source}: wanted a list of tasks, as tau2-bench has it")
        return found

    def instruction(self, row: Mapping[str, Any]) -> str | None:
        """Return the scenario of a task's user."""
        scenario = row.get("user_scenario")
        if not isinstance(scenario, dict):
            return None
        told = scenario.get("instructions")
        if isinstance(told, dict):
            told = "\n".join(str(told[key]) for key in _SCENARIO if told.get(key))
        return str(told or row.get("ticket") or "")

    def lacking(self, peers: Collection[str]) -> str | None:
        """Return that the simulated user has no server."""
        if _USER in peers:
            return None
        return f"options.peers.{_USER}: name the simulated user's server (see docs/agents.md)"

    def ended(self, ending: Mapping[str, Any]) -> Outcome:
        """Return what an ending means."""
        return tau2_outcome(str(ending["termination_reason"]), ending["reward"], ending.get("needs"))


def tau2_outcome(termination_reason: str, reward: float | None, needs: str | None = None) -> Outcome:
    """Return the outcome of a simulation of tau2, which rewards only conversations that a party ended.

    Args:
        termination_reason: as its results have it.
        reward: as its results have it. It counts only if the user or the agent ended the conversation.
        needs: what the reward needs and is not there, such as a judge, or None.
    """
    detail = {"ended_by": termination_reason}
    if termination_reason in _ENDED:
        if needs is not None:
            return Outcome(None, "unscored", {**detail, "why": needs})
        if reward is None:
            return Outcome(None, "verifier_error", detail)
        return Outcome(share(reward), None, detail)
    status = _STATUSES.get(termination_reason, "unavailable")
    return Outcome(None if status == "unavailable" else 0.0, status, detail)
