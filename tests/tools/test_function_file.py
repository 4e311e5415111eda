"""Files of simulated functions: what a model is told of them, without that they are run."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError
from genbench.tools.simulated_functions import FunctionFile, functions_of

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


def test_the_document_of_a_function_is_its_signature_and_docstring() -> None:
    (found,) = DESK.documents()
    assert (found["name"], found["description"]) == ("close", "Close a ticket.")
    assert found["parameters"]["required"] == ["number"]
    assert found["parameters"]["properties"] == {
        "number": {"type": "integer", "description": "which ticket."},
        "note": {"type": "string", "description": "what is said."},
        "tags": {"type": "array", "items": {"type": "string"}, "description": ""},
    }


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


def test_the_file_of_a_reference_is_the_one_that_was_stored() -> None:
    assert functions_of({"source": SOURCE, "class": "Desk"}) == DESK


def test_a_file_is_not_run_when_its_documents_are_read() -> None:
    assert FunctionFile("raise SystemExit\n" + SOURCE, "Desk").documents() == DESK.documents()
