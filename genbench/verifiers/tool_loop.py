"""Verifies conversations with simulated functions: the state they leave, and the turns without calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.tools.bfcl.world import World
from genbench.tools.calls import Call
from genbench.tools.loop import LoopRules, Played, Simulated, TurnLog, play
from genbench.tools.simulation import functions_of
from genbench.types import Case, Finding, Message, Status

Mode = Literal["strict", "official"]

_VERSION = "1"
_TIME_LIMIT_S = 60.0
_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class LoopError:
    """The first thing that is wrong with a conversation, and the turn of the user, from 1."""

    what: str
    turn: int
    reason: Status = "wrong"


class ToolLoopVerifier:
    """Tells whether a conversation did with the functions what it was asked for.

    The calls of the model and the calls of the reference run on two fresh copies of the functions. After each
    turn both must have the same state, and the results of the reference's calls must be among those of the
    model's calls so far, in any order.

    * `strict`: a turn whose reference has no calls must have none, and a call that cannot be read is a
      `format_error`.
    * `official`: turns without reference calls are not checked, as in BFCL.

    Both are parts of the verdict, and `mode` says which one is the score.
    """

    def __init__(self, mode: Mode = "strict") -> None:
        if mode not in get_args(Mode):
            raise ConfigError(f"tool_loop verifier: mode is '{mode}'{nearest(str(mode), get_args(Mode))}")
        self._mode = mode

    @property
    def version(self) -> str:
        """Return the version of the rules by which conversations are compared."""
        return f"tool_loop {_VERSION}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return _TIME_LIMIT_S

    def check(self, reference: Any) -> None:
        """Run the reference's own calls before any sample is drawn.

        Raises:
            DataError: the reference has another shape, or one of its calls fails.
        """
        if not isinstance(reference, Mapping) or not {"functions", "state", "calls"} <= reference.keys():
            raise DataError(f"tool_loop reference {str(reference)[:200]}: want {{functions, state, calls}}")
        if "services" in reference["functions"]:
            return  # some accepted calls of BFCL fail on purpose
        for turn, (results, _) in enumerate(_truth(reference), start=1):
            for call, result in zip(reference["calls"][turn - 1], results, strict=True):
                if _is_error(result):
                    raise DataError(f"tool_loop reference: turn {turn}: {call['name']} fails: {result}")

    def verify(self, case: Case) -> Finding:
        """Return the score of the conversation under `mode`, and both as parts."""
        reference = case.reference
        played = _played(reference, [answer.text for answer in case.answers])
        errors = {mode: _error(reference, played, strict=mode == "strict") for mode in get_args(Mode)}
        lead = errors[self._mode]
        detail: dict[str, Any] = {"turns": [_shown(turn.calls) for turn in played.turns]}
        if lead is not None:
            detail |= {"error": lead.what, "turn": lead.turn}
        return Finding(
            score=float(lead is None),
            reason="wrong" if lead is None else lead.reason,
            extracted=json.dumps(detail["turns"])[:_SHOWN],
            detail=detail,
            parts={mode: float(error is None) for mode, error in errors.items()},
        )

    def close(self) -> None:
        """Do nothing: the verifier has no resources."""


def _played(reference: Mapping[str, Any], replies: Sequence[str]) -> Played:
    asked = [[Message("user", text)] for text in reference["question"]]
    documents = reference["functions"].get("documents", ())
    rules = LoopRules(int(reference["steps"]), str(reference["parser"]), documents)
    return play(asked, _started(reference), replies, rules)


def _started(reference: Mapping[str, Any]) -> Simulated:
    """Return the functions of a reference in their initial state."""
    functions, state = reference["functions"], reference["state"]
    if "services" in functions:
        return World(functions["services"], state, padded=functions["padded"], release=functions["release"])
    return functions_of(functions).start(state)


def _truth(reference: Mapping[str, Any]) -> list[tuple[list[str], dict[str, Any]]]:
    """Return the results of the reference's calls and the state after them, for each turn."""
    simulation = _started(reference)
    found = []
    for calls in reference["calls"]:
        results = [simulation.call(Call(call["name"], call["arguments"])) for call in calls]
        found.append((results, simulation.state))
    return found


def _error(reference: Mapping[str, Any], played: Played, *, strict: bool) -> LoopError | None:
    """Return the first error of a conversation, or None if it is right."""
    so_far: list[str] = []
    truth = _truth(reference)
    over = zip(played.turns, played.states, truth, strict=False)
    for number, (log, reached, (wanted, state)) in enumerate(over, start=1):
        so_far += log.results
        is_last = number == len(played.turns)
        error = _form_error(log, strict, used_up=played.exceeded and is_last)
        if error is None and not wanted and strict and log.calls:
            error = "functions were called, and none should be", "wrong"
        if error is None and wanted:
            error = _work_error(log, _are_equal(reached, state), _missing(wanted, so_far))
        if error is not None:
            return LoopError(error[0], number, error[1])
    if len(played.states) < len(truth):
        return LoopError("the conversation ended early", len(played.turns))
    return None


def _form_error(log: TurnLog, strict: bool, used_up: bool) -> tuple[str, Status] | None:
    """Return what is wrong with the form of a turn, whatever its calls did."""
    if strict and log.broken is not None:
        return f"a call cannot be read: {log.broken}", "format_error"
    return ("the steps were used up", "wrong") if used_up else None


def _work_error(log: TurnLog, same_state: bool, lacks_result: bool) -> tuple[str, Status] | None:
    """Return what is wrong with the calls of a turn."""
    if not log.calls:
        return "no function was called", "no_answer"
    if not same_state:
        return "the state differs", "wrong"
    return ("a result is missing", "wrong") if lacks_result else None


def _are_equal(reached: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Tell whether two states are equal. One that contains itself, as a copied directory may, never is."""
    try:
        return reached == wanted
    except RecursionError:
        return False


def _missing(wanted: Sequence[str], found: Sequence[str]) -> bool:
    """Tell whether some results are not among those that were found. Repeated ones count."""
    left = list(found)
    for item in wanted:
        if item not in left:
            return True
        left.remove(item)
    return False


def _is_error(result: str) -> bool:
    try:
        found = json.loads(result)
    except ValueError:
        return False
    return isinstance(found, dict) and set(found) == {"error"}


def _shown(calls: Sequence[Call]) -> list[str]:
    return [json.dumps(call.record, ensure_ascii=False)[:_SHOWN] for call in calls]
