"""A conversation with simulated functions, step by step."""

from __future__ import annotations

from genbench.tools.loop import LoopRules, play
from genbench.tools.simulation import FunctionFile
from genbench.types import Message

SOURCE = """
class Counter:
    def __init__(self, state):
        self.value = state

    def add(self, n: int):
        self.value += n
        return {"value": self.value}
"""
COUNTER = FunctionFile(SOURCE, "Counter")
ASKED = ([Message("user", "Add 2.")], [Message("user", "Now add 3.")])
ADD = "[add(n=2)]"


def test_results_follow_the_calls_until_a_reply_without_calls_ends_the_turn() -> None:
    replies: list[str] = []
    roles = []
    for reply in ("[add(n=1), add(n=1)]", "Done.", "[add(n=3)]", "Done.", "too many"):
        played = play(ASKED, COUNTER.start(0), replies, LoopRules(5))
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
    played = play(ASKED, COUNTER.start(0), [ADD] * 3, LoopRules(2))
    assert (played.is_over, played.exceeded, len(played.turns)) == (True, True, 1)
    assert played.turns[0].replies == 2


def test_a_call_that_cannot_be_read_ends_the_turn_and_is_noted() -> None:
    played = play(ASKED, COUNTER.start(0), ["[add(2)]"], LoopRules(5))
    assert played.turns[0].broken is not None
    assert played.messages[-1] == ASKED[1][0]


def test_the_same_replies_lead_to_the_same_conversation_whatever_was_played_between() -> None:
    before = play(ASKED, COUNTER.start(0), [ADD], LoopRules(5))
    play(ASKED, COUNTER.start(0), [ADD, ADD, ADD], LoopRules(5))
    assert play(ASKED, COUNTER.start(0), [ADD], LoopRules(5)) == before
