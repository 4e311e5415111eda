"""Verifies conversations with a simulated user: the state that they leave, and what the user was told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from genbench.errors import DataError
from genbench.tools.calls import Call
from genbench.tools.isolated import FunctionRunner, IsolatedFunctions, read_wish
from genbench.tools.loop import LoopRules
from genbench.tools.simulation import functions_of
from genbench.tools.user_talk import Talk, talk
from genbench.types import Case, Finding, Status

_VERSION = "1"
_TIME_LIMIT_S, _RUNS = 120.0, 8
_SHOWN = 2_000
_KEYS = ("functions", "state", "actions", "outputs", "steps", "parser")


class UserLoopVerifier:
    """Tells whether a conversation fulfilled the user's wish.

    The calls of the model and the actions of the reference run on two fresh copies of the functions. At the
    end both must have the same state, the user must have ended the conversation, and every output of the
    reference must be in what the model told the user (without commas, in any case).

    Args:
        wish: options of the sandbox: `tier`, `wall_s`, `memory_mib`, `unsafe_local_exec`.

    Raises:
        ConfigError: an option has another name or value.
    """

    def __init__(self, **wish: Any) -> None:
        self._wish = read_wish(wish, "user_loop verifier")
        self._runner = FunctionRunner(self._wish)

    @property
    def version(self) -> str:
        """Return the version of the rules, and the sandbox in which the functions run.

        Raises:
            UnavailableError: there is no sandbox on this machine.
        """
        return f"user_loop {_VERSION}, {self._runner.facts}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return _TIME_LIMIT_S + _RUNS * self._wish.wall_s

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
        error = _error(held, parts, missing)
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

    def close(self) -> None:
        """End the sandboxes."""
        self._runner.close()

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


def _error(held: Talk, parts: Mapping[str, float], missing: list[str]) -> tuple[str, Status] | None:
    """Return what is wrong with a conversation, or None if it is right."""
    if held.exceeded:
        return "the steps were used up", "wrong"
    if not held.has_stopped:
        return "the conversation ended early", "wrong"
    if not parts["state"]:
        return "the state differs", "wrong"
    return (f"the user was not told: {', '.join(missing)}", "wrong") if missing else None
