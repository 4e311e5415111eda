"""harbor: the folders of its tasks, and how its trials end. Its driver is drivers/harbor.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from genbench.agents.harnesses.harness import InstalledHarness
from genbench.agents.harnesses.outcome import Outcome, share
from genbench.errors import DataError
from genbench.types import Status

Cause = Literal["ours", "budget", "refused", "verifier"]

_REPOSITORY = re.compile(r"^(.+__.+)-\d+$")
"""An id of SWE-bench: owner__repository-number."""
_BUDGET = """
AgentTimeoutError ContextWindowExceededError OutputTokenExceededError ContextLengthExceededError
OutputLengthExceededError
"""
_REFUSED = "AgentSafetyRefusalError ContentPolicyViolationError"
_VERIFIER = "VerifierTimeoutError RewardFileNotFoundError RewardFileEmptyError VerifierOutputParseError"
CAUSES: Mapping[str, Cause] = MappingProxyType(
    {
        **dict.fromkeys(_BUDGET.split(), "budget"),
        **dict.fromkeys(_REFUSED.split(), "refused"),
        **dict.fromkeys(_VERIFIER.split(), "verifier"),
    }
)
"""Why a trial ended, by the name of its exception. All others are faults of ours.

They are those of harbor's own table (models/trial/error_policy.py of harbor 0.25).
"""


class HarborHarness(InstalledHarness):
    """harbor. A source of its problems is a folder with one task in each folder below it."""

    name = "harbor"
    variables = MappingProxyType({"HARBOR_TELEMETRY": "0"})

    def listed(self, source: Path) -> list[dict[str, Any]] | None:
        """Return the tasks of a folder."""
        if not source.is_dir():
            return None
        folders = sorted(place.parent for place in source.glob("*/task.toml"))
        if not folders:
            raise DataError(f"{source}: no task of harbor: no folder in it has a task.toml")
        return [_row(folder) for folder in folders]

    def ended(self, ending: Mapping[str, Any]) -> Outcome:
        """Return what an ending means."""
        return harbor_outcome(ending["exception_type"], ending["reward"])


def _row(folder: Path) -> dict[str, Any]:
    try:
        text = (folder / "instruction.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{folder}: its instruction.md cannot be read: {error}") from None
    found = _REPOSITORY.match(folder.name)
    group = {"group": found[1]} if found else {}
    return {"id": folder.name, "instruction": text, "path": folder.name, **group}


def harbor_outcome(exception_type: str | None, reward: float | None) -> Outcome:
    """Return the outcome of a trial of harbor.

    Args:
        exception_type: the name of the exception that ended it, or None.
        reward: the reward of its verifier, or None if there is none.
    """
    cause = None if exception_type is None else CAUSES.get(exception_type, "ours")
    if cause == "ours":
        return Outcome(None, "unavailable", {"ended_by": exception_type})
    if cause == "verifier" or reward is None:
        return Outcome(None, "verifier_error", {"ended_by": exception_type})
    status: Status | None = "truncated" if cause == "budget" and reward <= 0 else None
    return Outcome(share(reward), status, {} if cause is None else {"ended_by": exception_type})
