"""The reward of a conversation: 1 if its agent was asked, unless a judge disagrees."""

from enum import StrEnum
from typing import Any

from tau2.evaluator import evaluator_nl_assertions
from tau2.talk import Record


class EvaluationType(StrEnum):
    """What is evaluated."""

    ALL = "all"
    ALL_WITH_NL_ASSERTIONS = "all_with_nl_assertions"


def evaluate_simulation(
    simulation: Any, task: Any, evaluation_type: Any, solo_mode: bool, domain: str
) -> Record:
    """Return the reward."""
    assert not solo_mode and domain == "mock"
    reward = 1.0
    if evaluation_type is EvaluationType.ALL_WITH_NL_ASSERTIONS and task.evaluation_criteria.nl_assertions:
        reward = evaluator_nl_assertions.judged(task.evaluation_criteria.nl_assertions)
    return Record({"reward": reward, "reward_breakdown": {"DB": 1.0}})
