"""Simulated functions: their documents, their results, and that conversations share nothing."""

from __future__ import annotations

import json

import pytest

from genbench.errors import ConfigError
from genbench.tools.calls import Call
from genbench.tools.simulation import FunctionFile, functions_of

SOURCE = '''
SEEN = []


class Desk:
    def __init__(self, state):
        self.tickets = state["tickets"]
        self._secret = 1

    def close(self, number: int, note: str = "", *, tags: list[str] | None = None) -> dict:
        """Close a ticket.

        Args:
            number: which ticket.
            note: what is said.
        """
        SEEN.append(number)
        if number not in self.tickets:
            raise KeyError(number)
        self.tickets.remove(number)
        return {"closed": number, "before": len(SEEN)}

    def _hidden(self):
        return "no"
'''
DESK = FunctionFile(SOURCE, "Desk")
STATE = {"tickets": [1, 2]}


def test_the_document_of_a_function_is_its_signature_and_docstring() -> None:
    (found,) = DESK.documents()
    assert (found["name"], found["description"]) == ("close", "Close a ticket.")
    assert found["parameters"]["required"] == ["number"]
    assert found["parameters"]["properties"] == {
        "number": {"type": "integer", "description": "which ticket."},
        "note": {"type": "string", "description": "what is said."},
        "tags": {"type": "array", "items": {"type": "string"}, "description": ""},
    }


def test_a_call_changes_the_state_and_its_result_is_json() -> None:
    simulation = DESK.start(STATE)
    assert json.loads(simulation.call(Call("close", {"number": 1}))) == {"closed": 1, "before": 1}
    assert simulation.state == {"tickets": [2]}
    assert STATE == {"tickets": [1, 2]}


@pytest.mark.parametrize(
    "call", [Call("close", {"number": 9}), Call("close", {"n": 1}), Call("_hidden"), Call("open")]
)
def test_a_call_that_fails_is_a_result_and_leaves_the_state(call: Call) -> None:
    simulation = DESK.start(STATE)
    assert set(json.loads(simulation.call(call))) == {"error"}
    assert simulation.state == STATE


def test_not_even_a_global_variable_of_the_file_is_shared_between_conversations() -> None:
    results = [DESK.start(STATE).call(Call("close", {"number": 1})) for _ in range(4)]
    assert {json.loads(result)["before"] for result in results} == {1}


@pytest.mark.parametrize(
    ("source", "name", "said"),
    [
        ("class A:\n    x = 1", "A", "no public method"),
        (SOURCE, "Dask", "there are: Desk"),
        ("class", "A", "no Python"),
    ],
)
def test_a_file_without_functions_is_refused(source: str, name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        FunctionFile(source, name).documents()


def test_a_class_that_cannot_be_made_is_refused_with_the_cause() -> None:
    with pytest.raises(ConfigError, match="tickets"):
        functions_of({"source": SOURCE, "class": "Desk"}).start({})
