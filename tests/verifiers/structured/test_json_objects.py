"""The last complete JSON object of a text."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.verifiers.structured.json_table import last_json_object
from tests.table import each_row


@each_row(
    "text, value",
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": {"b": 2}}\n```', {"a": {"b": 2}}),
        ('{"a": 1} then {"a": 2}', {"a": 2}),
        ('{"a": 1} then {"a": ', {"a": 1}),
        ('an open { and {"a": 1}', {"a": 1}),
        ('a closed } and {"a": 1}', {"a": 1}),
        ('\\{x : {"a": 1}\\}', {"a": 1}),
        ('{"a": 1} and the set {1, 2}', {"a": 1}),
        ("{}", {}),
    ],
)
def test_the_last_object_is_found(text: str, value: Any) -> None:
    found = last_json_object(text)
    assert found is not None and found.value == value


@pytest.mark.parametrize("text", ["", "{", "}", "{a: 1}", "[1, 2]", "{'a': 1}", '{"a": 1'])
def test_other_texts_have_none(text: str) -> None:
    assert last_json_object(text) is None


def test_the_end_is_behind_the_closing_brace() -> None:
    found = last_json_object('x {"a": 1} y')
    assert found is not None and found.end == 10
