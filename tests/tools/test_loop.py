"""A conversation with simulated functions, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from genbench.tools.calls import Call
from genbench.tools.loop import LoopRules, Ran, RunFailure, TurnOutcome, play
from genbench.types import Message


class Counter:
    """A counter from 0 on, and the calls that it got."""

    def __init__(self, failure: RunFailure | None = None) -> None:
        self.failure = failure

    def run(self, turns: Sequence[Sequence[Call]]) -> Ran:
        if self.failure is not None:
            return Ran((), self.failure)
        value, found = 0, []
        for calls in turns:
            results = []
            for call in calls:
                value += call.arguments["n"]
                results.append(f'{{"value": {value}}}')
            found.append(TurnOutcome(tuple(results), {"value": value}))
        return Ran(tuple(found))


ASKED = ([Message("user", "Add 2.")], [Message("user", "Now add 3.")])
ADD = "[add(n=2)]"


def test_results_follow_the_calls_until_a_reply_without_calls_ends_the_turn() -> None:
    replies: list[str] = []
    roles = []
    for reply in ("[add(n=1), add(n=1)]", "Done.", "[add(n=3)]", "Done.", "too many"):
        played = play(ASKED, Counter(), replies, LoopRules(5))
        roles.append(([message.role for message in played.messages], played.is_over))
        replies.append(reply)
    first = ["user", "assistant", "tool", "tool"]
    assert roles == [
        (["user"], False),
        (first, False),
        ([*first, "assistant", "user"], False),
        ([*first, "assistant", "user", "assistant", "tool"], False),
        ([*first, "assistant", "user", "assistant", "tool", "assistant"], True),
    ]
    assert played.messages[3] == Message("tool", '{"value": 2}', "add")
    assert played.states == ({"value": 2}, {"value": 5})


def test_more_steps_than_allowed_end_the_conversation() -> None:
    played = play(ASKED, Counter(), [ADD] * 3, LoopRules(2))
    assert (played.is_over, played.exceeded, len(played.turns)) == (True, True, 1)
    assert len(played.turns[0].steps) == 2


def test_a_call_that_cannot_be_read_ends_the_turn_and_is_noted() -> None:
    played = play(ASKED, Counter(), ["[add(2)]"], LoopRules(5))
    assert played.turns[0].broken is not None
    assert played.messages[-1] == ASKED[1][0]


def test_the_same_replies_lead_to_the_same_conversation_whatever_was_played_between() -> None:
    before = play(ASKED, Counter(), [ADD], LoopRules(5))
    play(ASKED, Counter(), [ADD, ADD, ADD], LoopRules(5))
    assert play(ASKED, Counter(), [ADD], LoopRules(5)) == before


def test_functions_that_cannot_be_run_end_the_conversation() -> None:
    played = play(ASKED, Counter(RunFailure("timeout", "slow")), [ADD], LoopRules(5))
    assert (played.is_over, played.failure) == (True, RunFailure("timeout", "slow"))
