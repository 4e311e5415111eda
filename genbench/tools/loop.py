"""A conversation with simulated functions: the model calls, gets results, and calls again until it is done.

Nothing of a conversation is kept. What is asked next, and what state the functions are in, follows from the
replies so far. So a run that was killed goes on with the state that it had, and samples share nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from genbench.tools.calls import Call
from genbench.tools.families import AUTO, Documents, parse
from genbench.types import Message


class Simulated(Protocol):
    """Simulated functions with their state."""

    def call(self, call: Call) -> str:
        """Run a call and return what the model is told. An error is a result too."""
        ...

    @property
    def state(self) -> dict[str, Any]:
        """Return a copy of the state."""
        ...


@dataclass(frozen=True, slots=True)
class LoopRules:
    """How a conversation goes.

    Args:
        steps: replies of the model for each turn of the user. More end the conversation.
        parser: the family of the calls, or `auto`.
        documents: the functions, for families that write every argument as text.
    """

    steps: int
    parser: str = AUTO
    documents: Documents = ()


@dataclass(slots=True)
class TurnLog:
    """What happened in one turn of the user."""

    calls: list[Call] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    broken: str | None = None
    """Why a reply had a call that could not be read. It ended the turn."""
    replies: int = 0


@dataclass(frozen=True, slots=True)
class Played:
    """A conversation after some replies.

    `states` has the state after each turn that is over. `is_over` tells whether nothing more is asked.
    """

    messages: tuple[Message, ...]
    turns: tuple[TurnLog, ...]
    states: tuple[dict[str, object], ...]
    is_over: bool
    exceeded: bool
    """The model still called functions after the last step of a turn."""


def play(
    asked: Sequence[Sequence[Message]], simulation: Simulated, replies: Sequence[str], rules: LoopRules
) -> Played:
    """Return the conversation that some replies lead to.

    Args:
        asked: the messages of each turn of the user.
        simulation: fresh functions in their initial state.
        replies: the replies of the model so far, without traces.
    """
    messages: list[Message] = [*asked[0]]
    turns, states = [TurnLog()], list[dict[str, object]]()
    for reply in replies:
        if len(states) == len(asked):
            break
        log = turns[-1]
        log.replies += 1
        messages.append(Message("assistant", reply))
        parsed = parse(reply, rules.parser, rules.documents)
        log.broken = parsed.broken
        if parsed.calls:
            found = [simulation.call(call) for call in parsed.calls]
            log.calls += parsed.calls
            log.results += found
            results = zip(parsed.calls, found, strict=True)
            messages += [Message("tool", text, call.name) for call, text in results]
            if log.replies >= rules.steps:
                return Played(tuple(messages), tuple(turns), (*states, simulation.state), True, True)
            continue
        states.append(simulation.state)
        if len(states) < len(asked):
            messages += asked[len(states)]
            turns.append(TurnLog())
    return Played(tuple(messages), tuple(turns), tuple(states), len(states) == len(asked), False)
