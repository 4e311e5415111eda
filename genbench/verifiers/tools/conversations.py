"""Verifies conversations with simulated functions, and with a simulated user.

What counts is the state that a conversation leaves, the turns without calls, and what the user was told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from genbench.errors import DataError
from genbench.tools.bfcl.world import World
from genbench.tools.calls import Call
from genbench.tools.loop import LoopRules, Played, Simulated, TurnLog, TurnOutcome, play
from genbench.tools.simulated_functions import FunctionRunner, IsolatedFunctions, functions_of, read_wish
from genbench.tools.user_talk import Talk, talk
from genbench.types import Case, Finding, Message, Status
from genbench.verifiers.base import BaseVerifier

Mode = Literal["strict", "official"]

_RUNS = 8
"""Runs of the functions for one sample at the most: two, and each again in a turn of its own and after a
sandbox that broke."""
_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class LoopError:
    """The first thing that is wrong with a conversation, and the turn of the user, from 1."""

    what: str
    turn: int
    reason: Status = "wrong"


class _ConversationVerifier(BaseVerifier):
    """What both verifiers of conversations have: a sandbox for the functions of a file."""

    limit_s = 120.0
    """Seconds for the services of BFCL, and for the start of a sandbox."""

    def __init__(self, wish: Mapping[str, Any]) -> None:
        self._wish = read_wish(wish, f"{self.name} verifier")
        self._runner = FunctionRunner(self._wish)

    def close(self) -> None:
        """End the sandboxes."""
        self._runner.close()


class ToolLoopVerifier(_ConversationVerifier):
    """Tells whether a conversation did with the functions what it was asked for.

    The calls of the model and the calls of the reference run on two fresh copies of the functions. After each
    turn both must have the same state, and the results of the reference's calls must be among those of the
    model's calls so far, in any order.

    * `strict`: a turn whose reference has no calls must have none, and a call that cannot be read is a
      `format_error`.
    * `official`: turns without reference calls are not checked, as in BFCL.

    Both are parts of the verdict, and `mode` says which one is the score.

    Args:
        mode: `strict` or `official`.
        runs_file: whether the functions are those of a Python file, which runs in the sandbox. The sandbox is
            then part of the version.
        wish: options of the sandbox: `tier`, `wall_s`, `memory_mib`, `unsafe_local_exec`.

    Raises:
        ConfigError: an option has another name or value.
    """

    name = "tool_loop"
    rules = "2"

    def __init__(self, mode: Mode = "strict", *, runs_file: bool = False, **wish: Any) -> None:
        self.require_known("mode", mode, Mode)
        self._mode = mode
        self._runs_file = runs_file
        super().__init__(wish)

    @property
    def version(self) -> str:
        """Return the version of the rules, and the sandbox in which the functions of a file run.

        Raises:
            UnavailableError: there is no sandbox on this machine, and the functions need one.
        """
        return f"tool_loop {self.rules}" + (f", {self._runner.facts}" if self._runs_file else "")

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return self.limit_s + _RUNS * self._wish.wall_s * ("services" not in case.reference["functions"])

    def check(self, reference: Any) -> None:
        """Run the reference's own calls before any sample is drawn.

        Raises:
            DataError: the reference has another shape, or one of its calls fails.
        """
        if not isinstance(reference, Mapping) or not {"functions", "state", "calls"} <= reference.keys():
            raise DataError(f"tool_loop reference {str(reference)[:200]}: want {{functions, state, calls}}")
        if "services" in reference["functions"]:
            return  # some accepted calls of BFCL fail on purpose
        for turn, outcome in enumerate(self._truth(reference), start=1):
            for call, result in zip(reference["calls"][turn - 1], outcome.results, strict=True):
                if _is_error(result):
                    raise DataError(f"tool_loop reference: turn {turn}: {call['name']} fails: {result}")

    def verify(self, case: Case) -> Finding:
        """Return the score of the conversation under `mode`, and both as parts."""
        reference = case.reference
        played = self._played(reference, [answer.text for answer in case.answers])
        truth = self._truth(reference)
        errors = {mode: _tool_error(truth, played, strict=mode == "strict") for mode in get_args(Mode)}
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

    def _played(self, reference: Mapping[str, Any], replies: Sequence[str]) -> Played:
        asked = [[Message("user", text)] for text in reference["question"]]
        documents = reference["functions"].get("documents", ())
        rules = LoopRules(int(reference["steps"]), str(reference["parser"]), documents)
        return play(asked, self._functions(reference), replies, rules)

    def _functions(self, reference: Mapping[str, Any]) -> Simulated:
        """Return the functions of a reference in their initial state."""
        given, state = reference["functions"], reference["state"]
        if "services" in given:
            return World(given["services"], state, padded=given["padded"], release=given["release"])
        return IsolatedFunctions(self._runner, functions_of(given), state)

    def _truth(self, reference: Mapping[str, Any]) -> tuple[TurnOutcome, ...]:
        """Return the results of the reference's calls and the state after them, for each turn.

        Raises:
            DataError: the functions cannot be run.
        """
        calls = [[Call(call["name"], call["arguments"]) for call in turn] for turn in reference["calls"]]
        ran = self._functions(reference).run(calls)
        if ran.failure is not None:
            raise DataError(f"tool_loop reference: {ran.failure.why}")
        return ran.turns


def _tool_error(truth: Sequence[TurnOutcome], played: Played, *, strict: bool) -> LoopError | None:
    """Return the first error of a conversation, or None if it is right."""
    if played.failure is not None:
        return LoopError(played.failure.why, len(played.turns), played.failure.reason)
    so_far: list[str] = []
    over = zip(played.turns, played.states, truth, strict=False)
    for number, (log, reached, outcome) in enumerate(over, start=1):
        wanted, state = outcome.results, outcome.state
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
    """Return what is wrong with the form of a turn. The effect of its calls does not count."""
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


_KEYS = ("functions", "state", "actions", "outputs", "steps", "parser")


class UserLoopVerifier(_ConversationVerifier):
    """Tells whether a conversation fulfilled the user's wish.

    The calls of the model and the actions of the reference run on two fresh copies of the functions. At the
    end both must have the same state, the user must have ended the conversation, and every output of the
    reference must be in what the model told the user (without commas, in any case).

    Args:
        wish: options of the sandbox: `tier`, `wall_s`, `memory_mib`, `unsafe_local_exec`.

    Raises:
        ConfigError: an option has another name or value.
    """

    name = "user_loop"
    rules = "1"

    def __init__(self, **wish: Any) -> None:
        super().__init__(wish)

    @property
    def version(self) -> str:
        """Return the version of the rules, and the sandbox in which the functions run.

        Raises:
            UnavailableError: there is no sandbox on this machine.
        """
        return f"user_loop {self.rules}, {self._runner.facts}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return self.limit_s + _RUNS * self._wish.wall_s

    def check(self, reference: Any) -> None:
        """Run the reference's actions before any sample is drawn.

        Raises:
            DataError: the reference has another shape, or its actions cannot be run.
        """
        if not isinstance(reference, Mapping) or not set(_KEYS) <= reference.keys():
            raise DataError(f"user_loop reference {str(reference)[:200]}: want {', '.join(_KEYS)}")
        self._wanted(reference)

    def verify(self, case: Case) -> Finding:
        """Return 1 if the wish is fulfilled. The parts are the state and the outputs."""
        reference = case.reference
        rules = LoopRules(int(reference["steps"]), str(reference["parser"]))
        held = talk(self._functions(reference), [answer.text for answer in case.answers], rules)
        detail: dict[str, Any] = {
            "said": [f"{item.speaker}: {item.text}"[:_SHOWN] for item in held.utterances]
        }
        if held.failure is not None:
            detail["error"] = held.failure.why
            return Finding(0.0, held.failure.reason, detail=detail)
        initial, wanted = self._wanted(reference)
        reached = initial if held.state is None else held.state
        missing = [text for text in reference["outputs"] if not _is_told(text, held)]
        parts = {"state": float(reached == wanted), "outputs": float(not missing)}
        error = _user_error(held, parts, missing)
        if error is not None:
            detail["error"] = error[0]
        calls = [call.record for item in held.utterances for call in item.calls]
        return Finding(
            score=float(error is None),
            reason="wrong" if error is None else error[1],
            extracted=json.dumps(calls, ensure_ascii=False)[:_SHOWN],
            detail=detail,
            parts=parts,
        )

    def _functions(self, reference: Mapping[str, Any]) -> IsolatedFunctions:
        return IsolatedFunctions(self._runner, functions_of(reference["functions"]), reference["state"])

    def _wanted(self, reference: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the state before any call, and the state after the actions of the reference.

        Raises:
            DataError: the functions cannot be run, or there is no function of an action.
        """
        names = {item["name"] for item in functions_of(reference["functions"]).documents()}
        unknown = [call["name"] for call in reference["actions"] if call["name"] not in names]
        if unknown:
            raise DataError(f"user_loop reference: action {unknown[0]}: there is no such function")
        actions = [Call(call["name"], call["arguments"]) for call in reference["actions"]]
        ran = self._functions(reference).run([[], actions])
        if ran.failure is not None:
            raise DataError(f"user_loop reference: {ran.failure.why}")
        before, after = ran.turns
        return before.state, after.state


def _is_told(text: str, held: Talk) -> bool:
    return any(text.lower() in said.lower().replace(",", "") for said in held.told)


def _user_error(held: Talk, parts: Mapping[str, float], missing: list[str]) -> tuple[str, Status] | None:
    """Return what is wrong with a conversation, or None if it is right."""
    if held.exceeded:
        return "the steps were used up", "wrong"
    if not held.has_stopped:
        return "the conversation ended early", "wrong"
    if not parts["state"]:
        return "the state differs", "wrong"
    return (f"the user was not told: {', '.join(missing)}", "wrong") if missing else None
