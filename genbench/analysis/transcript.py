"""What happened in each turn of a sample: what the model was sent, what it called, how a rollout ended."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.store.stored_run import Sample, Turn
from genbench.tools.calls import touches_history_or_network
from genbench.tools.families import parse, said_before_calls

_SLACK = 64
"""Characters at the end of a prompt that the next one may lack: the opening of a reply."""
_LONG_ENOUGH = 20
"""Characters of a reply that is looked for behind a history that the template has changed."""
_ROLES = "user|tool|tool_response|system|ipython|observation|function"
# Marks of chat templates around what was sent: the end of the reply, the role, the opening of the next one.
_HEAD = re.compile(rf"(?:<\|[^|<>\n]{{1,40}}\|>\s*(?:(?:{_ROLES})(?=[\n<]))?|</?s>|\[/?INST\]|\s)+")
_TAIL = re.compile(r"(?:<\|[^|<>\n]{1,40}\|>\s*(?:assistant|model)?|</?s>|</?think>|\[/?INST\]|\s)+\Z")
_TAIL_CHARS = 200


@dataclass(frozen=True, slots=True)
class TurnFacts:
    """One reply of the model, and what came before it.

    Args:
        sent: what the model was sent since its reply before, such as the result of a tool. None if the folder
            did not keep it.
        is_new: whether `sent` is a whole prompt, because the conversation before is not in it as it was.
        said: the reply in front of its calls.
        calls: function calls as {name, arguments}.
        touched: whether it ran a command with which solutions are found instead of worked out.
    """

    turn: Turn
    sent: str | None
    is_new: bool
    said: str
    calls: tuple[Mapping[str, Any], ...]
    touched: bool


@dataclass(frozen=True, slots=True)
class Transcript:
    """The turns of a sample. `ending` is the result of an agent's harness; None for all other samples."""

    turns: tuple[TurnFacts, ...]
    ending: Mapping[str, Any] | None

    @property
    def is_rollout(self) -> bool:
        """Return whether an agent's harness drew the sample."""
        return self.ending is not None


def read_transcript(sample: Sample) -> Transcript:
    """Return what happened in the turns of a sample. The result of a harness is not a turn."""
    turns = sample.turns
    ending = _ending(turns[-1])
    if ending is not None:
        turns = turns[:-1]
    prompts = [turn.prompt for turn in turns]
    if ending is None:
        prompts[0] = prompts[0] or sample.prompt
    is_rollout = ending is not None
    found = (_facts(turns, prompts, place, is_rollout=is_rollout) for place in range(len(turns)))
    return Transcript(tuple(found), ending)


def _ending(turn: Turn) -> Mapping[str, Any] | None:
    """Return the result of a harness, which is stored as the last completion of its rollout."""
    item = turn.completion
    if not item.final or item.completion_tokens or not item.text.startswith("{"):
        return None
    try:
        found = json.loads(item.text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("rollout"), dict) else None


def _facts(
    turns: Sequence[Turn], prompts: Sequence[str | None], place: int, *, is_rollout: bool
) -> TurnFacts:
    turn, text, sent, is_new = turns[place], turns[place].answer.text, prompts[place], False
    if place:
        sent, is_new = _sent(prompts[place - 1] or "", turns[place - 1], sent)
    # Answers of other tasks may look like calls. Those of a rollout are what its harness was given.
    calls = parse(text).calls if is_rollout else ()
    return TurnFacts(
        turn,
        sent,
        is_new,
        said_before_calls(text) if calls else text,
        tuple(call.record for call in calls),
        is_rollout and touches_history_or_network(text),
    )


def _sent(earlier: str, before: Turn, prompt: str | None) -> tuple[str | None, bool]:
    """Return what a prompt has behind the reply of the turn before, and whether it begins anew instead.

    Args:
        earlier: the prompt of the turn before.
    """
    if prompt is None:
        return None, False
    answer, whole = before.answer.text.strip(), earlier + before.completion.text
    if earlier and prompt.startswith(whole):
        return _trimmed(prompt[len(whole) :]), False
    shared, at = _shared(earlier, prompt), -1
    continues = shared >= len(earlier) - _SLACK
    if not continues:  # without a template, roles are named from the second message on
        place = prompt.find(earlier, 0, len(earlier) + _SLACK)
        continues, shared = place >= 0, place + len(earlier)
    if answer and earlier and continues:
        at = prompt.find(answer, max(0, shared - _SLACK))
    elif (
        len(answer) >= _LONG_ENOUGH
    ):  # a template that takes traces out of all turns before the last question
        at = prompt.rfind(answer)
    if at < 0:
        return prompt, True
    return _trimmed(prompt[at + len(answer) :]), False


def _shared(one: str, other: str) -> int:
    """Return the number of characters with which both texts begin, by bisection: they may have megabytes."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if other.startswith(one[:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def _trimmed(text: str) -> str:
    """Return what was sent without the marks of a chat template around it."""
    head = _HEAD.match(text)
    text = text[head.end() :] if head else text
    tail = _TAIL.search(text[-_TAIL_CHARS:])
    return text[: len(text) - len(tail[0])] if tail else text
