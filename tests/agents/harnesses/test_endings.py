"""What the endings of harnesses mean."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from genbench.agents.harnesses.harbor import harbor_outcome
from genbench.agents.harnesses.harness import harness_named
from genbench.agents.harnesses.inspect import inspect_outcome
from genbench.agents.harnesses.mini_swe import mini_outcome
from genbench.agents.harnesses.outcome import Outcome
from genbench.agents.harnesses.tau2 import tau2_outcome
from genbench.runs.execution.scoring import verdict_of
from genbench.types import OURS, Answer, Case, SampleId, Verdict
from genbench.verifiers.tools.rollouts import RolloutVerifier

SAMPLE = SampleId("t", "p", 0)


def verdict(outcome: Outcome, *, was_cut_off: bool = False) -> Verdict:
    """The verdict of a rollout, as a run makes it."""
    record: dict[str, Any] = {"score": outcome.score, "status": outcome.status, "detail": {}, "rollout": {}}
    answer = Answer(json.dumps(record), "absent", "", was_cut_off)
    finding = RolloutVerifier().verify(Case(SAMPLE, (answer,), {"harness": "x"}))
    return verdict_of(SAMPLE, (answer,), finding, "v")


@pytest.mark.gold
def test_every_ending_of_the_gold_has_its_status(gold: Callable[[str], list[dict[str, Any]]]) -> None:
    wrong = []
    for row in gold("agents_status"):
        if row["harness"] == "harbor":
            found = harbor_outcome(row["exception_type"], row["reward"])
        elif row["harness"] == "mini_swe":
            found = mini_outcome(row["exit_status"], row["resolved"])
        else:
            found = tau2_outcome(row["termination_reason"], row["reward"])
        made = verdict(found)
        if (made.status, made.status not in OURS) != (row["expected_status"], row["counts"]):
            wrong.append((row, made.status))
    assert wrong == []


@pytest.mark.parametrize(
    ("outcome", "status", "score"),
    [
        (harbor_outcome(None, 1.0), "correct", 1.0),
        (harbor_outcome(None, 0.5), "partial", 0.5),
        (harbor_outcome(None, 0.0), "wrong", 0.0),
        (harbor_outcome(None, None), "verifier_error", None),
        (harbor_outcome("AgentTimeoutError", 0.0), "truncated", 0.0),
        (harbor_outcome("AgentTimeoutError", 1.0), "correct", 1.0),
        (harbor_outcome("AgentTimeoutError", None), "verifier_error", None),
        (harbor_outcome("AgentSafetyRefusalError", 0.0), "wrong", 0.0),
        (harbor_outcome("RewardFileNotFoundError", None), "verifier_error", None),
        (harbor_outcome("RateLimitError", 0.0), "unavailable", None),
        (harbor_outcome("NobodyKnowsThisError", 1.0), "unavailable", None),
        (mini_outcome("Submitted", True), "correct", 1.0),
        (mini_outcome("Submitted", False), "wrong", 0.0),
        (mini_outcome("Submitted", None), "unscored", None),
        (mini_outcome("LimitsExceeded", False), "truncated", 0.0),
        (mini_outcome("RepeatedFormatError", False), "format_error", 0.0),
        (mini_outcome("RepeatedFormatError", True), "correct", 1.0),
        (mini_outcome("APIConnectionError", True), "unavailable", None),
        (inspect_outcome(None, None, 0.5), "partial", 0.5),
        (inspect_outcome(None, "message", 0.0), "truncated", 0.0),
        (inspect_outcome(None, "message", 1.0), "correct", 1.0),
        (inspect_outcome(None, None, None), "verifier_error", None),
        (inspect_outcome("docker is gone", None, 1.0), "unavailable", None),
        (tau2_outcome("user_stop", 1.0), "correct", 1.0),
        (tau2_outcome("max_steps", 1.0), "truncated", 0.0),
        (tau2_outcome("agent_error", 0.0), "wrong", 0.0),
        (tau2_outcome("user_error", 0.0), "unavailable", None),
        (tau2_outcome("infrastructure_error", 1.0), "unavailable", None),
    ],
)
def test_a_fault_of_ours_is_never_a_zero(outcome: Outcome, status: str, score: float | None) -> None:
    made = verdict(outcome)
    assert (made.status, made.score) == (status, score)


def test_a_limit_that_ended_a_rollout_is_no_wrong_answer() -> None:
    assert verdict(Outcome(0.0), was_cut_off=True).status == "truncated"
    assert verdict(Outcome(1.0), was_cut_off=True).status == "correct"


def outcome_of(harness: str, ending: dict[str, Any]) -> Outcome:
    """What a result.json means that the driver of a harness wrote."""
    return harness_named(harness).outcome({"ending": ending})


def test_drivers_write_endings() -> None:
    assert outcome_of("harbor", {"exception_type": None, "reward": 1.0}).score == 1.0
    assert outcome_of("mini_swe", {"exit_status": "Submitted", "resolved": True}).score == 1.0
    assert outcome_of("inspect", {"error": None, "limit": None, "score": 1.0}).score == 1.0
    with pytest.raises(ValueError, match="'ending' is"):
        outcome_of("harbor", {"reward": 1.0})
    with pytest.raises(ValueError, match="there is no 'ending'"):
        harness_named("harbor").outcome({"score": 1.0})


@pytest.mark.parametrize("reward", [7, 1.5, math.nan, math.inf, -math.inf, "x"])
def test_a_reward_that_is_no_share_says_nothing_whatever_the_harness_is(reward: object) -> None:
    for harness, ending in (
        ("harbor", {"exception_type": None, "reward": reward}),
        ("tau2", {"termination_reason": "user_stop", "reward": reward}),
        ("inspect", {"error": None, "limit": None, "score": reward}),
        ("mini_swe", {"exit_status": "Submitted", "resolved": reward}),
    ):
        with pytest.raises(ValueError, match=r"'score' is|could not convert"):
            outcome_of(harness, ending)


def test_a_negative_reward_is_a_zero() -> None:
    assert outcome_of("harbor", {"exception_type": None, "reward": -0.5}).score == 0.0


def written(text: str) -> Outcome:
    """What a result.json means that a team's own program wrote."""
    return harness_named("command").outcome(json.loads(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "neither 'score' nor 'status'"),
        ('{"score": 2}', "'score' is 2"),
        ('{"score": NaN}', "'score' is nan"),
        ('{"score": "1"}', "'score' is '1'"),
        ('{"status": "unavailble"}', "'status' is 'unavailble'"),
        ('{"score": 1, "detail": 3}', "'detail' is"),
    ],
)
def test_a_result_that_says_nothing_clear_is_refused(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        written(text)


def test_results_of_a_command() -> None:
    assert written('{"score": true}') == Outcome(1.0)
    assert written('{"score": 0.5, "detail": {"a": 1}}') == Outcome(0.5, None, {"a": 1})
    assert written('{"score": null, "status": "unavailable"}').is_ours
    assert len(written(json.dumps({"score": 0, "detail": {"log": "x" * 9000}})).detail["log"]) == 4000
