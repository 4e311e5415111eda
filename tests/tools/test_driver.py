"""The program that runs simulated functions, called as it is inside the sandbox."""

from __future__ import annotations

import json
from typing import Any

import pytest

from genbench.tools.driver import LONGEST_RESULT, play

SOURCE = """
class Desk:
    def __init__(self, state):
        self.tickets = state["tickets"]
        self._secret = 1

    def close(self, number: int):
        if number not in self.tickets:
            raise KeyError(number)
        self.tickets.remove(number)
        return {"closed": number}

    def say(self, text: str):
        return text

    def odd(self, what: str):
        return {"set": {1}, "number": 1.5, "nothing": None}[what]

    def leave(self):
        raise SystemExit(3)

    def spoil(self):
        self.tickets = {1}

    def _hidden(self):
        return "no"
"""


def played(*turns: list[tuple[str, dict[str, Any]]], state: Any = None, name: str = "Desk") -> Any:
    order = {
        "source": SOURCE,
        "path": "desk.py",
        "class": name,
        "state": {"tickets": [1, 2]} if state is None else state,
        "names": ["close", "say", "odd", "leave", "spoil"],
        "turns": [[{"name": name, "arguments": given} for name, given in turn] for turn in turns],
    }
    return json.loads(play(order))


def test_results_and_states_are_those_of_each_turn() -> None:
    found = played([("close", {"number": 1})], [], [("close", {"number": 2}), ("say", {"text": "x"})])
    assert found["results"] == [['{"closed": 1}'], [], ['{"closed": 2}', "x"]]
    assert found["states"] == [{"tickets": [2]}, {"tickets": [2]}, {"tickets": []}]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (("close", {"number": 9}), "KeyError: 9"),
        (("close", {"n": 1}), "unexpected keyword argument"),
        (("_hidden", {}), "there is no function"),
        (("open", {}), "there is no function"),
        (("odd", {"what": "set"}), "not JSON serializable"),
        (("leave", {}), "SystemExit: 3"),
    ],
)
def test_a_call_that_fails_is_a_result_and_leaves_the_state(
    call: tuple[str, dict[str, Any]], error: str
) -> None:
    found = played([call])
    ((result,),) = found["results"]
    assert error in json.loads(result)["error"]
    assert found["states"] == [{"tickets": [1, 2]}]


def test_a_result_is_json_unless_it_is_a_text_and_is_cut() -> None:
    found = played(
        [("odd", {"what": "number"}), ("odd", {"what": "nothing"}), ("say", {"text": "x" * 30_000})]
    )
    assert found["results"][0] == ["1.5", "null", "x" * LONGEST_RESULT]


def test_a_class_that_cannot_be_made_is_told_with_its_line() -> None:
    assert played([], state={"a": 1})["failed"] == "Desk(state) failed: KeyError: 'tickets' (line 4)"
    assert "no attribute" in played([], name="Dask")["failed"]


def test_a_state_that_is_no_json_is_told_with_its_turn() -> None:
    assert played([], [("spoil", {})])["failed"].startswith(
        "after turn 2 the public attributes of Desk are no"
    )
