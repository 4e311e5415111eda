"""What the ways mean in which harnesses end a rollout, as statuses of genbench.

A fault of the sandbox, of the model's server or of the harness itself is ours: `unavailable`, and the rollout
is drawn again. A fault of the harness's verifier is `verifier_error`. A budget that the model used up is
`truncated`, unless the score is right all the same. The causes of harbor's exceptions are those of its own
table (models/trial/error_policy.py of harbor 0.25).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from genbench.harnesses.plan import Outcome
from genbench.types import Status

Cause = Literal["ours", "budget", "refused", "verifier"]

_BUDGET = """
AgentTimeoutError ContextWindowExceededError OutputTokenExceededError ContextLengthExceededError
OutputLengthExceededError
"""
_REFUSED = "AgentSafetyRefusalError ContentPolicyViolationError"
_VERIFIER = "VerifierTimeoutError RewardFileNotFoundError RewardFileEmptyError VerifierOutputParseError"
HARBOR_CAUSES: Mapping[str, Cause] = MappingProxyType(
    {
        **dict.fromkeys(_BUDGET.split(), "budget"),
        **dict.fromkeys(_REFUSED.split(), "refused"),
        **dict.fromkeys(_VERIFIER.split(), "verifier"),
    }
)
"""Why a trial of harbor ended, by the name of its exception. All others are faults of ours."""
_MINI_BUDGET = frozenset({"LimitsExceeded", "TimeExceeded", "ContextWindowExceededError"})
_MINI_OWN = frozenset({"Submitted", "RepeatedFormatError"}) | _MINI_BUDGET
_TAU2: Mapping[str, Status] = MappingProxyType(
    {
        "max_steps": "truncated",
        "timeout": "truncated",
        "context_window_exceeded": "truncated",
        "agent_error": "wrong",
        "too_many_errors": "wrong",
    }
)
_TAU2_ENDED = frozenset({"user_stop", "agent_stop"})


def harbor_outcome(exception_type: str | None, reward: float | None) -> Outcome:
    """Return the outcome of a trial of harbor.

    Args:
        exception_type: the name of the exception that ended it, or None.
        reward: the reward of its verifier, or None if there is none.
    """
    cause = None if exception_type is None else HARBOR_CAUSES.get(exception_type, "ours")
    if cause == "ours":
        return Outcome(None, "unavailable", {"ended_by": exception_type})
    if cause == "verifier" or reward is None:
        return Outcome(None, "verifier_error", {"ended_by": exception_type})
    status: Status | None = "truncated" if cause == "budget" and reward <= 0 else None
    return Outcome(_share(reward), status, {} if cause is None else {"ended_by": exception_type})


def mini_outcome(exit_status: str, resolved: bool | None) -> Outcome:
    """Return the outcome of a rollout of mini-swe-agent.

    Args:
        exit_status: as its trajectory has it: `Submitted`, or the name of an exception.
        resolved: whether the result solves the problem, or None if nothing has decided that.
    """
    if exit_status not in _MINI_OWN:
        return Outcome(None, "unavailable", {"ended_by": exit_status})
    if resolved is None:
        return Outcome(None, "unscored", {"ended_by": exit_status})
    status: Status | None = None
    if not resolved and exit_status in _MINI_BUDGET:
        status = "truncated"
    elif not resolved and exit_status == "RepeatedFormatError":
        status = "format_error"
    return Outcome(float(resolved), status, {"ended_by": exit_status})


def tau2_outcome(termination_reason: str, reward: float | None, needs: str | None = None) -> Outcome:
    """Return the outcome of a simulation of tau2, which rewards only conversations that a party ended.

    Args:
        termination_reason: as its results have it.
        reward: as its results have it. It counts only if the user or the agent ended the conversation.
        needs: what the reward needs and is not there, such as a judge, or None.
    """
    detail = {"ended_by": termination_reason}
    if termination_reason in _TAU2_ENDED:
        if needs is not None:
            return Outcome(None, "unscored", {**detail, "why": needs})
        if reward is None:
            return Outcome(None, "verifier_error", detail)
        return Outcome(_share(reward), None, detail)
    status = _TAU2.get(termination_reason, "unavailable")
    return Outcome(None if status == "unavailable" else 0.0, status, detail)


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
    return Outcome(_share(score), status, {} if limit is None else {"ended_by": limit})


def outcome_of(harness: str, ending: Mapping[str, Any]) -> Outcome:
    """Return the outcome of what the driver of a harness wrote under `ending`.

    Raises:
        ValueError: it has no such fields.
    """
    try:
        if harness == "mini_swe":
            return mini_outcome(str(ending["exit_status"]), ending["resolved"])
        if harness == "harbor":
            return harbor_outcome(ending["exception_type"], ending["reward"])
        if harness == "tau2":
            return tau2_outcome(str(ending["termination_reason"]), ending["reward"], ending.get("needs"))
        if harness == "inspect":
            return inspect_outcome(ending["error"], ending["limit"], ending["score"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"'ending' is {str(ending)[:200]!r}: {error}") from None
    raise ValueError(f"harness {harness} writes 'score', and no 'ending'")


def _share(reward: float) -> float:
    return min(1.0, max(0.0, float(reward)))
