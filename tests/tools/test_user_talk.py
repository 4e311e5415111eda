"""A conversation of a user, a model and functions: whose turn it is, and what each of them sees."""

from __future__ import annotations

from collections.abc import Sequence

from genbench.tools.calls import Call
from genbench.tools.loop import LoopRules, Ran, RunFailure, TurnOutcome
from genbench.tools.user_talk import GREETING, STOP, talk
from genbench.types import Message

RULES = LoopRules(steps=4)
REPLIES = ["Add 2.", "[add(n=2)]", "It is 2.", f"Thanks. {STOP}"]


class Adder:
    """A sum from 0 on."""

    def __init__(self, failure: RunFailure | None = None) -> None:
        self.failure = failure

    def run(self, turns: Sequence[Sequence[Call]]) -> Ran:
        if self.failure is not None:
            return Ran((), self.failure)
        (calls,) = turns
        total = sum(call.arguments["n"] for call in calls)
        return Ran((TurnOutcome(tuple(str(call.arguments["n"]) for call in calls), {"total": total}),))


def test_the_user_speaks_first_and_after_each_reply_without_calls() -> None:
    speakers = [talk(Adder(), REPLIES[:count], RULES).speaker for count in range(4)]
    assert speakers == ["user", "model", "model", "user"]
    over = talk(Adder(), REPLIES, RULES)
    assert (over.is_over, over.has_stopped, over.state, over.told) == (
        True,
        True,
        {"total": 2},
        ("It is 2.",),
    )


def test_the_model_sees_results_and_the_user_does_not() -> None:
    held = talk(Adder(), REPLIES[:3], RULES)
    assert held.for_model("Be brief.") == (
        Message("system", "Be brief."),
        Message("user", "Add 2."),
        Message("assistant", "[add(n=2)]"),
        Message("tool", "2", "add"),
        Message("assistant", "It is 2."),
    )
    system, *others = held.for_user("You want a sum.")
    assert "You want a sum." in system.content and STOP in system.content
    assert others == [Message("user", GREETING), Message("assistant", "Add 2."), Message("user", "It is 2.")]


def test_the_steps_of_the_model_are_counted_over_the_whole_conversation() -> None:
    held = talk(Adder(), ["Add.", *["[add(n=1)]"] * 4], RULES)
    assert (held.exceeded, held.is_over, held.has_stopped) == (True, True, False)


def test_functions_that_cannot_be_run_end_the_conversation() -> None:
    held = talk(Adder(RunFailure("timeout", "slow")), REPLIES[:2], RULES)
    assert (held.is_over, held.failure) == (True, RunFailure("timeout", "slow"))
